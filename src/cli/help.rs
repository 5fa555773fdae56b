//! Prints the overview of `tessera -h`, which fits a screen, and `tessera help options`. A folder in place of a command
//! stands for `open` with this folder. The examples in the help of commands are in one file, which a test runs.

use std::{env, error::Error, ffi::OsString, io, path::Path, sync::LazyLock};

use super::{CliError, Exit, values::similar_folder};
use clap::{
    Command as CommandDefinition,
    error::{ContextKind, ContextValue, ErrorKind},
};
use rustix::termios::tcgetwinsize;
use tessera_interface::printable_text::PrintableText;
use tessera_model::{InvalidId, ShellCommand};

/// The commands by what they are for. `tessera --help` describes each of them.
pub(super) const OVERVIEW: &str = include_str!("../../assets/overview.txt");

/// The greatest width of a help in columns, because longer lines are hard to read.
const MAX_WIDTH: usize = 100;

/// Returns the width of a help in columns: that of the terminal, or `COLUMNS`.
pub(super) fn width() -> usize {
    let streams =
        [tcgetwinsize(io::stdout()), tcgetwinsize(io::stderr()), tcgetwinsize(io::stdin())];
    let terminals = streams.into_iter().flatten().map(|size| usize::from(size.ws_col));
    let variable = env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    let known = terminals.chain(variable).find(|columns| *columns > 0);
    known.map_or(MAX_WIDTH, |columns| columns.min(MAX_WIDTH))
}

/// Returns the end of the complete help.
pub(super) fn footer() -> String {
    let codes = Exit::ALL.map(|exit| format!("  {:<4}{}\n", exit as i32, exit.meaning()));
    format!("Exit codes:\n{}", codes.concat().trim_end())
}

/// Whether a message of the parser is the short help of the whole program. Only a help needs the definition, which takes
/// as long as the rest of a start.
pub(super) fn is_short_help(
    error: &clap::Error,
    definition: impl FnOnce() -> CommandDefinition,
) -> bool {
    error.kind() == ErrorKind::DisplayHelp
        && error.render().to_string() == definition().render_help().to_string()
}

/// Returns the text for `tessera help options`, which the parser takes for an unknown command.
pub(super) fn topic(
    error: &clap::Error,
    arguments: &[OsString],
    definition: impl FnOnce() -> CommandDefinition,
) -> Option<PrintableText> {
    let is_topic = error.kind() == ErrorKind::InvalidSubcommand
        && arguments.windows(2).any(|words| words[0] == "help" && words[1] == "options");
    is_topic.then(|| {
        // The options of every command are those that the program has without a command.
        let definition = definition();
        let options =
            definition.get_arguments().map(|option| option.clone().hide_short_help(false));
        let without_commands =
            CommandDefinition::new("tessera").disable_help_flag(true).args(options);
        let mut help = without_commands.help_template("{options}\n").term_width(width());
        PrintableText::line(help.render_help().to_string().trim_end())
    })
}

/// Whether an error is about this word.
pub(super) fn names_word(error: &clap::Error, word: &str) -> bool {
    unexpected_word(error).is_some_and(|unexpected| unexpected == word)
}

fn unexpected_word(error: &clap::Error) -> Option<&String> {
    let kinds = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg];
    match kinds.into_iter().find_map(|kind| error.get(kind))? {
        ContextValue::String(word) => Some(word),
        _ => None,
    }
}

/// Returns the position of a folder that is in place of a command, for which the parser found no command.
pub(super) fn folder_position(error: &clap::Error, arguments: &[OsString]) -> Option<usize> {
    if !matches!(error.kind(), ErrorKind::InvalidSubcommand | ErrorKind::UnknownArgument) {
        return None;
    }
    let word = unexpected_word(error)?;
    let position = position_of(word, arguments)?;
    let names_folder = word.contains('/') || [".", "..", "~"].contains(&word.as_str());
    let is_folder = || Path::new(&arguments[position]).is_dir();
    (names_folder && !word.starts_with('-') || is_folder()).then_some(position)
}

/// Returns the position of the word that an error names, in which the parser has replaced what is not UTF-8.
fn position_of(word: &str, arguments: &[OsString]) -> Option<usize> {
    arguments.iter().position(|argument| argument.to_string_lossy() == word)
}

/// Returns the error of an argument that is not UTF-8 in the place of a text, which the parser does not name.
pub(super) fn not_text(error: &clap::Error, arguments: &[OsString]) -> Option<CliError> {
    let word = arguments.iter().rfind(|word| word.to_str().is_none())?.display();
    let message =
        format!("`{word}` is not UTF-8, and only the path of a file or folder may be that");
    (error.kind() == ErrorKind::InvalidUtf8).then(|| CliError::usage(message))
}

/// Returns the error of a word that is neither a command nor a folder, with what it was probably meant to be.
pub(super) fn unknown_word(
    error: &clap::Error,
    arguments: &[OsString],
    definition: &CommandDefinition,
) -> Option<CliError> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let position = position_of(word, arguments)?;
    let is_command = |it: &OsString| it == "help" || definition.find_subcommand(it).is_some();
    if arguments[..position].iter().skip(1).any(is_command) {
        // A folder cannot be in the place of a subcommand.
        return None;
    }
    if let Some(group) = group_of(word, definition) {
        let message = format!("there is no command `{word}`; there is `{group} {word}`");
        let help = ShellCommand::new("tessera").word(group).word(word).text("--help");
        return Some(CliError::usage(message).with_remedy(help));
    }
    let command = match error.get(ContextKind::SuggestedSubcommand) {
        Some(ContextValue::Strings(commands)) => {
            commands.iter().rev().find(|it| is_misspelled(word, it))
        }
        _ => None,
    };
    let similarity = |other: &str| strsim::jaro_winkler(word, other);
    let folder = similar_folder(Path::new(word));
    let folder = folder.as_deref().and_then(Path::to_str);
    let candidates = [command.map(String::as_str), folder].into_iter().flatten();
    // The last of equal maxima wins, which is the command.
    let best = candidates.rev().max_by(|one, other| similarity(one).total_cmp(&similarity(other)));
    let tessera = ShellCommand::new("tessera");
    let remedy = match best {
        Some(best) => tessera.word(best),
        None => tessera.text("--help"),
    };
    let message = format!("there is no command `{word}`, and no folder of this name");
    Some(CliError::usage(message).with_remedy(remedy))
}

/// Returns the first group that has a command of this name: `dataset` for `split`.
fn group_of<'d>(word: &str, definition: &'d CommandDefinition) -> Option<&'d str> {
    let mut groups = definition.get_subcommands().filter(|group| !group.is_hide_set());
    groups.find(|group| group.find_subcommand(word).is_some()).map(CommandDefinition::get_name)
}

/// Whether a word is the beginning of a command, or a command with a mistake in every third letter at most.
fn is_misspelled(word: &str, command: &str) -> bool {
    command.starts_with(word) || strsim::osa_distance(word, command) <= (word.len() / 3).max(1)
}

/// Options that commands do not have, with the command and what it offers instead.
const MISSING_OPTIONS: [(&str, &str, &str); 7] = [
    ("serve", "--port", LISTEN_TIP),
    ("serve", "--host", LISTEN_TIP),
    ("serve", "--address", LISTEN_TIP),
    ("serve", "--bind", LISTEN_TIP),
    ("image", "--region", BOX_TIP),
    ("image", "--crop", BOX_TIP),
    ("diverse", "--paths", "`--jq '.media[].path'` prints only the paths"),
];
const LISTEN_TIP: &str =
    "`--listen` takes the port, and an address before it: --listen 127.0.0.1:8123";
const BOX_TIP: &str = "`--box` takes a region as fractions of the picture: --box 0.25,0.1,0.5,0.8";
const ID_TIP: &str = "`--full` and `--json` print whole IDs";

/// Adds what to do to an error of the parser, which knows only how words are spelled.
pub(super) fn with_tip(mut error: clap::Error, arguments: &[OsString]) -> clap::Error {
    let is_id = error.source().is_some_and(<dyn Error>::is::<InvalidId>);
    let tip = match error.get(ContextKind::InvalidArg) {
        _ if is_id => Some(ID_TIP),
        Some(ContextValue::String(option)) if error.kind() == ErrorKind::UnknownArgument => {
            let is_given = |command: &str| arguments.iter().any(|word| word == command);
            let known = |&(command, name, _): &(&str, &str, _)| name == option && is_given(command);
            MISSING_OPTIONS.into_iter().find(known).map(|(.., tip)| tip)
        }
        _ => None,
    };
    if let Some(tip) = tip {
        // A similar spelling has another meaning.
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Usage);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

const EXAMPLES: &str = include_str!("../../assets/examples.txt");

/// The end of the short help of a command, which does not list the options of every command.
const OPTIONS_HINT: &str = "`tessera help options` explains the options of every command.";

/// Adds the examples to the help of all commands below this one. `path` are the words of this command after `tessera`,
/// and `width` is that of the help in columns.
pub(super) fn with_examples(
    command: CommandDefinition,
    path: &str,
    width: usize,
) -> CommandDefinition {
    let command = if path.is_empty() {
        command
    } else {
        let examples = examples(path, width);
        let examples = examples.map(|lines| format!("Examples:\n{lines}")).unwrap_or_default();
        let short = format!("{OPTIONS_HINT}\n\n{examples}");
        command.after_help(short).after_long_help(examples)
    };
    command.mut_subcommands(|command| {
        let path = format!("{path} {}", command.get_name());
        with_examples(command, path.trim_start(), width)
    })
}

/// Returns the examples of a command as indented lines.
pub(super) fn examples(path: &str, width: usize) -> Option<String> {
    let examples: Vec<String> = examples_of(path).map(|line| broken(line, width)).collect();
    (!examples.is_empty()).then(|| examples.join("\n"))
}

/// Breaks an example between its words, as a shell reads it. A copy of the first line alone waits for the next one,
/// rather than running without an option such as --dry-run.
fn broken(example: &str, width: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in words(example) {
        match lines.last_mut() {
            None => lines.push(format!("  {word}")),
            Some(line) if line.len() + " ".len() + word.len() + " \\".len() <= width => {
                *line += " ";
                *line += word;
            }
            Some(_) => lines.push(format!("    {word}")),
        }
    }
    lines.join(" \\\n")
}

/// Splits an example at the spaces outside of quotes.
fn words(example: &str) -> impl Iterator<Item = &str> {
    let mut quote = None;
    example.split(move |c| {
        match quote {
            None if matches!(c, '\'' | '"') => quote = Some(c),
            Some(open) if open == c => quote = None,
            _ => {}
        }
        c == ' ' && quote.is_none()
    })
}

/// The lines of the examples, each with what follows its last `tessera`. Every start needs them for each command, so the
/// text is searched only once.
static COMMANDS_OF_EXAMPLES: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    let lines = EXAMPLES.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| Some((line, line.rsplit_once("tessera ")?.1))).collect()
});

/// Returns the lines in which the last `tessera` runs a command.
fn examples_of(path: &str) -> impl Iterator<Item = &'static str> {
    COMMANDS_OF_EXAMPLES.iter().filter_map(move |(line, command)| {
        let rest = command.strip_prefix(path)?;
        (rest.is_empty() || rest.starts_with(' ')).then_some(*line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_overview_fits_a_screen_and_names_every_command() {
        assert!(OVERVIEW.lines().count() <= 24, "{}", OVERVIEW.lines().count());
        assert!(OVERVIEW.lines().all(|line| line.len() <= 80));
        let groups: Vec<&str> =
            OVERVIEW.split("\n\n").nth(2).unwrap().split([' ', ',', '\n']).collect();
        let definition = crate::cli::definition();
        for command in definition.get_subcommands().filter(|command| !command.is_hide_set()) {
            assert!(groups.contains(&command.get_name()), "{}", command.get_name());
        }
    }

    /// Returns the commands below a command with their words after `tessera`.
    fn commands<'c>(
        command: &'c CommandDefinition,
        path: &str,
    ) -> Vec<(String, &'c CommandDefinition)> {
        let below = command.get_subcommands().filter(|below| below.get_name() != "help");
        let with_own = below.flat_map(|below| {
            let path = format!("{path} {}", below.get_name()).trim_start().to_owned();
            let deeper = commands(below, &path);
            std::iter::once((path, below)).chain(deeper)
        });
        with_own.collect()
    }

    fn built(width: usize) -> CommandDefinition {
        let mut definition = crate::cli::command_line::definition_in(width);
        definition.build();
        definition
    }

    #[test]
    fn printed_examples_are_whole_when_they_are_copied() {
        for width in [80, 100] {
            for (path, command) in commands(&built(width), "") {
                let mut command = command.clone();
                for help in [command.render_help(), command.render_long_help()] {
                    let help = help.to_string();
                    let printed = help.split_once("Examples:\n").map_or("", |(_, lines)| lines);
                    let printed: Vec<&str> = printed.lines().collect();
                    let joined = printed.join("\n").replace(" \\\n    ", " ");
                    let joined: Vec<&str> = joined.lines().map(str::trim_start).collect();
                    assert_eq!(joined, examples_of(&path).collect::<Vec<_>>(), "{width}: {help}");
                    assert!(printed.iter().all(|line| line.len() <= width), "{width}: {help}");
                }
            }
        }
    }

    #[test]
    fn an_example_is_never_broken_inside_quotes() {
        let example = "tessera tag add hard --vql '[{\"issues\": {\"op\": \"issue\"}}]' -n";
        let lines = [
            "  tessera tag add \\",
            "    hard --vql \\",
            "    '[{\"issues\": {\"op\": \"issue\"}}]' \\",
            "    -n",
        ];
        assert_eq!(broken(example, 20), lines.join("\n"));
        assert_eq!(broken(example, usize::MAX), format!("  {example}"));
    }

    #[test]
    fn the_short_help_of_a_command_names_the_options_of_every_command_without_listing_them() {
        for (path, command) in commands(&built(80), "") {
            let mut command = command.clone();
            let short = command.render_help().to_string();
            assert!(short.contains(OPTIONS_HINT) && !short.contains("--api-prefix"), "{short}");
            assert!(!short.contains("Options of every command:"), "{short}");
            let long = command.render_long_help().to_string();
            assert!(long.contains("--api-prefix") && !long.contains(OPTIONS_HINT), "{path}");
        }
    }

    #[test]
    fn every_command_is_described_by_one_sentence() {
        for (path, command) in commands(&built(100), "") {
            let about = command.get_about().unwrap().to_string();
            assert!(about.starts_with(char::is_uppercase), "{path}: {about}");
            assert!(!about.ends_with('.') && !about.contains(['\n', '[']), "{path}: {about}");
            assert!(!about.contains(". ") && about.len() <= 100, "{path}: {about}");
        }
    }
}

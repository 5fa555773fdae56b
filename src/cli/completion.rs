//! Completes commands in a shell, with names that only the settings, the state folder or the service know. Shells pass
//! typed words as they are on the line, with their quotes and backslashes.

use std::{
    collections::BTreeSet,
    env,
    ffi::{OsStr, OsString},
    io::{self, Write as _},
};

use super::{
    CliError, CliResult, FolderOpening, GlobalOptions, ServiceTarget, command_line::definition,
    connection::target_state, dataset_folder::DATASET_ARGUMENTS, deployment, info::SHELL_VARIABLE,
    messages::Messages, output::write_candidates,
};
use crate::cli::prelude::*;
use clap::{Arg, Command, FromArgMatches as _, ValueHint};
use clap_complete::{
    engine::{
        ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _, complete,
    },
    env::Shells,
};
use tessera_config::Settings;
use tessera_curation::duplicates::KeepRule;
use tessera_model::{ExportFormat, composed};
use tokio::{runtime::Handle, task::block_in_place, time::timeout};

/// The longest time that a key press waits for a service.
const SERVICE_TIMEOUT: Duration = Duration::from_secs(2);

/// The kind of thing that an argument's value names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NamedThing {
    Profile,
    Dataset,
    Selection,
    View,
    Export,
}

impl NamedThing {
    fn of_argument(path: &[&str], argument: &Arg) -> Option<Self> {
        match (path, argument.get_id().as_str()) {
            (["profile", "show" | "use" | "remove"], "name") | (_, "profile") => {
                Some(Self::Profile)
            }
            (["export", "status" | "watch" | "download"], "id") => Some(Self::Export),
            (_, "global_dataset") => Some(Self::Dataset),
            (_, id) if DATASET_ARGUMENTS.contains(&id) => Some(Self::Dataset),
            (["selection", ..], "name") | (_, "selection") => Some(Self::Selection),
            (["query", "run" | "remove"], "name") | (_, "view") => Some(Self::View),
            _ => None,
        }
    }
}

/// Prints candidates if a shell asks for them. Returns `false` for an ordinary command line. This must run before the
/// command line is parsed. Nothing but candidates is printed, because the user is typing a line.
pub fn print_candidates() -> CliResult<bool> {
    let Some(shell) = env::var(SHELL_VARIABLE).ok().filter(|name| !name.is_empty()) else {
        return Ok(false);
    };
    let shells = Shells::builtins();
    let Some(shell) = shells.completer(&shell) else { return Ok(false) };
    let typed: Vec<OsString> = env::args_os().skip_while(|word| word != "--").skip(1).collect();
    let words = plain_words(shell.name(), typed);
    // A folder in place of a command opens the folder.
    let folders = Arg::new("folders").num_args(0..).value_hint(ValueHint::DirPath);
    let mut command = with_candidates(&[], definition(), &words).arg(folders);
    command.build();
    let mut printed = Vec::new();
    let folder = env::current_dir().ok();
    let completed = if shell.name() == BASH {
        write_for_bash(&mut command, words, folder.as_deref(), &mut printed)
    } else if shell.name() == FISH {
        write_for_fish(&mut command, words, folder.as_deref(), &mut printed)
    } else {
        shell.write_complete(&mut command, words, folder.as_deref(), &mut printed)
    };
    completed.map_err(|error| CliError::io("complete the line", &error))?;
    write_candidates(&printed).map(|()| true)
}

const BASH: &str = "bash";
const FISH: &str = "fish";
/// Set by the script of bash: the position of the typed word, the first character of the part that bash replaces, and
/// what is typed before that part.
const INDEX_VARIABLE: &str = "_CLAP_COMPLETE_INDEX";
const QUOTE_VARIABLE: &str = "TESSERA_COMPLETE_QUOTE";
const PREFIX_VARIABLE: &str = "TESSERA_COMPLETE_PREFIX";
/// Follows each candidate of bash. No name contains this character.
const BASH_SEPARATOR: char = '\u{b}';

/// Returns the words of the line without quotes and backslashes. Fish removes these from all words but the last.
fn plain_words(shell: &str, typed: Vec<OsString>) -> Vec<OsString> {
    let first = match shell {
        BASH | "zsh" => 0,
        FISH => typed.len().saturating_sub(1),
        _ => typed.len(),
    };
    let plain = |(position, word): (usize, OsString)| match word.to_str() {
        Some(text) if position >= first => unquoted(text).into(),
        _ => word,
    };
    typed.into_iter().enumerate().map(plain).collect()
}

/// Writes the candidates for bash, which inserts them as they are.
fn write_for_bash(
    command: &mut Command,
    words: Vec<OsString>,
    folder: Option<&Path>,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let index = variable(INDEX_VARIABLE).parse().unwrap_or_default();
    let quote = OpenQuote::from_start(&variable(QUOTE_VARIABLE));
    let prefix = unquoted(&variable(PREFIX_VARIABLE));
    for candidate in complete(command, words, index, folder)? {
        let word = candidate.get_value().to_string_lossy();
        let Some(word) = word.strip_prefix(&prefix) else { continue };
        if is_printable(word) {
            write!(out, "{}{BASH_SEPARATOR}", quote.quote(word))?;
        }
    }
    Ok(())
}

/// Writes the candidates for fish, each on a line with its description. A name with a line break is omitted, because
/// fish would offer each of its lines.
fn write_for_fish(
    command: &mut Command,
    words: Vec<OsString>,
    folder: Option<&Path>,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    let index = words.len().saturating_sub(1);
    for candidate in complete(command, words, index, folder)? {
        let word = candidate.get_value().to_string_lossy();
        if is_printable(&word) {
            let help = candidate.get_help().map(ToString::to_string).unwrap_or_default();
            writeln!(out, "{word}\t{}", help.lines().next().unwrap_or_default())?;
        }
    }
    Ok(())
}

fn with_candidates(path: &[&str], command: Command, words: &[OsString]) -> Command {
    let command = command.mut_args(|argument| {
        if let Some(thing) = NamedThing::of_argument(path, &argument) {
            let words = words.to_owned();
            let complete = move |typed: &OsStr| candidates(thing, typed, &words);
            return argument.add(ArgValueCompleter::new(complete));
        }
        match known_values(path, &argument) {
            Some(values) => {
                let complete = move |typed: &OsStr| values_that_begin(&values, typed);
                argument.add(ArgValueCompleter::new(complete))
            }
            None => argument,
        }
    });
    command.mut_subcommands(|command| {
        let name = command.get_name().to_owned();
        with_candidates(&[path, &[&name]].concat(), command, words)
    })
}

/// Returns the values of an argument whose type does not list them.
fn known_values(path: &[&str], argument: &Arg) -> Option<Vec<&'static str>> {
    Some(match (path, argument.get_id().as_str()) {
        (["export", "start"], "format") => {
            ExportFormat::ALL.into_iter().map(ExportFormat::as_str).collect()
        }
        (["duplicates"], "keep") => KeepRule::COMPLETIONS.to_vec(),
        _ => return None,
    })
}

fn values_that_begin(values: &[&'static str], typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_str().unwrap_or_default();
    let found = values.iter().filter(|value| value.starts_with(typed));
    found.map(CompletionCandidate::new).collect()
}

/// Returns the candidates that begin with the typed text.
fn candidates(thing: NamedThing, typed: &OsStr, words: &[OsString]) -> Vec<CompletionCandidate> {
    let find = || Handle::current().block_on(find_names(thing, words));
    // If the settings or the service cannot be read, there are no candidates.
    let mut found = block_in_place(find).unwrap_or_default();
    let text = typed.to_str().map(composed);
    found.retain(|(name, _)| {
        text.as_ref().is_some_and(|text| composed(name).starts_with(text.as_ref()))
    });
    let candidate = |(name, about): (String, Option<SafeText>)| {
        CompletionCandidate::new(name).help(about.map(|about| about.as_str().to_owned().into()))
    };
    let names = found.into_iter().filter(|(name, _)| is_insertable(name)).map(candidate);
    let mut candidates: Vec<CompletionCandidate> = names.collect();
    if thing == NamedThing::Dataset {
        // A folder refers to its dataset.
        candidates.extend(PathCompleter::dir().complete(typed));
    }
    candidates
}

/// Whether a completed word is read literally. Some shells insert it without quotes.
fn is_insertable(word: &str) -> bool {
    let quotes = env::var(SHELL_VARIABLE).is_ok_and(|shell| QUOTING_SHELLS.contains(&&*shell));
    if quotes { is_quotable(word) } else { is_plain_word(word) }
}

/// The shells whose completions are quoted, by the shell or by [`write_for_bash`].
const QUOTING_SHELLS: [&str; 3] = [BASH, "zsh", FISH];

/// Whether a quoted word is not an option, and safe on a terminal.
fn is_quotable(word: &str) -> bool {
    !word.is_empty() && !word.starts_with('-') && is_printable(word)
}

/// Whether shells can show a word as it is. A line break would end the line, even if it is quoted.
fn is_printable(word: &str) -> bool {
    SafeText::new(word, word.len()).as_str() == word
}

/// Whether a shell reads a word literally without quotes.
fn is_plain_word(word: &str) -> bool {
    !word.starts_with('-') && ShellCommand::default().word(word).as_str() == word
}

/// Names, each with an optional description.
type Names = Vec<(String, Option<SafeText>)>;

async fn find_names(thing: NamedThing, words: &[OsString]) -> CliResult<Names> {
    let usage = |error: clap::Error| CliError::usage(error.to_string());
    let line = definition().ignore_errors(true).try_get_matches_from(words).map_err(usage)?;
    let global = GlobalOptions::from_arg_matches(&line).map_err(usage)?;
    let settings = Settings::load(&global.sources()).map_err(CliError::usage)?;
    let plain = |name: &str| (name.to_owned(), None);
    let target = || {
        let selected = deployment::select_target(&global, &settings)?;
        selected.ok_or_else(|| CliError::usage("no deployment is selected"))
    };
    let state = || target().map(|target| target_state(&target));
    Ok(match thing {
        NamedThing::Profile => {
            settings.profiles.iter().map(|profile| plain(&profile.name)).collect()
        }
        NamedThing::Dataset => datasets(&target()?).await?,
        NamedThing::Selection => {
            let names = state()?.selection_names()?.into_iter().map(|(name, _)| name);
            names.collect::<BTreeSet<_>>().iter().map(|name| plain(name)).collect()
        }
        NamedThing::View => {
            state()?.views()?.iter().map(|view| plain(view.name.received())).collect()
        }
        NamedThing::Export => {
            let jobs = state()?.jobs()?.into_iter().map(|stored| stored.job);
            let exports = jobs.filter_map(|job| Some((job.state.export()?, job.dataset_name)));
            exports.map(|(id, dataset)| (id.to_string(), Some(dataset))).collect()
        }
    })
}

/// Returns the datasets by name. A dataset is listed by ID if its name cannot be inserted.
async fn datasets(target: &ServiceTarget) -> CliResult<Names> {
    // A local service is not started, because it could begin to index.
    if let Some((folder, _)) = target.local_folder() {
        let name = folder.file_name().and_then(OsStr::to_str);
        return Ok(name.map(|name| (name.to_owned(), None)).into_iter().collect());
    }
    let (client, _) =
        deployment::client_for(target, FolderOpening::Update, Messages::quiet(), None).await?;
    let listed = timeout(SERVICE_TIMEOUT, client.with_retries(0).list_datasets()).await;
    let listed = listed.map_err(|_| CliError::failed("the service is slow"))??;
    let name = |dataset: Dataset| {
        if is_insertable(dataset.name.received()) {
            (dataset.name.received().to_owned(), Some(SafeText::name(dataset.status.as_str())))
        } else {
            (dataset.id.to_string(), Some(dataset.name))
        }
    };
    Ok(listed.datasets.into_iter().map(name).collect())
}

/// Removes quotes and backslashes as a shell does. The last quote may still be open.
fn unquoted(word: &str) -> String {
    let mut plain = String::with_capacity(word.len());
    let (mut letters, mut quote) = (word.chars(), None);
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\'' | '"', None) => quote = Some(letter),
            (_, Some(open)) if letter == open => quote = None,
            ('\\', None) => plain.extend(letters.next()),
            ('\\', Some('"')) => match letters.next() {
                Some(escaped) if r#""$`\"#.contains(escaped) => plain.push(escaped),
                other => plain.extend(['\\'].into_iter().chain(other)),
            },
            _ => plain.push(letter),
        }
    }
    plain
}

/// The quote in which a word is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenQuote {
    None,
    Single,
    Double,
}

impl OpenQuote {
    /// `start` is the beginning of the typed word.
    fn from_start(start: &str) -> Self {
        match start.chars().next() {
            Some('\'') => Self::Single,
            Some('"') => Self::Double,
            _ => Self::None,
        }
    }

    /// Quotes a word, so that a shell that inserts it as it is reads it literally. A home folder at its beginning is
    /// kept.
    fn quote(self, word: &str) -> String {
        match self {
            Self::Single => word.replace('\'', r"'\''"),
            Self::Double => escaped(word, |letter| r#""$`\"#.contains(letter)),
            Self::None => match word.strip_prefix("~/") {
                Some(below_home) => format!("~/{}", escaped(below_home, is_special)),
                None => escaped(word, is_special),
            },
        }
    }
}

fn is_special(letter: char) -> bool {
    letter.is_ascii() && !letter.is_ascii_alphanumeric() && !"_-./,+@%:=".contains(letter)
}

fn escaped(word: &str, is_special: impl Fn(char) -> bool) -> String {
    let mut escaped = String::with_capacity(word.len());
    for letter in word.chars() {
        if is_special(letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_a_meaning_in_shells_are_not_inserted() {
        for word in ["street-cams", "team.a/b_2"] {
            assert!(is_plain_word(word), "{word}");
        }
        for word in
            ["", "two words", "$(reboot)", "a;b", "a*", "`x`", "--force", "~", "a\nb", "a\u{202e}b"]
        {
            assert!(!is_plain_word(word), "{word}");
        }
    }

    #[test]
    fn names_that_no_quotes_protect_are_not_inserted() {
        for word in ["two words", "$(reboot)", "cam:front", "a*", "caf\u{e9} 😀"] {
            assert!(is_quotable(word), "{word}");
        }
        for word in ["", "--force", "a\nb", "a\u{202e}b", "a\u{2066}b", "a\u{200b}"] {
            assert!(!is_quotable(word), "{word}");
        }
    }

    #[test]
    fn every_kind_of_name_is_completed_somewhere() {
        fn walk(path: &[&str], command: &Command, found: &mut Vec<(String, NamedThing)>) {
            for argument in command.get_arguments() {
                if let Some(thing) = NamedThing::of_argument(path, argument) {
                    found.push((format!("{} {}", path.join(" "), argument.get_id()), thing));
                }
            }
            for command in command.get_subcommands() {
                walk(&[path, &[command.get_name()]].concat(), command, found);
            }
        }
        let mut found = Vec::new();
        walk(&[], &definition(), &mut found);
        for expected in [
            (" profile", NamedThing::Profile),
            ("profile remove name", NamedThing::Profile),
            ("dataset show dataset", NamedThing::Dataset),
            ("check source", NamedThing::Dataset),
            ("selection show of", NamedThing::Dataset),
            ("selection show name", NamedThing::Selection),
            ("export start selection", NamedThing::Selection),
            ("query run name", NamedThing::View),
            ("export status id", NamedThing::Export),
        ] {
            assert!(
                found.contains(&(expected.0.to_owned(), expected.1)),
                "{expected:?}: {found:?}"
            );
        }
        assert!(!found.iter().any(|(place, _)| place == "profile add name"));
    }

    #[test]
    fn typed_words_are_read_as_a_shell_reads_them() {
        for (typed, plain) in [
            ("plain", "plain"),
            (r"my\ dir/", "my dir/"),
            (r#""my d"#, "my d"),
            ("'my d", "my d"),
            (r"'it'\''s", "it's"),
            (r#""a\"b\$c\d"#, r#"a"b$c\d"#),
            ("~/pi", "~/pi"),
            (r"a\", "a"),
        ] {
            assert_eq!(unquoted(typed), plain, "{typed}");
        }
    }

    #[test]
    fn quoted_words_are_read_back_and_keep_the_home_folder() {
        for word in
            ["my dir/", "it's", "a$b`c", "semi;colon", "caf\u{e9} 😀", "~x", "#x", "{a,b}!^"]
        {
            for quote in [OpenQuote::None, OpenQuote::Single, OpenQuote::Double] {
                let start = match quote {
                    OpenQuote::None => "",
                    OpenQuote::Single => "'",
                    OpenQuote::Double => "\"",
                };
                assert_eq!(OpenQuote::from_start(&format!("{start}x")), quote);
                assert_eq!(unquoted(&format!("{start}{}", quote.quote(word))), word);
            }
        }
        assert_eq!(OpenQuote::None.quote("~/my pics/"), r"~/my\ pics/");
    }
}

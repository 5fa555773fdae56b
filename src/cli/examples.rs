//! The examples in the help of commands. They are in one file, which a test runs.

use clap::Command;

const EXAMPLES: &str = include_str!("../../assets/examples.txt");

/// Adds the examples to the help of all commands below this one. `path` are the words of this command after `tessera`.
pub(super) fn with_examples(command: Command, path: &str) -> Command {
    let examples: Vec<&str> = examples_of(path).collect();
    let command = if path.is_empty() || examples.is_empty() {
        command
    } else {
        let before = command.get_after_help().map(|text| format!("{text}\n\n")).unwrap_or_default();
        command.after_help(format!("{before}Examples:\n  {}", examples.join("\n  ")))
    };
    command.mut_subcommands(|command| {
        let path = format!("{path} {}", command.get_name());
        with_examples(command, path.trim_start())
    })
}

/// Returns the lines in which the last `tessera` runs a command.
fn examples_of(path: &str) -> impl Iterator<Item = &'static str> {
    EXAMPLES.lines().filter(move |line| {
        let command = line.rsplit_once("tessera ").map(|(_, command)| command);
        let rest = command.and_then(|command| command.strip_prefix(path));
        !line.starts_with('#') && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    })
}

//! Commands for a shell, as text that a person copies. Nothing here is ever run by us.

use std::fmt::Write as _;

use crate::DatasetId;

/// One word of a command, quoted for `sh` unless it is plainly harmless.
pub fn quote(word: &str) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(harmless) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// What `run_profiler.sh`, the command of on-premises deployments, can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfilerCommand<'a> {
    /// Cluster anew.
    Reindex,
    /// Add the media below a path of the deployment, and cluster anew if the flag says so.
    AddMedia(&'a str, bool),
}

/// The line for `run_profiler.sh` (rule: interface, `POST add_media`).
pub fn profiler_command_line(dataset: DatasetId, what: ProfilerCommand) -> String {
    let mut line = "run_profiler.sh -o ".to_owned();
    // Writing to a string cannot fail.
    let _ = match what {
        ProfilerCommand::Reindex => write!(line, "reindex -d {dataset}"),
        ProfilerCommand::AddMedia(path, reindex) => {
            let auto = if reindex { " -a" } else { "" };
            write!(line, "add_media -d {dataset} -p {}{auto}", quote(path))
        }
    };
    line
}

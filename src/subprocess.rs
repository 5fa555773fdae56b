//! Starts programs that the user chose, such as an editor, a viewer or a shell, without the environment variables that
//! contain the login.

use std::{
    env,
    ffi::OsStr,
    fs,
    io::{self, Write},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use tessera_config::custom_command::ReadyCommand;
use tessera_model::{Failure, FailureKind};
use tessera_subprocess::user_command;

use crate::credentials::LOGIN_VARIABLES;

/// The environment variable with the ID of the process with which a command of `tessera mcp` ends.
pub(crate) const PARENT_VARIABLE: &str = "TESSERA_PARENT";

/// Whether `tessera mcp` runs this command.
pub(crate) fn is_called_by_assistant() -> bool {
    env::var_os(PARENT_VARIABLE).is_some()
}

/// How long a helper may take. A display or a server that is gone would keep its helper waiting.
const HELPER_LIMIT: Duration = Duration::from_secs(1);
const CHECK_INTERVAL: Duration = Duration::from_millis(5);

/// Creates a command without our secrets in its environment. The other variables are the user's, and programs such as
/// an editor or the command of `--on-change` may need them.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = user_command(program, &LOGIN_VARIABLES);
    // A `tessera` that the program starts has another parent, and would end at once.
    command.env_remove(PARENT_VARIABLE);
    command
}

/// Whether a program of this name is in a folder of `PATH`.
pub(crate) fn is_on_path(program: &str) -> bool {
    let folders = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&folders).any(|folder| folder.join(program).is_file())
}

/// Runs a helper whose input and output are short enough for a pipe. Returns the child that has ended, or `None` if it
/// does not succeed in time. Blocks until then. The output is not read, because a helper may leave a process behind that
/// keeps it open.
pub(crate) fn run_in_time(command: &mut Command, input: &str) -> Option<Child> {
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let start = Instant::now();
    let written =
        child.stdin.take().is_some_and(|mut pipe| pipe.write_all(input.as_bytes()).is_ok());
    while start.elapsed() < HELPER_LIMIT {
        match child.try_wait().ok()? {
            Some(status) => return (written && status.success()).then_some(child),
            None => thread::sleep(CHECK_INTERVAL),
        }
    }
    // The helper may have ended meanwhile.
    let _ = child.kill();
    let _ = child.wait();
    None
}

/// Returns the user's editor, from `VISUAL` or `EDITOR`, and the command that opens `file` in it. The command runs in a
/// shell, as with git, because the variable may contain arguments.
pub(crate) fn editor_command(file: &Path) -> (String, Command) {
    let configured = ["VISUAL", "EDITOR"].iter().find_map(|name| {
        let value = env::var(name).ok()?;
        (!value.trim().is_empty()).then_some(value)
    });
    let editor = configured.unwrap_or_else(|| "vi".to_owned());
    let mut command = command("sh");
    command.arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(file);
    (editor, command)
}

/// Runs one of the user's own commands in the terminal. Blocks until the command exits.
pub(crate) fn run_in_terminal(command: &ReadyCommand) -> Result<(), Failure> {
    let failed = |reason: String| Failure::local(format!("{}: {reason}", command.name));
    let (program, arguments) = command.words.split_first().ok_or_else(Failure::internal_error)?;
    match self::command(program).args(arguments).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failed(status.to_string())),
        Err(error) => Err(failed(start_problem(&error))),
    }
}

/// Describes why one of the user's own commands could not be started.
pub(crate) fn start_problem(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "the program is not installed, or not in PATH".to_owned(),
        io::ErrorKind::ArgumentListTooLong => {
            "too many files for one command line; use {list} in place of {paths}".to_owned()
        }
        _ => error.to_string(),
    }
}

/// Edits `text` and returns what was saved. Blocks until the editor exits.
pub(crate) fn edit_text(text: &str) -> Result<String, Failure> {
    let file = temporary_file(text).map_err(|error| {
        Failure::new(FailureKind::Local, format!("cannot create a file for the editor: {error}"))
    })?;
    let (editor, mut command) = editor_command(file.path());
    let failed = |reason: &dyn std::fmt::Display| {
        Failure::new(FailureKind::Local, format!("{editor} could not edit the query: {reason}"))
            .with_remedy("Set VISUAL or EDITOR to an editor; the query is unchanged")
    };
    let status = command.status().map_err(|error| failed(&error))?;
    if !status.success() {
        return Err(failed(&status));
    }
    fs::read_to_string(file.path()).map_err(|error| failed(&error))
}

/// Writes the text to a new file with mode 0600 and an extension that editors recognize.
fn temporary_file(text: &str) -> io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix("tessera-query-").suffix(".json").tempfile()?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_starts_without_our_secrets() {
        let command = command("printenv");
        let removed: Vec<_> = command.get_envs().filter(|(_, value)| value.is_none()).collect();
        for variable in LOGIN_VARIABLES {
            assert!(removed.iter().any(|(name, _)| *name == variable), "{variable}");
        }
    }
}

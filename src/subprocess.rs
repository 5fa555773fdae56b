//! Starts child processes, such as an editor, a viewer or a shell, without the environment variables that contain
//! secrets.

use std::{env, ffi::OsStr, path::Path, process::Command};

use crate::credentials::LOGIN_VARIABLES;

/// Creates a command without our secrets in its environment. `tests/architecture.rs` verifies that
/// nothing else starts a program.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for variable in LOGIN_VARIABLES {
        command.env_remove(variable);
    }
    command
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

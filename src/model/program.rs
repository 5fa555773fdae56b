//! Other programs: an editor, a viewer, a decoder. They are started without the variables that hold
//! secrets, which they have no business with (S15). Nothing runs here: the command is given back.

use std::{ffi::OsStr, process::Command};

/// The environment variable of the secret itself.
pub const SECRET: &str = "TESSERA_API_SECRET";
/// The environment variable of a file that holds the secret; the better way in scripts.
pub const SECRET_FILE: &str = "TESSERA_API_SECRET_FILE";
/// The environment variable of a token that somebody else has made.
pub const TOKEN: &str = "TESSERA_TOKEN";

/// A command that starts `program` without our secrets. `tests/architecture.rs` holds that there is no
/// other way here.
#[must_use]
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for variable in [SECRET, SECRET_FILE, TOKEN] {
        command.env_remove(variable);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s15_a_program_is_started_without_our_secrets() {
        let command = command("printenv");
        let removed: Vec<_> = command.get_envs().filter(|(_, value)| value.is_none()).collect();
        for variable in [SECRET, SECRET_FILE, TOKEN] {
            assert!(removed.iter().any(|(name, _)| *name == variable), "{variable}");
        }
    }
}

//! Other programs: an editor, a viewer, a decoder. They are started without the variables that hold
//! secrets, which they have no business with. Nothing runs here: the command is given back.

use std::{env, ffi::OsStr, path::Path, process::Command};

/// The environment variable of the secret itself.
pub const SECRET_VARIABLE: &str = "TESSERA_API_SECRET";
/// The environment variable of a file that holds the secret; the better way in scripts.
pub const SECRET_FILE_VARIABLE: &str = "TESSERA_API_SECRET_FILE";
/// The environment variable of a token that somebody else has made.
pub const TOKEN_VARIABLE: &str = "TESSERA_TOKEN";

/// A command that starts `program` without our secrets. `tests/architecture.rs` holds that there is no
/// other way here.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for variable in [SECRET_VARIABLE, SECRET_FILE_VARIABLE, TOKEN_VARIABLE] {
        command.env_remove(variable);
    }
    command
}

/// The editor that a person has chosen, by `VISUAL` or `EDITOR`, and how it opens a file. Through the
/// shell, as git does it: the variable may hold arguments, too.
pub fn editor_command(file: &Path) -> (String, Command) {
    let chosen = ["VISUAL", "EDITOR"].iter().find_map(|name| {
        let value = env::var(name).ok()?;
        (!value.trim().is_empty()).then_some(value)
    });
    let editor = chosen.unwrap_or_else(|| "vi".to_owned());
    let mut command = command("sh");
    command.arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(file);
    (editor, command)
}

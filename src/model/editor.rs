//! The person's own editor. Nothing runs here: the command is given back.

use std::{env, path::Path, process::Command};

/// The editor that a person has chosen, by `VISUAL` or `EDITOR`, and how it opens a file. Through the
/// shell, as git does it: the variable may hold arguments, too.
#[must_use]
pub fn editor(file: &Path) -> (String, Command) {
    let chosen = ["VISUAL", "EDITOR"].iter().find_map(|name| {
        let value = env::var(name).ok()?;
        (!value.trim().is_empty()).then_some(value)
    });
    let editor = chosen.unwrap_or_else(|| "vi".to_owned());
    let mut command = Command::new("sh");
    for secret in ["TESSERA_API_SECRET", "TESSERA_API_SECRET_FILE", "TESSERA_TOKEN"] {
        command.env_remove(secret);
    }
    command.arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(file);
    (editor, command)
}

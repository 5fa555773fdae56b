//! A text in the person's own editor: in a file that only they can read, and that is gone
//! afterwards. The terminal must have been given back before.

use std::{
    env, fs,
    io::{self, Write},
    path::Path,
};

use crate::model::{Failure, FailureKind, program};

/// Edits `text` until the editor is left, and gives back what was saved. Blocks.
///
/// # Errors
/// [`FailureKind::Local`]: there is no such editor, it failed, or its file cannot be read as text.
pub(super) fn edit(text: &str) -> Result<String, Failure> {
    let editor = ["VISUAL", "EDITOR"].iter().find_map(|name| {
        let value = env::var(name).ok()?;
        (!value.trim().is_empty()).then_some(value)
    });
    let editor = editor.unwrap_or_else(|| "vi".to_owned());
    let failed = |reason: &dyn std::fmt::Display| {
        Failure::new(FailureKind::Local, format!("{editor} could not edit the query: {reason}"))
            .remedy("Set VISUAL or EDITOR to an editor; the query is as it was")
    };
    let file = written(text).map_err(|error| failed(&error))?;
    let status = run(&editor, file.path()).map_err(|error| failed(&error))?;
    if !status.success() {
        return Err(failed(&status));
    }
    fs::read_to_string(file.path()).map_err(|error| failed(&error))
}

/// The text in a new file of mode 0600, with the ending by which editors know it.
fn written(text: &str) -> io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix("tessera-query-").suffix(".json").tempfile()?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    Ok(file)
}

/// Through the shell, as git does it: the variable may hold arguments, too.
fn run(editor: &str, file: &Path) -> io::Result<std::process::ExitStatus> {
    program::command("sh").arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(file).status()
}

//! Edits a text in the user's editor, in a private temporary file. The caller must have restored
//! the terminal before.

use std::{
    fs,
    io::{self, Write},
};

use crate::subprocess;
use tessera_model::{Failure, FailureKind};

/// Edits `text` and returns what was saved. Blocks until the editor exits.
pub(crate) fn edit(text: &str) -> Result<String, Failure> {
    let file = temporary_file(text).map_err(|error| {
        Failure::new(FailureKind::Local, format!("cannot create a file for the editor: {error}"))
    })?;
    let (editor, mut command) = subprocess::editor_command(file.path());
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

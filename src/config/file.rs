//! Files of this user: optional ones, and atomic replacement.

use std::{
    fs,
    io::{self, Write as _},
    path::Path,
};

/// Writes a temporary file and renames it: after a crash the file is the old one or the new one. A
/// symbolic link stays; its target is replaced.
pub fn write_atomically(path: &Path, text: &str) -> io::Result<()> {
    let path = if_exists(fs::canonicalize(path))?.unwrap_or_else(|| path.to_owned());
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    fs::create_dir_all(folder)?;
    let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
    temporary.write_all(text.as_bytes())?;
    if let Ok(old) = fs::metadata(&path) {
        temporary.as_file().set_permissions(old.permissions())?;
    }
    temporary.as_file().sync_all()?;
    temporary.persist(path)?;
    Ok(())
}

/// Turns the error that a file does not exist into `None`.
pub fn if_exists<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

//! Replaces files of this user atomically: after a crash the file is the old one or the new one.

use std::{
    fs,
    io::{self, Write as _},
    path::Path,
};

/// Writes a temporary file and renames it. A symbolic link stays; its target is replaced.
pub fn write_atomically(path: &Path, text: &str) -> io::Result<()> {
    let path = match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
        found => found?,
    };
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

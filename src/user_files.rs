//! Files of this user: optional ones, and atomic replacement.

use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _},
    path::Path,
};

use rustix::process::geteuid;

/// Writes a temporary file and renames it: after a crash the file is the old one or the new one. A
/// symbolic link stays; its target is replaced.
pub fn write_atomically(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    let path = if_exists(fs::canonicalize(path))?.unwrap_or_else(|| path.to_owned());
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    create_private_dir(folder)?;
    let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
    temporary.write_all(content.as_ref())?;
    if let Ok(old) = fs::metadata(&path) {
        temporary.as_file().set_permissions(old.permissions())?;
    }
    temporary.as_file().sync_all()?;
    temporary.persist(&path)?;
    sync_names(folder)
}

/// Makes new names in a folder survive a power loss.
pub fn sync_names(folder: &Path) -> io::Result<()> {
    fs::File::open(folder)?.sync_all()
}

/// Creates a folder that only this user can enter, and the folders it is in. Existing ones stay as
/// they are.
pub fn create_private_dir(folder: &Path) -> io::Result<()> {
    let missing = folder.ancestors().take_while(|folder| !folder.exists()).count();
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let parents = folder.ancestors().skip(1).take(missing);
    parents.filter(|folder| !folder.as_os_str().is_empty()).try_for_each(sync_names)
}

/// Closes a folder of this user to others: earlier versions, and other programs, created open ones.
pub fn close_to_others(folder: &Path) -> io::Result<()> {
    let metadata = fs::symlink_metadata(folder)?;
    let is_own = metadata.uid() == geteuid().as_raw();
    if metadata.is_dir() && is_own && metadata.mode() & 0o077 != 0 {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Reads a file that belongs to this user; `None` if it, or a link at its path, belongs to another.
pub fn read_if_own(path: &Path) -> io::Result<Option<String>> {
    let user = geteuid().as_raw();
    if fs::symlink_metadata(path)?.uid() != user {
        return Ok(None);
    }
    let file = fs::File::open(path)?;
    // The open file is checked, because the path may refer to another file by now.
    let is_own = file.metadata()?.uid() == user;
    is_own.then(|| io::read_to_string(file)).transpose()
}

/// Turns the error that a file does not exist into `None`.
pub fn if_exists<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

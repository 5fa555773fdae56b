//! Folders and files that only their owner can open, and locks on files. The folders and files with the data of this
//! user are created here. If they already exist, other users lose access to them.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _},
    path::Path,
};

use rustix::process::geteuid;

use super::{
    if_exists, parent_dir, read_at_most, sync_dir,
    weak_file_system::{lock, set_mode, try_lock, try_lock_shared},
};

const DIR_MODE: u32 = 0o700;
pub(crate) const FILE_MODE: u32 = 0o600;
pub(crate) const PERMISSION_BITS: u32 = 0o777;
pub(crate) const OTHERS_PERMISSIONS: u32 = 0o077;
/// The mode bit of folders, such as `/tmp`, in which all users create files.
const STICKY: u32 = 0o1000;

/// Creates a folder that only this user can enter, and the missing folders above it. Existing folders are not changed.
pub fn create_private_dir(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(DIR_MODE).create(folder)
}

/// Creates a folder like [`create_private_dir`], so that it survives a power cut.
pub fn create_private_dir_durably(folder: &Path) -> io::Result<()> {
    create_durably(folder, DIR_MODE)
}

/// Creates a folder and the missing folders above it, so that they survive a power cut. The umask of the user decides
/// who can enter them.
pub fn create_shared_dir_durably(folder: &Path) -> io::Result<()> {
    create_durably(folder, 0o777)
}

fn create_durably(folder: &Path, mode: u32) -> io::Result<()> {
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let missing = folder.ancestors().take_while(is_missing).count();
    DirBuilder::new().recursive(true).mode(mode).create(folder)?;
    folder.ancestors().take(missing).map(parent_dir).try_for_each(sync_dir)
}

/// Creates a folder like [`create_private_dir`], or removes the access of other users to an existing folder.
///
/// # Errors
/// The folder belongs to another user, or all users share it, as they do `/tmp`.
pub fn ensure_private_dir(folder: &Path) -> io::Result<()> {
    create_private_dir(folder)?;
    if fs::metadata(folder)?.mode() & STICKY != 0 {
        return Err(io::Error::other("it is shared by all users"));
    }
    restrict(folder, DIR_MODE)
}

/// Creates a folder durably, or removes the access of other users to an existing folder.
///
/// # Errors
/// The path is a symbolic link, or the folder belongs to another user.
pub fn ensure_own_private_dir(folder: &Path) -> io::Result<()> {
    create_private_dir_durably(folder)?;
    let metadata = fs::symlink_metadata(folder)?;
    if !metadata.is_dir() {
        return Err(io::Error::other("not a folder"));
    }
    if !is_own(&metadata) {
        return Err(io::Error::other("it belongs to another user"));
    }
    close_to_others(folder)
}

/// Removes the access of other users to a folder of this user, which another program may have created with open
/// permissions. A folder of another user is not changed.
pub fn close_to_others(folder: &Path) -> io::Result<()> {
    let metadata = fs::symlink_metadata(folder)?;
    if metadata.is_dir() && is_own(&metadata) && metadata.mode() & OTHERS_PERMISSIONS != 0 {
        set_mode(folder, DIR_MODE)?;
    }
    Ok(())
}

/// Sets the permissions of a file or folder, unless it has them already.
pub fn restrict(path: &Path, mode: u32) -> io::Result<()> {
    if fs::metadata(path)?.mode() & PERMISSION_BITS == mode {
        return Ok(());
    }
    set_mode(path, mode)
}

/// Returns options that open a file for writing. A file that they create can be read only by its owner.
pub fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(FILE_MODE);
    options
}

/// Reads a file that belongs to this user. Returns `None` if the file, or a link at its path, belongs to another user.
///
/// # Errors
/// The file cannot be read, or is larger than `max_bytes`.
pub fn read_if_own(path: &Path, max_bytes: u64) -> io::Result<Option<Vec<u8>>> {
    if !is_own(&fs::symlink_metadata(path)?) {
        return Ok(None);
    }
    let file = File::open(path)?;
    // The open file decides, because the path may refer to another file by now.
    if !is_own(&file.metadata()?) {
        return Ok(None);
    }
    let bytes = read_at_most(file, max_bytes + 1)?;
    if bytes.len() as u64 > max_bytes {
        let message = format!("it is larger than {} KiB; shorten it", max_bytes >> 10);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(Some(bytes))
}

pub(crate) fn is_own(metadata: &fs::Metadata) -> bool {
    metadata.uid() == geteuid().as_raw()
}

/// Opens a file like [`open_locked`]. The umask of the user decides who can read a new file.
pub fn open_shared_locked(path: &Path) -> io::Result<Option<File>> {
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
    Ok(try_lock(&file)?.then_some(file))
}

/// Opens a private file, creating it if it is missing, and locks it. The lock ends when the file is closed, or with the
/// process. Returns `None` if another process has the lock. Without locks, the file is opened unlocked.
pub fn open_locked(path: &Path) -> io::Result<Option<File>> {
    let file = open_lock_file(path)?;
    Ok(try_lock(&file)?.then_some(file))
}

/// Opens a file like [`open_locked`], and waits while another process has the lock.
pub fn wait_for_lock(path: &Path) -> io::Result<File> {
    let file = open_lock_file(path)?;
    lock(&file)?;
    Ok(file)
}

fn open_lock_file(path: &Path) -> io::Result<File> {
    private_file().read(true).create(true).truncate(false).open(path)
}

/// Whether a process has locked a file. A missing file is not locked, and neither is a file without locks.
pub fn is_locked(path: &Path) -> io::Result<bool> {
    let Some(file) = if_exists(File::open(path))? else { return Ok(false) };
    let is_free = try_lock_shared(&file)?;
    // A child that is being started has a copy of the file, with which the lock would last longer. An error is ignored,
    // because closing the file ends the lock as well.
    let _ = file.unlock();
    Ok(!is_free)
}

#[cfg(test)]
mod tests {
    use std::{
        fs::Permissions,
        os::unix::fs::{PermissionsExt as _, symlink},
    };

    use super::*;

    fn open_folder(parent: &Path, name: &str, mode: u32) -> std::path::PathBuf {
        let folder = parent.join(name);
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, Permissions::from_mode(mode)).unwrap();
        folder
    }

    #[test]
    fn existing_folders_are_closed_and_shared_or_linked_ones_refused() {
        let base = tempfile::tempdir().unwrap();
        for ensure in [ensure_private_dir, ensure_own_private_dir, close_to_others] {
            let folder = open_folder(base.path(), "open", 0o755);
            ensure(&folder).unwrap();
            assert_eq!(fs::metadata(&folder).unwrap().mode() & PERMISSION_BITS, DIR_MODE);
            fs::remove_dir(folder).unwrap();
        }
        let shared = open_folder(base.path(), "shared", 0o1777);
        assert!(ensure_private_dir(&shared).is_err());
        let link = base.path().join("link");
        symlink(&shared, &link).unwrap();
        assert!(ensure_own_private_dir(&link).is_err());
    }

    #[test]
    fn a_lock_excludes_others_until_its_file_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        assert!(!is_locked(&path).unwrap() && !path.exists());
        let lock = open_locked(&path).unwrap();
        assert!(lock.is_some() && is_locked(&path).unwrap());
        assert!(open_locked(&path).unwrap().is_none());
        drop(lock);
        assert!(!is_locked(&path).unwrap() && open_locked(&path).unwrap().is_some());
        let waited = wait_for_lock(&path).unwrap();
        assert!(is_locked(&path).unwrap());
        drop(waited);
    }

    #[test]
    fn a_large_file_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "#".repeat(1 << 10)).unwrap();
        assert_eq!(read_if_own(&path, 1 << 10).unwrap().unwrap().len(), 1 << 10);
        // The file is sparse, and reading all of it would take more than the memory of this machine.
        File::options().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
        let error = read_if_own(&path, 1 << 10).unwrap_err();
        assert_eq!(error.to_string(), "it is larger than 1 KiB; shorten it");
    }
}

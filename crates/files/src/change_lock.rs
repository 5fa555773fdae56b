//! Locks a file while it is read, changed and replaced, so that processes that change it at the same time keep each
//! other's changes.

use std::{
    ffi::OsString,
    fs::{self, File},
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use super::{create_private_dir_durably, if_exists, parent_dir, wait_for_lock};

/// The lock of [`lock_changes`], which ends when this value is dropped, or with the process.
#[derive(Debug)]
pub struct ChangeLock {
    file: File,
    path: PathBuf,
}

/// Waits until no other process changes the file at `path`, which need not exist, and locks it against changes. A
/// change replaces the file, so a file beside it is locked. Missing folders are created as private folders. Without
/// locks, the program continues as if it were alone.
pub fn lock_changes(path: &Path) -> io::Result<ChangeLock> {
    let folder = parent_dir(path);
    create_private_dir_durably(folder)?;
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".tessera-lock");
    let path = folder.join(name);
    loop {
        let file = wait_for_lock(&path)?;
        let (locked, current) = (file.metadata()?, if_exists(fs::symlink_metadata(&path))?);
        let is_current =
            |current: fs::Metadata| (current.dev(), current.ino()) == (locked.dev(), locked.ino());
        // The process that had the lock has removed its file, so another process may lock a new one.
        if current.is_some_and(is_current) {
            return Ok(ChangeLock { file, path });
        }
    }
}

impl Drop for ChangeLock {
    fn drop(&mut self) {
        // The errors are ignored, because a file that stays is not locked once it is closed.
        let _ = fs::remove_file(&self.path);
        let _ = self.file.unlock();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::write_user_file;

    #[test]
    fn changes_at_the_same_time_are_all_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("missing/letters");
        let add = || {
            let _lock = lock_changes(&path).unwrap();
            let text = if_exists(fs::read_to_string(&path)).unwrap().unwrap_or_default();
            write_user_file(&path, text + "x").unwrap();
        };
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..8).for_each(|_| add()));
            }
        });
        assert_eq!(fs::read_to_string(&path).unwrap().len(), 64);
        assert_eq!(fs::read_dir(parent_dir(&path)).unwrap().count(), 1, "the lock stays");
    }

    #[test]
    fn the_file_of_a_killed_process_is_not_locked() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(".config.toml.tessera-lock"), "").unwrap();
        drop(lock_changes(&folder.path().join("config.toml")).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

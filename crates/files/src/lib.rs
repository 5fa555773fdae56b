//! Creates, replaces, locks and stages files so that they are atomic, private and durable. The crates that keep files
//! on disk use these functions.

mod atomic_write;
mod change_lock;
mod private;
mod rotating_file;
pub mod staging;
mod weak_file_system;

pub use atomic_write::{
    TEMPORARY_PREFIX, shared_temporary, sync_tree, write_atomically, write_durably, write_new_file,
    write_result_file, write_shared_file, write_target, write_user_file,
};
pub use change_lock::{ChangeLock, lock_changes};
pub use private::{
    close_to_others, create_private_dir, create_private_dir_durably, create_shared_dir_durably,
    ensure_own_private_dir, ensure_private_dir, is_locked, open_locked, open_shared_locked,
    private_file, read_if_own, restrict, wait_for_lock,
};
pub use rotating_file::RotatingFile;
pub use weak_file_system::{
    Guarantee, check_writable, is_link_refused, lock, missing_guarantees, publish_new,
    set_file_mode, share_blocks, share_lock, sync_dir, synced, try_lock, try_lock_shared,
};

use std::{
    io::{self, ErrorKind, Read},
    path::Path,
};

/// Reads up to `limit` bytes.
pub fn read_at_most(from: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Turns the error for a missing file into `None`. A file is also missing if a part of its path is not a folder, as with
/// the home `/dev/null` of system users.
pub fn if_exists<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        other => other.map(Some),
    }
}

/// Names an error without the paths that its message may contain. Many errors of the system, such as too many open
/// files, have no kind of their own, so the name is the system's own message.
pub fn error_name(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(_) => error.to_string().split(" (os error").next().unwrap_or_default().to_owned(),
        None => error.kind().to_string(),
    }
}

/// The space that a program needs to read a database, in bytes.
const MIN_FREE_SPACE: u64 = 64 << 10;

/// Returns the free bytes of the disk of a file or folder. `None` means unknown: some file systems of networks and FUSE
/// do not report their space, or report a disk without blocks.
pub fn free_space(path: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(path).ok().filter(|disk| disk.f_blocks > 0)?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Whether the disk of a folder has no space even for small files.
pub fn is_disk_full(folder: &Path) -> bool {
    free_space(folder).is_some_and(|free| free < MIN_FREE_SPACE)
}

/// Returns the folder of a file, which is the current folder for a bare file name.
pub fn parent_dir(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_of_the_system_has_a_name() {
        assert_eq!(error_name(&io::Error::from_raw_os_error(24)), "Too many open files");
        assert_eq!(error_name(&io::Error::other("/home/me/secret.png")), "other error");
    }

    #[test]
    fn a_disk_that_does_not_report_its_space_is_not_full() {
        let folder = tempfile::tempdir().unwrap();
        assert!(free_space(folder.path()).is_some());
        // The file system of processes has no blocks, and a missing folder no disk.
        for unknown in ["/proc", "/nonexistent"] {
            let folder = Path::new(unknown);
            assert_eq!((free_space(folder), is_disk_full(folder)), (None, false), "{unknown}");
        }
    }

    #[test]
    fn a_file_below_a_file_does_not_exist() {
        for missing in ["/dev/null/config.toml", "/nonexistent/config.toml"] {
            assert!(if_exists(std::fs::read(missing)).unwrap().is_none(), "{missing}");
        }
        assert!(if_exists(std::fs::read("/")).is_err());
    }

    #[test]
    fn the_folder_of_a_bare_name_is_the_current_one() {
        assert_eq!(parent_dir(Path::new("file")), Path::new("."));
        assert_eq!(parent_dir(Path::new("a/file")), Path::new("a"));
    }
}

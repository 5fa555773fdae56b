//! File systems that do not offer everything that a local disk offers. Network file systems, FUSE, exFAT and SMB may
//! have no locks, no hard links, no permissions, or no sync of folders. The operations in this file continue without
//! what is missing, and [`missing_guarantees`] describes it for the user.

use std::{
    fs::{self, File, Permissions, TryLockError},
    io::{self, ErrorKind},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::Path,
};

use rustix::io::Errno;
use tempfile::TempPath;

use super::{
    TEMPORARY_PREFIX, parent_dir,
    private::{FILE_MODE, OTHERS_PERMISSIONS, PERMISSION_BITS, is_own},
};

/// The errors, beside [`ErrorKind::Unsupported`], of a file system without locks. NFS without a lock service returns
/// `NOLCK`.
const WITHOUT_LOCKS: &[Errno] = &[Errno::NOLCK, Errno::INVAL];
/// The errors of a file system that cannot sync a folder or a file.
const WITHOUT_SYNC: &[Errno] = &[Errno::INVAL, Errno::BADF, Errno::ISDIR, Errno::NOTTY];
/// The errors of a new name that every file system returns, because they are about the name, its folder or the space.
const ABOUT_NAMES: &[Errno] = &[
    Errno::EXIST,
    Errno::NOENT,
    Errno::NOTDIR,
    Errno::ISDIR,
    Errno::LOOP,
    Errno::NAMETOOLONG,
    Errno::NOSPC,
    Errno::DQUOT,
];

fn is_missing(error: &io::Error, errors: &[Errno]) -> bool {
    error.kind() == ErrorKind::Unsupported
        || Errno::from_io_error(error).is_some_and(|found| errors.contains(&found))
}

/// Turns the error of a file system that does not offer an operation into `None`.
fn if_offered<T>(result: io::Result<T>, errors: &[Errno]) -> io::Result<Option<T>> {
    match result {
        Err(error) if is_missing(&error, errors) => Ok(None),
        other => other.map(Some),
    }
}

/// Locks a file unless another process has locked it. Returns whether no other process has the lock. Without locks,
/// the program continues as if it were alone.
pub fn try_lock(file: &File) -> io::Result<bool> {
    is_free(file.try_lock())
}

/// Locks a file like [`try_lock`], together with the other processes that share the lock.
pub fn try_lock_shared(file: &File) -> io::Result<bool> {
    is_free(file.try_lock_shared())
}

fn is_free(attempt: Result<(), TryLockError>) -> io::Result<bool> {
    match attempt {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => {
            if_offered(Err(error), WITHOUT_LOCKS).map(|_: Option<()>| true)
        }
    }
}

/// Waits until no other process has locked the file, and locks it.
pub fn lock(file: &File) -> io::Result<()> {
    if_offered(file.lock(), WITHOUT_LOCKS).map(drop)
}

/// Turns an exclusive lock into a shared one.
pub fn share_lock(file: &File) -> io::Result<()> {
    if_offered(file.lock_shared(), WITHOUT_LOCKS).map(drop)
}

/// Makes the content of a file durable, where the file system can do so. The result of the sync is passed, because some
/// callers sync asynchronously.
pub fn synced(result: io::Result<()>) -> io::Result<()> {
    if_offered(result, WITHOUT_SYNC).map(drop)
}

/// Makes the names in a folder durable, so that creations, renames and removals in it survive a power cut. Folders that
/// this user may not read, and folders of file systems that cannot sync them, are left to the system.
pub fn sync_dir(folder: &Path) -> io::Result<()> {
    match File::open(folder) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(()),
        opened => synced(opened?.sync_all()),
    }
}

/// Gives a temporary file the name `target`.
///
/// # Errors
/// `AlreadyExists` if the target exists. The temporary file stays after any error.
pub fn publish_new(temporary: TempPath, target: &Path) -> io::Result<()> {
    let Err(refused) = temporary.persist_noclobber(target) else { return Ok(()) };
    // A temporary path removes its file when it is dropped.
    let path = refused.path.keep().map_err(|failed| failed.error)?;
    if is_link_refused(&refused.error) { rename_if_free(&path, target) } else { Err(refused.error) }
}

/// Whether a plain rename can succeed after this error of a hard link, or of a rename that replaces no file. File
/// systems without these refuse them with many errors, such as `PERM`, `ROFS`, `XDEV` and `IO`. If the cause is another
/// one, the plain rename fails, too.
pub fn is_link_refused(error: &io::Error) -> bool {
    Errno::from_io_error(error).is_some_and(|found| !ABOUT_NAMES.contains(&found))
}

/// Renames a file if its new name is free. Another program could take the name between the check and the renaming, so
/// this is only for file systems that have nothing better.
fn rename_if_free(path: &Path, target: &Path) -> io::Result<()> {
    match fs::symlink_metadata(target) {
        Ok(_) => Err(ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == ErrorKind::NotFound => fs::rename(path, target),
        Err(error) => Err(error),
    }
}

/// Sets the permissions of a file or folder, where the file system keeps permissions.
pub(crate) fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    let set = fs::set_permissions(path, Permissions::from_mode(mode));
    if_changeable(set, || fs::metadata(path))
}

/// Sets the permissions of an open file, where the file system keeps permissions.
pub fn set_file_mode(file: &File, mode: u32) -> io::Result<()> {
    let permissions = Permissions::from_mode(mode & PERMISSION_BITS);
    if_changeable(file.set_permissions(permissions), || file.metadata())
}

/// Makes a new file share the blocks of another one.
///
/// # Errors
/// `Unsupported` if the file system cannot do so.
#[cfg(target_os = "linux")]
pub fn share_blocks(new: &File, original: &File) -> io::Result<()> {
    rustix::fs::ioctl_ficlone(new, original).map_err(|_| cannot_share())
}

#[cfg(not(target_os = "linux"))]
pub fn share_blocks(_: &File, _: &File) -> io::Result<()> {
    Err(cannot_share())
}

fn cannot_share() -> io::Error {
    io::Error::new(ErrorKind::Unsupported, "the file system cannot share blocks between files")
}

/// Turns the error of a file system whose permissions cannot be changed into success. FAT and CIFS refuse the change
/// with `PERM`, which refers to the owner everywhere else.
fn if_changeable(
    set: io::Result<()>,
    metadata: impl FnOnce() -> io::Result<fs::Metadata>,
) -> io::Result<()> {
    let is_refused =
        set.as_ref().is_err_and(|error| Errno::from_io_error(error) == Some(Errno::PERM));
    let fixed: &[Errno] = if is_refused && is_own(&metadata()?) { &[Errno::PERM] } else { &[] };
    if_offered(set, fixed).map(drop)
}

/// What a local disk guarantees for the files in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guarantee {
    /// Locks keep the processes of this program from disturbing each other.
    Locks,
    /// Permissions keep other users from reading the files.
    Privacy,
    /// New files survive a power cut.
    Durability,
}

impl Guarantee {
    pub const ALL: &[Self] = &[Self::Locks, Self::Privacy, Self::Durability];

    fn consequence(self) -> &'static str {
        match self {
            Self::Locks => "has no file locks, so use it with one process at a time",
            Self::Privacy => {
                "keeps no permissions, so other users of this machine may read its files"
            }
            Self::Durability => {
                "cannot sync folders, so new files may be missing after a power cut"
            }
        }
    }
}

/// Describes which of these guarantees the file system of a folder does not give, with a sentence for each. A folder
/// that cannot be written has none to describe.
pub fn missing_guarantees(folder: &Path, needed: &[Guarantee]) -> Vec<String> {
    let mut options = tempfile::Builder::new();
    let probe = options.prefix(TEMPORARY_PREFIX).make_in(folder, |path| {
        fs::OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path)
    });
    let Ok(probe) = probe else { return Vec::new() };
    let file = probe.as_file();
    let is_given = |guarantee: &Guarantee| match guarantee {
        Guarantee::Locks => file.try_lock().is_ok(),
        Guarantee::Privacy => {
            file.metadata().is_ok_and(|found| found.permissions().mode() & OTHERS_PERMISSIONS == 0)
        }
        Guarantee::Durability => {
            File::open(parent_dir(probe.path())).and_then(|folder| folder.sync_all()).is_ok()
        }
    };
    let missing = needed.iter().filter(|guarantee| !is_given(guarantee));
    let sentence = |guarantee: &Guarantee| {
        format!("the disk of {} {}", folder.display(), guarantee.consequence())
    };
    missing.map(sentence).collect()
}

/// Checks that files can be created in a folder, or that a missing folder can be created.
pub fn check_writable(folder: &Path) -> io::Result<()> {
    let existing = folder.ancestors().find(|folder| folder.symlink_metadata().is_ok());
    let mut probe = tempfile::Builder::new();
    probe.prefix(TEMPORARY_PREFIX).tempfile_in(existing.unwrap_or(Path::new("."))).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused<T>(error: Errno) -> io::Result<T> {
        Err(error.into())
    }

    #[test]
    fn what_a_file_system_does_not_offer_is_no_error() {
        for missing in [Errno::NOSYS, Errno::OPNOTSUPP, Errno::NOLCK] {
            let attempt = TryLockError::Error(missing.into());
            assert!(is_free(Err(attempt)).unwrap(), "{missing}");
        }
        assert!(!is_free(Err(TryLockError::WouldBlock)).unwrap());
        assert!(is_free(Err(TryLockError::Error(Errno::IO.into()))).is_err());
        for missing in [Errno::NOSYS, Errno::OPNOTSUPP, Errno::INVAL] {
            synced(refused(missing)).unwrap();
        }
        for broken in [Errno::IO, Errno::NOSPC, Errno::DQUOT] {
            assert!(synced(refused(broken)).is_err(), "{broken}");
        }
    }

    #[test]
    fn permissions_that_cannot_be_changed_are_an_error_only_on_files_of_others() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let own = || file.as_file().metadata();
        if_changeable(refused(Errno::PERM), own).unwrap();
        assert!(if_changeable(refused(Errno::ROFS), own).is_err());
        // A process that is not the superuser does not own the folder of processes.
        if !is_own(&fs::metadata("/").unwrap()) {
            assert!(if_changeable(refused(Errno::PERM), || fs::metadata("/")).is_err());
        }
    }

    #[test]
    fn only_errors_about_the_new_name_are_final() {
        let is_refused = |errno: Errno| is_link_refused(&errno.into());
        let refusals =
            [Errno::PERM, Errno::ROFS, Errno::XDEV, Errno::IO, Errno::NOTTY, Errno::MLINK];
        assert!(refusals.into_iter().all(is_refused));
        assert!(!ABOUT_NAMES.iter().copied().any(is_refused));
        assert!(!is_link_refused(&ErrorKind::AlreadyExists.into()));
    }

    #[test]
    fn a_new_name_never_replaces_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let (first, target) = (folder.path().join("first"), folder.path().join("target"));
        for publish in [
            |path: &Path, target: &Path| {
                publish_new(TempPath::try_from_path(path).unwrap(), target)
            },
            rename_if_free,
        ] {
            fs::write(&first, "first").unwrap();
            publish(&first, &target).unwrap();
            assert_eq!(fs::read_to_string(&target).unwrap(), "first");
            fs::write(&first, "second").unwrap();
            let refused = publish(&first, &target).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::AlreadyExists);
            assert_eq!(fs::read_to_string(&first).unwrap(), "second", "the temporary file is lost");
            fs::remove_file(&target).unwrap();
        }
    }

    #[test]
    fn a_folder_below_a_file_or_a_broken_link_is_not_writable() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(folder.path().join("missing"), &link).unwrap();
        for refused in [file.join("a"), file.clone(), link.join("a"), link.clone()] {
            assert!(check_writable(&refused).is_err(), "{}", refused.display());
        }
        check_writable(&folder.path().join("a/b")).unwrap();
        check_writable(folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is created");
    }

    #[test]
    fn a_local_disk_guarantees_everything() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(missing_guarantees(folder.path(), Guarantee::ALL), Vec::<String>::new());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        sync_dir(folder.path()).unwrap();
        assert!(sync_dir(&folder.path().join("missing")).is_err());
    }
}

//! Staging directories: temporary storage for uploads until a dataset takes them over. Removed on
//! drop unless kept.

use std::{
    collections::HashMap,
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, ErrorKind},
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

use uuid::Uuid;

use super::file_names::with_suffix;

/// File name of an uploaded archive in its staging directory.
pub const ARCHIVE_FILE_NAME: &str = "archive";
/// The directory next to it for the unpacked files.
pub const UNPACKED_DIR_NAME: &str = "unpacked";

/// Size limit of a staging directory, in bytes.
const MAX_STAGED_BYTES: u64 = 50 << 30;
/// Disk space that is never used, in bytes.
const RESERVED_DISK_BYTES: u64 = 1 << 30;

/// A new directory, removed when dropped unless it is kept.
#[derive(Debug)]
pub struct StagingDir {
    id: Uuid,
    path: PathBuf,
    kept: bool,
}

impl StagingDir {
    /// Creates `<base>/<uuid>` (mode 0700), and `base` if it does not exist.
    pub fn create(base: &Path) -> io::Result<Self> {
        let id = Uuid::new_v4();
        let path = base.join(id.to_string());
        create_private_dir(&path)?;
        Ok(Self { id, path, kept: false })
    }

    /// Its name below the base directory.
    #[must_use]
    pub fn id(&self) -> Uuid {
        self.id
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps the directory; the caller becomes responsible for removing it.
    #[must_use = "whoever keeps the folder has to know where it is"]
    pub fn keep(mut self) -> PathBuf {
        self.kept = true;
        std::mem::take(&mut self.path)
    }
}

impl Drop for StagingDir {
    fn drop(&mut self) {
        if !self.kept {
            // What cannot be removed now is removed at the next start.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Removes the staging directories below `base` that a crashed process left, except those that
/// `keep` selects.
pub fn remove_abandoned(base: &Path, keep: impl Fn(Uuid) -> bool) -> io::Result<()> {
    let entries = match fs::read_dir(base) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let id = entry.file_name().to_str().and_then(|name| name.parse().ok());
        if id.is_some_and(|id| !keep(id)) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// Returns how many bytes can be staged below the existing directory `path`: its free disk space
/// minus a reserve, at most 50 GiB.
pub fn available_space(path: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(path)?;
    Ok(disk
        .f_bavail
        .saturating_mul(disk.f_frsize)
        .saturating_sub(RESERVED_DISK_BYTES)
        .min(MAX_STAGED_BYTES))
}

/// Creates a directory (mode 0700) and its parents.
pub fn create_private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Creates files in a directory that nobody else writes to, with unique names.
#[derive(Debug)]
pub struct UniqueFiles {
    root: PathBuf,
    /// The next number for names that are already taken.
    next_suffix: HashMap<PathBuf, u32>,
}

impl UniqueFiles {
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), next_suffix: HashMap::new() }
    }

    /// Creates an empty file at `wanted`, a safe relative path, with a number if the name is taken.
    /// Returns its path below the directory.
    pub fn create(&mut self, wanted: &Path) -> io::Result<(PathBuf, File)> {
        let wanted = self.ensure_parent_dir(wanted)?;
        let mut path = wanted.clone();
        loop {
            let file = OpenOptions::new().write(true).create_new(true).open(self.root.join(&path));
            match file {
                Ok(file) => return Ok((path, file)),
                Err(cause) if cause.kind() != ErrorKind::AlreadyExists => return Err(cause),
                Err(_) => {
                    let number = self.next_suffix.entry(wanted.clone()).or_insert(1);
                    *number += 1;
                    let name = wanted.file_name().unwrap_or_default().to_string_lossy();
                    path = wanted.with_file_name(with_suffix(&name, &number.to_string()));
                }
            }
        }
    }

    /// Creates the parent directories of `wanted`; if a file is in the way, returns a path without
    /// them.
    fn ensure_parent_dir(&self, wanted: &Path) -> io::Result<PathBuf> {
        let Some(parent) = wanted.parent() else { return Ok(wanted.to_owned()) };
        match create_private_dir(&self.root.join(parent)) {
            Ok(()) => Ok(wanted.to_owned()),
            Err(cause)
                if matches!(cause.kind(), ErrorKind::NotADirectory | ErrorKind::AlreadyExists) =>
            {
                Ok(wanted.to_string_lossy().replace('/', "_").into())
            }
            Err(cause) => Err(cause),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_staging_folder_goes_away_unless_it_is_kept() {
        let base = tempfile::tempdir().unwrap();
        let dropped = StagingDir::create(base.path()).unwrap();
        fs::write(dropped.path().join("a"), "x").unwrap();
        let mode = fs::metadata(dropped.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let gone = dropped.path().to_owned();
        drop(dropped);
        assert!(!gone.exists());
        let kept = StagingDir::create(base.path()).unwrap().keep();
        assert!(kept.is_dir());
    }

    #[test]
    fn what_a_killed_process_left_is_swept() {
        let base = tempfile::tempdir().unwrap();
        let needed = StagingDir::create(base.path()).unwrap();
        let id = needed.id();
        let (needed, left) = (needed.keep(), StagingDir::create(base.path()).unwrap().keep());
        fs::write(left.join("half"), "x").unwrap();
        fs::write(base.path().join("note"), "not ours").unwrap();
        remove_abandoned(base.path(), |found| found == id).unwrap();
        assert!(needed.exists() && !left.exists() && base.path().join("note").exists());
        remove_abandoned(&base.path().join("nowhere"), |_| false).unwrap();
    }

    #[test]
    fn names_in_a_staging_folder_are_unique() {
        let base = tempfile::tempdir().unwrap();
        let mut places = UniqueFiles::new(base.path());
        let mut place =
            |wanted: &str| places.create(Path::new(wanted)).unwrap().0.to_str().unwrap().to_owned();
        assert_eq!(place("a.jpg"), "a.jpg");
        assert_eq!(place("sub/a.jpg"), "sub/a.jpg");
        assert_eq!(place("a.jpg"), "a_2.jpg");
        assert_eq!(place("a.jpg"), "a_3.jpg");
        assert_eq!(place("a_2.jpg"), "a_2_2.jpg");
        assert_eq!(place("sub"), "sub_2", "a directory is in the way");
        assert_eq!(place("a.jpg/b.jpg"), "a.jpg_b.jpg", "a file is in the way");
    }

    #[test]
    fn room_is_bounded() {
        assert!(available_space(Path::new("/tmp")).unwrap() <= MAX_STAGED_BYTES);
        assert!(available_space(Path::new("/nowhere/at/all")).is_err());
    }
}

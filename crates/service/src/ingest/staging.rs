//! Staging folders: where files from outside lie until a dataset takes them. A folder that
//! nobody keeps goes away with whatever is in it.

use std::{
    collections::HashMap,
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, ErrorKind},
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

use uuid::Uuid;

use super::file_names::with_suffix;

/// The name of an uploaded archive in its staging folder.
pub const ARCHIVE_FILE_NAME: &str = "archive";
/// The folder beside it that the archive is unpacked into.
pub const UNPACKED_DIR_NAME: &str = "unpacked";

/// Most bytes one staging folder may take.
const MAX_STAGED_BYTES: u64 = 50 << 30;
/// Bytes of the disk that are left to others.
const RESERVED_DISK_BYTES: u64 = 1 << 30;

/// A new folder of its own below a base; removed when dropped, unless it was kept.
#[derive(Debug)]
pub struct StagingDir {
    id: Uuid,
    path: PathBuf,
    kept: bool,
}

impl StagingDir {
    /// Creates the folder `<base>/<uuid>` (mode 0700), and `base` when it is not there.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn create(base: &Path) -> io::Result<Self> {
        let id = Uuid::new_v4();
        let path = base.join(id.to_string());
        create_private_dir(&path)?;
        Ok(Self { id, path, kept: false })
    }

    /// Its name below the base.
    #[must_use]
    pub fn id(&self) -> Uuid {
        self.id
    }

    /// Its absolute path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps the folder: from now on somebody else removes it.
    #[must_use = "whoever keeps the folder has to know where it is"]
    pub fn keep(mut self) -> PathBuf {
        self.kept = true;
        std::mem::take(&mut self.path)
    }
}

impl Drop for StagingDir {
    fn drop(&mut self) {
        if !self.kept {
            // What cannot be removed now is swept at the next start.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Removes the staging folders below `base` that a killed process left; `keep` tells which are
/// still needed.
///
/// # Errors
/// The disk refuses.
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

/// The bytes that may be staged below `path`, which exists: what is free on its disk without a
/// reserve, and no more than 50 GiB.
///
/// # Errors
/// The disk does not tell.
pub fn available_space(path: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(path)?;
    Ok(disk
        .f_bavail
        .saturating_mul(disk.f_frsize)
        .saturating_sub(RESERVED_DISK_BYTES)
        .min(MAX_STAGED_BYTES))
}

/// Creates a directory that only its owner may enter, and those above it.
///
/// # Errors
/// The disk refuses.
pub fn create_private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Creates files in a folder that nobody else writes to, each under a name of its own.
#[derive(Debug)]
pub struct UniqueFiles {
    root: PathBuf,
    /// The next number of a name that was wanted more than once.
    next_suffix: HashMap<PathBuf, u32>,
}

impl UniqueFiles {
    /// Places in the existing folder `root`.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), next_suffix: HashMap::new() }
    }

    /// Creates an empty file at `wanted`, a safe relative path, or beside it with a number when
    /// the name is taken. Returns where it is below the folder.
    ///
    /// # Errors
    /// The disk refuses.
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

    /// `wanted` with its directories made; where a file is in their place, a path without them.
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

//! Staging folders, which keep an upload until a dataset accepts it, or until it is refused and removed. A staging
//! folder is named by a UUID below a common folder, so that the next start recognizes what a crash left behind.

use std::{
    collections::HashMap,
    fs::{self, File, Permissions},
    io::{self, ErrorKind},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use tempfile::TempDir;
use uuid::Uuid;

use super::{create_private_dir, if_exists, is_locked, private_file};

/// The name of an uploaded archive in its staging folder.
pub const ARCHIVE_FILE_NAME: &str = "archive";
/// The folder for unpacked files, which is next to the archive.
pub const UNPACKED_DIR_NAME: &str = "unpacked";

/// A staging folder that this process uses. It is removed when this value is dropped, unless it is kept. If the removal
/// fails, a later start removes the folder.
#[derive(Debug)]
pub struct StagingDir {
    folder: TempDir,
    /// The lock by which other processes see that the folder is in use.
    _lock: File,
}

impl StagingDir {
    /// Creates the private folder `<base>/<uuid>`.
    pub fn create(base: &Path) -> io::Result<Self> {
        create_private_dir(base)?;
        let folder = tempfile::Builder::new()
            .prefix(&Uuid::new_v4().to_string())
            .rand_bytes(0)
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(base)?;
        let lock = File::open(folder.path())?;
        // The folder has just been created, so the lock is free. Without it, a start may remove the folder too early.
        let _ = lock.try_lock();
        Ok(Self { folder, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Ends the use of the folder without removing it.
    pub fn keep(self) -> PathBuf {
        self.folder.keep()
    }
}

/// Whether a process uses a staging folder.
pub fn is_in_use(staging: &Path) -> bool {
    // Where there are no locks, a folder counts as abandoned.
    is_locked(staging).unwrap_or(false)
}

/// Removes what a crashed process left below `base`, except the folders that `keep` selects.
pub fn remove_abandoned(base: &Path, keep: impl Fn(&Path) -> bool) -> io::Result<()> {
    let is_abandoned = |staging: &&PathBuf| !is_in_use(staging) && !keep(staging);
    staging_dirs(base)?.iter().filter(is_abandoned).try_for_each(fs::remove_dir_all)
}

/// Returns the staging folders below `base`. There are none if `base` does not exist.
pub fn staging_dirs(base: &Path) -> io::Result<Vec<PathBuf>> {
    let mut staging = Vec::new();
    for entry in if_exists(fs::read_dir(base))?.into_iter().flatten() {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(|name| Uuid::try_parse(name).is_ok()) {
            staging.push(entry.path());
        }
    }
    Ok(staging)
}

/// Creates files with unique names in a folder to which no other process writes.
#[derive(Debug)]
pub struct UniqueFiles {
    root: PathBuf,
    /// The next number to append to a name that is already taken.
    next_suffix: HashMap<PathBuf, u32>,
}

impl UniqueFiles {
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), next_suffix: HashMap::new() }
    }

    /// Creates a file. If the name is taken, a number is appended to it. Returns the path below the folder.
    pub fn create(&mut self, path: &Path) -> io::Result<(PathBuf, File)> {
        let requested = self.ensure_parent_dir(path)?;
        let mut path = requested.clone();
        loop {
            let file = private_file().create_new(true).open(self.root.join(&path));
            match file {
                Ok(file) => return Ok((path, file)),
                Err(cause) if cause.kind() != ErrorKind::AlreadyExists => return Err(cause),
                Err(_) => {
                    let number = self.next_suffix.entry(requested.clone()).or_insert(1);
                    *number += 1;
                    let name = requested.file_name().unwrap_or_default().to_string_lossy();
                    path = requested.with_file_name(with_suffix(&name, &number.to_string()));
                }
            }
        }
    }

    /// Creates the parent folders of a path. If a file is in their way, the returned path has no parent folders.
    fn ensure_parent_dir(&self, path: &Path) -> io::Result<PathBuf> {
        let Some(parent) = path.parent() else { return Ok(path.to_owned()) };
        match create_private_dir(&self.root.join(parent)) {
            Ok(()) => Ok(path.to_owned()),
            Err(cause)
                if matches!(cause.kind(), ErrorKind::NotADirectory | ErrorKind::AlreadyExists) =>
            {
                Ok(path.to_string_lossy().replace('/', "_").into())
            }
            Err(cause) => Err(cause),
        }
    }
}

/// The maximum length of a file name on the common file systems, in bytes.
const MAX_NAME_BYTES: usize = 255;

/// Inserts a suffix before the extension: `a.jpg` and `2` become `a_2.jpg`. The end of a name that would be too long is
/// cut off before the suffix.
pub fn with_suffix(name: &str, suffix: &str) -> String {
    let (stem, extension) = split_extension(name);
    let room = MAX_NAME_BYTES.saturating_sub(suffix.len() + extension.len() + 1);
    let stem = &stem[..stem.floor_char_boundary(room)];
    format!("{stem}_{suffix}{extension}")
}

/// Splits a name into its stem and its extension. The extension includes the dot.
pub fn split_extension(name: &str) -> (&str, &str) {
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
    name.split_at(extension.map_or(name.len(), |extension| name.len() - extension.len() - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suffix_is_inserted_before_the_extension_and_always_fits() {
        assert_eq!(with_suffix("a.jpg", "2"), "a_2.jpg");
        assert_eq!(with_suffix("a", "2"), "a_2");
        let long = format!("{}.jpg", "é".repeat(125));
        assert_eq!(with_suffix(&long, "12"), format!("{}_12.jpg", "é".repeat(124)));
    }

    #[test]
    fn a_staging_folder_is_removed_unless_kept() {
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
    fn abandoned_staging_folders_are_removed() {
        let base = tempfile::tempdir().unwrap();
        let [needed, left] = [(), ()].map(|()| StagingDir::create(base.path()).unwrap().keep());
        let used = StagingDir::create(base.path()).unwrap();
        fs::write(left.join("half"), "x").unwrap();
        fs::write(base.path().join("note"), "not ours").unwrap();
        remove_abandoned(base.path(), |found| found == needed).unwrap();
        assert!(needed.exists() && !left.exists() && base.path().join("note").exists());
        assert!(used.path().exists() && is_in_use(used.path()) && !is_in_use(&needed));
        remove_abandoned(&base.path().join("nowhere"), |_| false).unwrap();
    }

    #[test]
    fn staged_file_names_are_unique() {
        let base = tempfile::tempdir().unwrap();
        let mut files = UniqueFiles::new(base.path());
        let mut create =
            |wanted: &str| files.create(Path::new(wanted)).unwrap().0.to_str().unwrap().to_owned();
        assert_eq!(create("a.jpg"), "a.jpg");
        assert_eq!(create("sub/a.jpg"), "sub/a.jpg");
        assert_eq!(create("a.jpg"), "a_2.jpg");
        assert_eq!(create("a.jpg"), "a_3.jpg");
        assert_eq!(create("a_2.jpg"), "a_2_2.jpg");
        assert_eq!(create("sub"), "sub_2", "a folder is in the way");
        assert_eq!(create("a.jpg/b.jpg"), "a.jpg_b.jpg", "a file is in the way");
    }
}

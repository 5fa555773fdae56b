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

use super::{create_private_dir, if_exists, private_file};

/// The name of an uploaded archive in its staging folder.
pub const ARCHIVE_FILE_NAME: &str = "archive";
/// The folder for unpacked files, which is next to the archive.
pub const UNPACKED_DIR_NAME: &str = "unpacked";

/// Creates the private folder `<base>/<uuid>`, which is removed when the returned value is dropped. If the removal
/// fails, the next start removes the folder.
pub fn create_staging_dir(base: &Path) -> io::Result<TempDir> {
    create_private_dir(base)?;
    tempfile::Builder::new()
        .prefix(&Uuid::new_v4().to_string())
        .rand_bytes(0)
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(base)
}

/// Removes what a crashed process left below `base`, except the folders that `keep` selects.
pub fn remove_abandoned(base: &Path, keep: impl Fn(&Path) -> bool) -> io::Result<()> {
    staging_dirs(base)?.iter().filter(|staging| !keep(staging)).try_for_each(fs::remove_dir_all)
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

/// Inserts a suffix before the extension: `a.jpg` and `2` become `a_2.jpg`.
pub fn with_suffix(name: &str, suffix: &str) -> String {
    let (stem, extension) = split_extension(name);
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
    fn a_staging_folder_is_removed_unless_kept() {
        let base = tempfile::tempdir().unwrap();
        let dropped = create_staging_dir(base.path()).unwrap();
        fs::write(dropped.path().join("a"), "x").unwrap();
        let mode = fs::metadata(dropped.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let gone = dropped.path().to_owned();
        drop(dropped);
        assert!(!gone.exists());
        let kept = create_staging_dir(base.path()).unwrap().keep();
        assert!(kept.is_dir());
    }

    #[test]
    fn abandoned_staging_folders_are_removed() {
        let base = tempfile::tempdir().unwrap();
        let needed = create_staging_dir(base.path()).unwrap();
        let (needed, left) = (needed.keep(), create_staging_dir(base.path()).unwrap().keep());
        fs::write(left.join("half"), "x").unwrap();
        fs::write(base.path().join("note"), "not ours").unwrap();
        remove_abandoned(base.path(), |found| found == needed).unwrap();
        assert!(needed.exists() && !left.exists() && base.path().join("note").exists());
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

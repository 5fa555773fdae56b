//! Staging directories: temporary storage for uploads until a dataset takes them over.

use std::{
    collections::HashMap,
    fs::{self, DirBuilder, File, OpenOptions, Permissions},
    io::{self, ErrorKind, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use tempfile::{NamedTempFile, TempDir};
use uuid::Uuid;
use walkdir::WalkDir;

use super::file_names::with_suffix;

/// File name of an uploaded archive in its staging directory.
pub const ARCHIVE_FILE_NAME: &str = "archive";
/// The directory next to it for the unpacked files.
pub const UNPACKED_DIR_NAME: &str = "unpacked";

/// The mode bit of directories in which all users create files.
const STICKY: u32 = 0o1000;

/// Creates `<base>/<uuid>` (mode 0700). It is removed when dropped; what cannot be removed then is
/// removed at the next start.
pub fn create_staging_dir(base: &Path) -> io::Result<TempDir> {
    create_private_dir(base)?;
    tempfile::Builder::new()
        .prefix(&Uuid::new_v4().to_string())
        .rand_bytes(0)
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(base)
}

/// Removes what a crashed process left below `base`, except what `keep` selects.
pub fn remove_abandoned(base: &Path, keep: impl Fn(&Path) -> bool) -> io::Result<()> {
    staging_dirs(base)?.iter().filter(|staging| !keep(staging)).try_for_each(fs::remove_dir_all)
}

/// The staging directories below `base`, if it exists.
pub fn staging_dirs(base: &Path) -> io::Result<Vec<PathBuf>> {
    let mut staging = Vec::new();
    let entries = match fs::read_dir(base) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(staging),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(|name| Uuid::try_parse(name).is_ok()) {
            staging.push(entry.path());
        }
    }
    Ok(staging)
}

/// Creates a directory (mode 0700) and its parents.
pub fn create_private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Creates a directory like [`create_private_dir`], or takes all access to it from other users.
///
/// # Errors
/// Another user owns it, or all users share it, such as `/tmp`.
pub fn ensure_private_dir(path: &Path) -> io::Result<()> {
    create_private_dir(path)?;
    let mode = fs::metadata(path)?.permissions().mode();
    if mode & STICKY != 0 {
        return Err(io::Error::other("it is shared by all users"));
    }
    restrict(path, 0o700)
}

/// Sets the mode of a file or directory unless it is set.
pub fn restrict(path: &Path, mode: u32) -> io::Result<()> {
    if fs::metadata(path)?.permissions().mode() & 0o777 == mode {
        return Ok(());
    }
    fs::set_permissions(path, Permissions::from_mode(mode))
}

/// Options that create a file for writing that only its owner can read (mode 0600).
pub fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    options
}

/// Replaces a private file. After a power cut it has its old content or the new one.
pub fn write_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    sync_dir(folder)
}

/// Makes the names of a directory durable: what was created, renamed or removed in it.
pub fn sync_dir(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Makes the files below a directory durable, with their names.
pub fn sync_tree(root: &Path) -> io::Result<()> {
    for entry in WalkDir::new(root) {
        let entry = entry?;
        if entry.file_type().is_file() || entry.file_type().is_dir() {
            File::open(entry.path())?.sync_all()?;
        }
    }
    Ok(())
}

/// Creates files in a directory that nobody else writes to, with unique names.
#[derive(Debug)]
pub struct UniqueFiles {
    root: PathBuf,
    /// The next number for names that are already taken.
    next_suffix: HashMap<PathBuf, u32>,
}

impl UniqueFiles {
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), next_suffix: HashMap::new() }
    }

    /// Adds a number if the name is taken, and returns the path below the directory.
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

    /// Returns a path without parent directories if a file is in the way.
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

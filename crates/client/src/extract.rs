//! Extracts archives: regular files with safe names, below one folder that is opened once, so that
//! neither a name nor a link can lead elsewhere. Rejected entries are listed, and the rest is
//! extracted.

use std::{
    collections::HashSet,
    fs::{self, File},
    io::{self, Write as _},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, Mode, OFlags, mkdirat, open, openat, statat, unlinkat},
    io::Errno,
};

use crate::{
    archive::{ArchiveEntry, EntryError, IMAGES_PREFIX, for_each_entry},
    inspect::write_joined_rows,
    part_file::{ExistingFile, check_room, disk_failure, local_failure},
};
use tessera_model::{Extraction, Failure, archive_path::safe_relative_path};

/// Joins each metadata row with the path of its picture.
const ROWS_FILE: &str = "rows.jsonl";

/// Extracts `archive` into `folder`, which is created if necessary. Blocks on the disk. With
/// `join`, writes each metadata row to `rows.jsonl` as one JSON object per line, with the relative
/// path of its picture as `_path`, or null.
///
/// # Errors
/// Before anything is written: an existing file that is kept, or too little disk space.
/// Later: disk errors.
pub fn extract(
    archive: &Path,
    folder: &Path,
    existing: ExistingFile,
    join: bool,
) -> Result<Extraction, Failure> {
    let open_archive = || File::open(archive).map_err(|error| disk_failure(archive, &error));
    let damaged = |why: String| local_failure(archive, &why);
    let size = check_and_measure(open_archive()?, folder, existing, join)
        .map_err(|error| error.into_failure(archive))?;
    let target =
        TargetFolder::open(folder, existing).map_err(|error| disk_failure(folder, &error))?;
    check_room(&target.root, folder, size)?;

    let mut done = Extraction { folder: folder.to_owned(), ..Extraction::default() };
    let mut used_names = HashSet::new();
    let mut disk_error = None;
    let result = for_each_entry(open_archive()?, |entry| {
        let name = entry.name.clone();
        match target.extract_entry(entry, &mut used_names) {
            Ok(None) => {}
            Ok(Some(bytes)) => {
                done.files += 1;
                done.bytes += bytes;
            }
            Err(EntryError::Invalid(why)) => done.rejected_entries.add(&format!("{name} ({why})")),
            Err(EntryError::Disk(error)) => {
                disk_error = Some(disk_failure(&folder.join(&name), &error));
                return Err(String::new());
            }
        }
        Ok(())
    });
    if let Some(failure) = disk_error {
        return Err(failure);
    }
    result.map_err(damaged)?;
    if join {
        done.index_file = Some(target.write_rows(archive, folder)?);
    }
    Ok(done)
}

/// Why nothing is extracted.
enum ExtractError {
    Damaged(String),
    AlreadyExists(PathBuf),
}

impl ExtractError {
    fn into_failure(self, archive: &Path) -> Failure {
        match self {
            Self::Damaged(why) => local_failure(archive, &why),
            Self::AlreadyExists(path) => {
                local_failure(&path, "already exists and is not overwritten")
                    .with_remedy("Choose another folder, or move the old file away")
            }
        }
    }
}

/// Checks all entries before anything is written, and returns their total size.
fn check_and_measure(
    file: File,
    folder: &Path,
    existing: ExistingFile,
    join: bool,
) -> Result<u64, ExtractError> {
    let free = |path: PathBuf| {
        let kept = existing == ExistingFile::Keep && fs::symlink_metadata(&path).is_ok();
        if kept { Err(ExtractError::AlreadyExists(path)) } else { Ok(()) }
    };
    if join {
        free(folder.join(ROWS_FILE))?;
    }
    let (mut size, mut error) = (0_u64, None);
    let result = for_each_entry(file, |entry| {
        let safe_path = safe_relative_path(&entry.name).ok().filter(|_| !entry.is_dir());
        let Some(path) = safe_path else { return Ok(()) };
        size = size.saturating_add(entry.size());
        free(folder.join(path)).map_err(|found| {
            error = Some(found);
            String::new()
        })
    });
    match (error, result) {
        (Some(error), _) => Err(error),
        (None, result) => result.map(|()| size).map_err(ExtractError::Damaged),
    }
}

/// A folder that is kept open: all paths are relative to it, and no link is followed.
struct TargetFolder {
    root: OwnedFd,
    existing: ExistingFile,
}

impl TargetFolder {
    fn open(folder: &Path, existing: ExistingFile) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let root = open(folder, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self { root, existing })
    }

    /// Writes an entry and returns its size, or `None` for a directory, which is created with its
    /// files. `used_names` contains the lower-case names so far, for case-insensitive file systems.
    fn extract_entry(
        &self,
        entry: ArchiveEntry<'_>,
        used_names: &mut HashSet<String>,
    ) -> Result<Option<u64>, EntryError> {
        let invalid = |why: &str| Err(EntryError::Invalid(why.to_owned()));
        let path = match safe_relative_path(&entry.name) {
            Ok(path) => path,
            Err(why) => return invalid(why),
        };
        if entry.is_dir() {
            return Ok(None);
        }
        if path.as_os_str().is_empty() {
            return invalid("no name");
        }
        if !entry.is_plain() {
            return invalid("not a regular file");
        }
        if !used_names.insert(path.to_string_lossy().to_lowercase()) {
            return invalid("duplicate name, ignoring case");
        }
        let (directory, mut file) = match self.create(&path) {
            Ok(created) => created,
            Err(Errno::EXIST | Errno::NOTDIR | Errno::ISDIR | Errno::LOOP) => {
                return invalid("the path is already in use");
            }
            Err(error) => return Err(EntryError::Disk(error.into())),
        };
        let copied = entry.copy_to(&mut file, u64::MAX);
        if copied.is_err() {
            remove(&directory, &path).map_err(|error| EntryError::Disk(error.into()))?;
        }
        copied.map(Some)
    }

    /// Creates a file and its parent directories. Returns the innermost directory with it.
    fn create(&self, path: &Path) -> Result<(OwnedFd, File), Errno> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut directory = openat(&self.root, ".", flags, Mode::empty())?;
        for part in path.parent().into_iter().flat_map(Path::components) {
            match mkdirat(&directory, part.as_os_str(), Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error),
            }
            directory = openat(&directory, part.as_os_str(), flags, Mode::empty())?;
        }
        if self.existing == ExistingFile::Replace {
            remove(&directory, path)?;
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let name = path.file_name().unwrap_or_default();
        let file = openat(&directory, name, flags, Mode::from_raw_mode(0o666))?;
        Ok((directory, file.into()))
    }

    /// Whether a picture with this name was extracted.
    fn has(&self, image: &str) -> bool {
        safe_relative_path(&format!("{IMAGES_PREFIX}{image}"))
            .is_ok_and(|path| statat(&self.root, path, AtFlags::SYMLINK_NOFOLLOW).is_ok())
    }

    /// Writes the metadata rows with the paths of their pictures.
    fn write_rows(&self, archive: &Path, folder: &Path) -> Result<PathBuf, Failure> {
        let target = folder.join(ROWS_FILE);
        let refused = |error: io::Error| disk_failure(&target, &error);
        let (_, file) = self.create(Path::new(ROWS_FILE)).map_err(|error| refused(error.into()))?;
        let mut out = io::BufWriter::new(file);
        write_joined_rows(archive, |image| self.has(image), &mut out)?;
        out.flush().map_err(refused)?;
        Ok(target)
    }
}

/// Removes a file if it exists; of a link, only the link itself.
fn remove(directory: &OwnedFd, path: &Path) -> Result<(), Errno> {
    match unlinkat(directory, path.file_name().unwrap_or_default(), AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error),
    }
}

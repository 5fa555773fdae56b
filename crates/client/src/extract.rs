//! Extracts regular files with safe names below one folder. The folder is opened once, so that neither a name nor a
//! link can lead elsewhere.

use std::{
    collections::HashSet,
    fs::{self, DirBuilder, File},
    io::{self, Write as _},
    os::{fd::OwnedFd, unix::fs::DirBuilderExt as _},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, Mode, OFlags, mkdirat, open, openat, statat, unlinkat},
    io::Errno,
};

use crate::{
    bounded_unpack::{
        ArchiveEntry, ArchiveError, EntryError, IMAGES_PREFIX, NameHasher, for_each_entry,
        into_failure,
    },
    inspect::write_joined_rows,
    part_file::{ExistingFile, check_room, disk_failure, local_failure},
};
use tessera_model::{Extraction, Failure, local_files::safe_relative_path};

const ROWS_FILE: &str = "rows.jsonl";

/// Extracts `archive` into `folder`, which is created if it is missing. Blocks on the disk. With `join`, writes each
/// row of the metadata to `rows.jsonl` as a JSON object with the path of its picture as `_path`, or null. Fails before
/// anything is written if a file exists and is kept, or if there is too little disk space.
pub fn extract(
    archive: &Path,
    folder: &Path,
    existing: ExistingFile,
    join: bool,
) -> Result<Extraction, Failure> {
    let open_archive = || File::open(archive).map_err(|error| disk_failure(archive, &error));
    let size = check_and_measure(open_archive()?, folder, existing, join)
        .map_err(|error| into_failure(archive, error))?;
    let target =
        TargetFolder::open(folder, existing).map_err(|error| disk_failure(folder, &error))?;
    check_room(&target.root, folder, size)?;
    let mut extraction = target
        .extract_all(open_archive()?, folder)
        .map_err(|error| into_failure(archive, error))?;
    if join {
        // The extracted and rejected entries are reported even if the rows cannot be written.
        match target.write_rows(archive, folder) {
            Ok(file) => extraction.index_file = Some(file),
            Err(failure) => extraction.index_failure = Some(failure),
        }
    }
    Ok(extraction)
}

/// Checks all entries before anything is written, and returns their total size.
fn check_and_measure(
    file: File,
    folder: &Path,
    existing: ExistingFile,
    join: bool,
) -> Result<u64, ArchiveError> {
    let require_free = |path: &Path| {
        if existing == ExistingFile::Keep && fs::symlink_metadata(path).is_ok() {
            let failure = local_failure(path, "already exists and is not overwritten");
            return Err(failure.with_remedy("Choose another folder, or move the old file away"));
        }
        Ok(())
    };
    if join {
        require_free(&folder.join(ROWS_FILE))?;
    }
    let mut size = 0_u64;
    for_each_entry(file, |entry| {
        if let Ok(path) = safe_relative_path(&entry.name)
            && !entry.is_dir()
        {
            size = size.saturating_add(entry.size());
            require_free(&folder.join(path))?;
        }
        Ok(())
    })?;
    Ok(size)
}

/// A folder that is kept open. All paths are relative to it, and no link is followed.
struct TargetFolder {
    root: OwnedFd,
    existing: ExistingFile,
}

impl TargetFolder {
    fn open(folder: &Path, existing: ExistingFile) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let root = open(folder, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self { root, existing })
    }

    fn extract_all(&self, archive: File, folder: &Path) -> Result<Extraction, ArchiveError> {
        let mut extraction = Extraction { folder: folder.to_owned(), ..Extraction::default() };
        let mut used_names = UsedNames::default();
        for_each_entry(archive, |entry| {
            let name = entry.name.clone();
            match self.extract_entry(entry, &mut used_names) {
                Ok(None) => {}
                Ok(Some(bytes)) => {
                    extraction.files += 1;
                    extraction.bytes += bytes;
                }
                Err(EntryError::Invalid(reason)) => {
                    extraction.rejected_entries.add(&format!("{name} ({reason})"));
                }
                Err(EntryError::Disk(error)) => Err(disk_failure(&folder.join(name), &error))?,
            }
            Ok(())
        })?;
        Ok(extraction)
    }

    /// Writes an entry and returns its size. Returns `None` for a directory, because directories are created with their
    /// files.
    fn extract_entry(
        &self,
        entry: ArchiveEntry<'_>,
        used_names: &mut UsedNames,
    ) -> Result<Option<u64>, EntryError> {
        let invalid = |reason: &str| EntryError::Invalid(reason.to_owned());
        let path = safe_relative_path(&entry.name).map_err(invalid)?;
        if entry.is_dir() {
            return Ok(None);
        }
        if path.as_os_str().is_empty() {
            return Err(invalid("no name"));
        }
        if !entry.is_plain() {
            return Err(invalid("not a regular file"));
        }
        if !used_names.insert(&path) {
            return Err(invalid("duplicate name, ignoring case"));
        }
        let (directory, mut file) = match self.create(&path) {
            Ok(created) => created,
            Err(Errno::EXIST | Errno::NOTDIR | Errno::ISDIR | Errno::LOOP) => {
                return Err(invalid("the path is already in use"));
            }
            Err(error) => return Err(EntryError::Disk(error.into())),
        };
        let copied = entry.copy_to(&mut file, u64::MAX);
        if copied.is_err() {
            remove(&directory, &path).map_err(|error| EntryError::Disk(error.into()))?;
        }
        copied.map(Some)
    }

    /// Creates a file and its parent directories. Returns the file with the innermost directory.
    fn create(&self, path: &Path) -> Result<(OwnedFd, File), Errno> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut directory = openat(&self.root, ".", flags, Mode::empty())?;
        for part in path.parent().into_iter().flat_map(Path::components) {
            match mkdirat(&directory, part.as_os_str(), Mode::from_raw_mode(0o700)) {
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
        let file = openat(&directory, name, flags, Mode::from_raw_mode(0o600))?;
        Ok((directory, file.into()))
    }

    /// Whether a picture with this name was extracted.
    fn has(&self, image: &str) -> bool {
        safe_relative_path(&format!("{IMAGES_PREFIX}{image}"))
            .is_ok_and(|path| statat(&self.root, path, AtFlags::SYMLINK_NOFOLLOW).is_ok())
    }

    fn write_rows(&self, archive: &Path, folder: &Path) -> Result<PathBuf, Failure> {
        let target = folder.join(ROWS_FILE);
        let refused = |error: io::Error| disk_failure(&target, &error);
        let (_, file) = self.create(Path::new(ROWS_FILE)).map_err(|error| refused(error.into()))?;
        let mut out = io::BufWriter::new(file);
        write_joined_rows(archive, |image| self.has(image), &mut out, &target)?;
        out.flush().map_err(refused)?;
        Ok(target)
    }
}

/// The names of extracted files in lower case, for case-insensitive file systems.
#[derive(Default)]
struct UsedNames {
    hasher: NameHasher,
    hashes: HashSet<u64>,
}

impl UsedNames {
    /// Records a name. Returns whether the name was unused.
    fn insert(&mut self, path: &Path) -> bool {
        self.hashes.insert(self.hasher.hash(&path.to_string_lossy().to_lowercase()))
    }
}

/// Removes a file if it exists. Removes only the link if the path is a link.
fn remove(directory: &OwnedFd, path: &Path) -> Result<(), Errno> {
    match unlinkat(directory, path.file_name().unwrap_or_default(), AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error),
    }
}

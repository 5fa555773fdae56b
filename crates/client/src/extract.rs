//! Extracts regular files with safe names below one folder. The folder is opened once, so that neither a name nor a
//! link can lead elsewhere.

use std::{
    cell::RefCell,
    collections::{HashSet, hash_map::RandomState},
    fs::{self, File},
    hash::BuildHasher as _,
    io::{self, Write as _},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, Mode, OFlags, mkdirat, open, openat, renameat, unlinkat},
    io::Errno,
};
use serde_json::Value;
use tessera_files::TEMPORARY_PREFIX;
use walkdir::{DirEntry, WalkDir};

use crate::{
    bounded_unpack::{
        ArchiveEntry, ArchiveError, EntryError, IMAGES_PREFIX, for_each_entry, into_failure,
    },
    image_folder_row::image_folder_row,
    inspect::{export_format, write_joined_rows},
    local_files::{Originals, PictureSharing},
    part_file::{ExistingFile, check_room, disk_failure, local_failure},
};
use tessera_model::{
    Extraction, Failure, archive_paths::safe_relative_path, export::NameSample,
    file_kind::is_system_entry, text::count_with_noun,
};

const ROWS_FILE: &str = "rows.jsonl";
/// The table of an image folder, and the metadata from which it is made.
const TABLE_FILE: &str = "metadata.jsonl";
const METADATA_FILE: &str = "metadata.json";

#[derive(Clone)]
pub struct ExtractOptions {
    pub existing: ExistingFile,
    /// Whether each row of the metadata is written to `rows.jsonl`, as a JSON object with the path of its picture as
    /// `_path`, or null.
    pub join: bool,
    /// The originals with which pictures share their space, if they are on this machine.
    pub originals: Option<Originals>,
}

impl ExtractOptions {
    /// Returns the options for extracting copies.
    pub fn new(existing: ExistingFile, join: bool) -> Self {
        Self { existing, join, originals: None }
    }
}

/// Extracts `archive` into `folder`, which is created if it is missing. Blocks on the disk. Pictures with a
/// `metadata.json` become an image folder: `metadata.jsonl` is written from it. Fails before anything is written if a
/// file exists and is kept, if the folder has files that an archive with pictures lacks, or if there is too little disk
/// space.
pub fn extract(
    archive: &Path,
    folder: &Path,
    options: &ExtractOptions,
) -> Result<Extraction, Failure> {
    let ExtractOptions { existing, join, originals } = options;
    let (existing, join) = (*existing, *join);
    let open_archive = || File::open(archive).map_err(|error| disk_failure(archive, &error));
    let contents = check_contents(open_archive()?, folder, existing, join)
        .map_err(|error| into_failure(archive, error))?;
    if folder.is_dir() && (contents.has_pictures || contents.has_packed_pictures) {
        contents.require_no_others(archive, folder)?;
    }
    let sharing = match originals {
        Some(originals) if contents.has_pictures => Some(PictureSharing::new(archive, originals)?),
        _ => None,
    };
    let target = TargetFolder::open(folder, existing, sharing)
        .map_err(|error| disk_failure(folder, &error))?;
    // The originals are looked up only if copies of them have no room.
    check_room(folder, contents.size)
        .or_else(|_| check_room(folder, target.missing_room(contents.size)))?;
    let mut extraction = target
        .extract_all(open_archive()?, folder)
        .map_err(|error| into_failure(archive, error))?;
    // The extracted and rejected entries are reported even if the rows cannot be written.
    if contents.has_pictures
        && contents.has_json
        && let Err(failure) = target.write_rows(archive, folder, TABLE_FILE, image_folder_row)
    {
        extraction.index_failure = Some(failure);
    }
    if join {
        match target.write_rows(archive, folder, ROWS_FILE, with_path) {
            Ok(file) => extraction.index_file = Some(file),
            Err(failure) => extraction.index_failure = Some(failure),
        }
    }
    Ok(extraction)
}

fn with_path(mut row: Value, picture: Option<String>) -> Value {
    row["_path"] = picture.into();
    row
}

#[derive(Default)]
struct Contents {
    /// The total size of the entries in bytes.
    size: u64,
    has_pictures: bool,
    /// Whether the metadata is a file that other programs do not read as the table of an image folder.
    has_json: bool,
    /// Whether there are files with several pictures, such as shards.
    has_packed_pictures: bool,
    /// The files that are written.
    names: NameSet,
}

impl Contents {
    /// Refuses a folder with files of another export. Programs would read their pictures and labels as a part of this
    /// export.
    fn require_no_others(&self, archive: &Path, folder: &Path) -> Result<(), Failure> {
        let archive = fs::canonicalize(archive).ok();
        let mut others = NameSample::default();
        let entries = WalkDir::new(folder).sort_by_file_name().into_iter();
        for entry in entries.filter_entry(is_visible) {
            let entry = entry.map_err(|error| disk_failure(folder, &error.into()))?;
            let path = entry.path();
            let name = path.strip_prefix(folder).unwrap_or(path);
            let name = name.to_string_lossy();
            let is_other = path.is_file() && !self.names.contains(&name);
            // The archive itself may be in the folder.
            if is_other && fs::canonicalize(path).ok() != archive {
                others.add(&name);
            }
        }
        if others.count == 0 {
            return Ok(());
        }
        let files = count_with_noun(others.count, "file is", "files are");
        let failure =
            local_failure(folder, &format!("{files} not in the archive: {}", others.listed()));
        Err(failure.with_remedy("Choose another folder, or remove these files"))
    }
}

/// Whether a file or folder could belong to a dataset.
fn is_visible(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    entry.depth() == 0 || !(name.starts_with('.') || is_system_entry(&name))
}

/// Checks all entries before anything is written.
fn check_contents(
    file: File,
    folder: &Path,
    existing: ExistingFile,
    join: bool,
) -> Result<Contents, ArchiveError> {
    let require_free = |path: &Path| {
        if existing == ExistingFile::Keep && fs::symlink_metadata(path).is_ok() {
            let failure = local_failure(path, "already exists and is not overwritten");
            return Err(failure.with_remedy("Choose another folder, or move the old file away"));
        }
        Ok(())
    };
    let mut contents = Contents::default();
    if join {
        require_free(&folder.join(ROWS_FILE))?;
        contents.names.insert(ROWS_FILE);
    }
    for_each_entry(file, |entry| {
        if let Ok(path) = safe_relative_path(&entry.name)
            && !entry.header.is_dir()
        {
            contents.size = contents.size.saturating_add(entry.header.size());
            contents.has_pictures |= path.starts_with(IMAGES_PREFIX);
            contents.has_packed_pictures |= export_format(&entry.name).embeds_images();
            contents.has_json |= path == Path::new(METADATA_FILE);
            contents.names.insert(&path.to_string_lossy());
            require_free(&folder.join(path))?;
        }
        Ok(())
    })?;
    if contents.has_pictures && contents.has_json {
        require_free(&folder.join(TABLE_FILE))?;
        contents.names.insert(TABLE_FILE);
    }
    Ok(contents)
}

/// A folder that is kept open. All paths are relative to it, and no link is followed.
struct TargetFolder<'a> {
    root: OwnedFd,
    /// The name of a file until it is complete.
    temporary: PathBuf,
    /// The paths of the extracted files.
    extracted: RefCell<NameSet>,
    existing: ExistingFile,
    sharing: Option<PictureSharing<'a>>,
}

/// An extracted file.
struct ExtractedFile {
    bytes: u64,
    /// Whether the file shares its space with an original.
    is_shared: bool,
}

impl<'a> TargetFolder<'a> {
    fn open(
        folder: &Path,
        existing: ExistingFile,
        sharing: Option<PictureSharing<'a>>,
    ) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let root = open(folder, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let number = RandomState::new().hash_one(folder);
        let temporary = PathBuf::from(format!("{TEMPORARY_PREFIX}{number:x}"));
        Ok(Self { root, temporary, extracted: RefCell::default(), existing, sharing })
    }

    /// Returns how many of `bytes`, the size of all entries, need room. Another name of an original needs none.
    fn missing_room(&self, bytes: u64) -> u64 {
        let linked = self.sharing.as_ref().map(|sharing| sharing.linkable_bytes(&self.root));
        bytes.saturating_sub(linked.unwrap_or(0))
    }

    fn extract_all(&self, archive: File, folder: &Path) -> Result<Extraction, ArchiveError> {
        let mut extraction = Extraction { folder: folder.to_owned(), ..Extraction::default() };
        let mut used_names = NameSet::default();
        for_each_entry(archive, |entry| {
            let name = entry.name.clone();
            match self.extract_entry(entry, &mut used_names) {
                Ok(None) => {}
                Ok(Some(file)) => {
                    extraction.files += 1;
                    extraction.bytes += file.bytes;
                    extraction.shared_files += u64::from(file.is_shared);
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

    /// Writes an entry. Returns `None` for a directory, because directories are created with their files.
    fn extract_entry(
        &self,
        entry: ArchiveEntry<'_>,
        used_names: &mut NameSet,
    ) -> Result<Option<ExtractedFile>, EntryError> {
        let invalid = |reason: &str| EntryError::Invalid(reason.to_owned());
        let path = safe_relative_path(&entry.name).map_err(invalid)?;
        if entry.header.is_dir() {
            return Ok(None);
        }
        if path.as_os_str().is_empty() {
            return Err(invalid("no name"));
        }
        if !entry.is_plain() {
            return Err(invalid("not a regular file"));
        }
        // Some file systems ignore case.
        if !used_names.insert(&path.to_string_lossy().to_lowercase()) {
            return Err(invalid("duplicate name, ignoring case"));
        }
        let refused = |error| match error {
            Errno::EXIST | Errno::NOTDIR | Errno::ISDIR | Errno::LOOP => {
                invalid("the path is already in use")
            }
            error => EntryError::Disk(error.into()),
        };
        let extracted = self.publish(&path, refused, |directory| {
            let content = (entry.header.size(), entry.header.crc32());
            if let Some(sharing) = &self.sharing
                && sharing.share(&entry.name, content, directory, &self.temporary)
            {
                return Ok(Some(ExtractedFile { bytes: entry.header.size(), is_shared: true }));
            }
            let mut file = create_file(directory, &self.temporary).map_err(refused)?;
            let bytes = entry.copy_to(&mut file, u64::MAX)?;
            Ok(Some(ExtractedFile { bytes, is_shared: false }))
        })?;
        self.extracted.borrow_mut().insert(&path.to_string_lossy());
        Ok(extracted)
    }

    /// Creates the parent directories of a file, and lets `write` create the file with its temporary name there. The
    /// file gets its own name only when it is complete, so that no file is lost for a damaged one.
    fn publish<T, E>(
        &self,
        path: &Path,
        refused: impl Fn(Errno) -> E,
        write: impl FnOnce(&OwnedFd) -> Result<T, E>,
    ) -> Result<T, E> {
        let directory = self.create_directory(path).map_err(&refused)?;
        let name = path.file_name().unwrap_or_default();
        let publish = || {
            if self.existing == ExistingFile::Keep {
                // Not every file system can rename only to a free name.
                create_file(&directory, path)?;
            }
            renameat(&directory, &self.temporary, &directory, name)
        };
        let written = write(&directory).and_then(|it| publish().map(|()| it).map_err(&refused));
        // The temporary name is left after an error. A file that another name of itself replaces has both names.
        remove(&directory, &self.temporary).map_err(refused)?;
        written
    }

    /// Creates the parent directories of a file, and returns the innermost one.
    fn create_directory(&self, path: &Path) -> Result<OwnedFd, Errno> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut directory = openat(&self.root, ".", flags, Mode::empty())?;
        for part in path.parent().into_iter().flat_map(Path::components) {
            match mkdirat(&directory, part.as_os_str(), Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error),
            }
            directory = openat(&directory, part.as_os_str(), flags, Mode::empty())?;
        }
        Ok(directory)
    }

    /// Whether a picture with this name was extracted. A file that was there before is not one of them.
    fn has(&self, image: &str) -> bool {
        safe_relative_path(&format!("{IMAGES_PREFIX}{image}"))
            .is_ok_and(|path| self.extracted.borrow().contains(&path.to_string_lossy()))
    }

    /// Writes the rows of the metadata, each as `convert` makes it of the row and of the path of its picture.
    fn write_rows(
        &self,
        archive: &Path,
        folder: &Path,
        name: &str,
        convert: fn(Value, Option<String>) -> Value,
    ) -> Result<PathBuf, Failure> {
        let target = folder.join(name);
        let refused = |error: Errno| disk_failure(&target, &error.into());
        self.publish(Path::new(name), refused, |directory| {
            let file = create_file(directory, &self.temporary).map_err(refused)?;
            let mut out = io::BufWriter::new(file);
            write_joined_rows(archive, |image| self.has(image), convert, &mut out, &target)?;
            out.flush().map_err(|error| disk_failure(&target, &error))
        })?;
        Ok(target)
    }
}

/// A set of names. An archive can have millions, so only their hashes are in memory. The key of the hashes is random, so
/// that nobody can make an archive whose names collide.
#[derive(Default)]
struct NameSet {
    hasher: RandomState,
    hashes: HashSet<u64>,
}

impl NameSet {
    /// Adds a name. Returns whether the name is new.
    fn insert(&mut self, name: &str) -> bool {
        self.hashes.insert(self.hasher.hash_one(name))
    }

    fn contains(&self, name: &str) -> bool {
        self.hashes.contains(&self.hasher.hash_one(name))
    }
}

pub(super) fn create_file(directory: &OwnedFd, path: &Path) -> Result<File, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let name = path.file_name().unwrap_or_default();
    openat(directory, name, flags, Mode::from_raw_mode(0o666)).map(File::from)
}

/// Removes a file if it exists. Removes only the link if the path is a link.
pub(super) fn remove(directory: &OwnedFd, path: &Path) -> Result<(), Errno> {
    match unlinkat(directory, path.file_name().unwrap_or_default(), AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error),
    }
}

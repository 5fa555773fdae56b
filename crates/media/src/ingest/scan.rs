//! Lists the files below a folder with their sizes and modification times, and compares such listings with the files
//! that are known. Size and time decide which files are read again.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    ffi::{CStr, OsStr, OsString},
    fs::Metadata,
    io,
    os::{
        fd::OwnedFd,
        unix::{ffi::OsStrExt as _, fs::MetadataExt as _},
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, Dir, FileType, statat},
    io::Errno,
};

use super::{EXCLUDED, FolderPatterns, SandboxedDir, sidecar};
use tessera_model::{
    FileKind,
    file_kind::{HIDDEN, UNLISTED, is_system_entry},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStat {
    pub size: u64,
    /// Nanoseconds since 1970, or 0 if the time is unknown. For an object in a bucket, the digits below the second are
    /// derived from its entity tag.
    pub modified: i64,
}

impl FileStat {
    /// The time with which a file is stored that has to be read again. Files do not have this time, so the next
    /// comparison of the folder finds a change. Zero would mean an object of a manifest, which is never compared.
    pub const READ_AGAIN: i64 = -1;

    /// Returns the stat with which a file is stored that the system could not read.
    #[must_use]
    pub fn unread(self) -> Self {
        Self { modified: Self::READ_AGAIN, ..self }
    }

    /// Whether size and time are unknown, as they are for an object in a manifest.
    pub fn is_unknown(self) -> bool {
        self == Self { size: 0, modified: 0 }
    }

    /// Whether a file that was indexed with this stat is unchanged in a scan. A scan may know only the time, or neither
    /// size nor time. A file that was not read counts as changed.
    pub(crate) fn is_unchanged_in(self, scanned: Self) -> bool {
        let is_same = self == scanned
            || scanned.is_unknown()
            || (scanned.size == 0 && scanned.modified == self.modified);
        is_same && self.modified != Self::READ_AGAIN
    }
}

#[derive(Clone, Copy, Debug)]
pub struct KnownFile {
    pub stat: FileStat,
    /// The content hash if the file became a media item, or `None` for a sidecar or a skipped file.
    pub content_hash: Option<[u8; 32]>,
}

impl KnownFile {
    /// Whether the system could not read the file when it was indexed.
    pub fn is_unread(&self) -> bool {
        self.content_hash.is_none() && self.stat == self.stat.unread()
    }
}

/// The folder in which the tags of a dataset are kept. It is not listed, because it is neither media nor skipped.
pub const TAGS_FOLDER: &str = ".tessera";

/// A table that describes the files of a folder.
pub(crate) const METADATA_PARQUET: &str = "metadata.parquet";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScannedFile {
    pub path: PathBuf,
    pub stat: FileStat,
}

/// Whether the name of a file ends like the name of a Parquet file.
pub fn is_parquet(path: &Path) -> bool {
    has_end(path, "parquet")
}

/// Returns the row that a name refers to, or `None` if the name is not the name of a row.
pub(crate) fn row_of(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_str()?;
    let digits = name.split(['-', '.']).next()?;
    digits.parse().ok().filter(|&row| row > 0)
}

/// Whether an indexed file can be a row of a Parquet file that a scan found, and the Parquet file has not changed since
/// it was indexed.
fn is_row_of(parquet: FileStat, indexed: FileStat) -> bool {
    indexed.is_unchanged_in(row_stat(parquet))
}

/// Derives the stat of a row from its Parquet file. The size of a row is unknown until it is read, so a change of the
/// Parquet file counts as a change of all its rows.
pub(crate) fn row_stat(file: FileStat) -> FileStat {
    FileStat { size: 0, modified: file.modified.wrapping_add(file.size.cast_signed()) }
}

/// The result of a scan, ordered by path.
#[derive(Clone, Debug, Default)]
pub struct FolderScan {
    pub files: Vec<ScannedFile>,
    /// Entries that were skipped without being opened (relative path), with the reason.
    pub skipped: Vec<(PathBuf, &'static str)>,
    /// What exists but cannot be read now. The files that are known at these paths, and below them, are kept.
    pub unreadable: BTreeSet<PathBuf>,
}

impl FolderScan {
    /// Returns a scan of files whose sizes and times do not matter.
    pub fn of_paths(paths: impl Iterator<Item = PathBuf>) -> Self {
        let stat = FileStat { size: 0, modified: 0 };
        let files = paths.map(|path| ScannedFile { path, stat }).collect();
        Self { files, ..Self::default() }
    }

    /// Whether a known file is kept although the scan did not find it.
    pub fn keeps(&self, path: &Path) -> bool {
        !self.unreadable.is_empty() && path.ancestors().any(|it| self.unreadable.contains(it))
    }
}

/// Lists the files of a folder. Skips hidden entries, entries of systems, links that lead out of the folder or to
/// folders, special files, folders that cannot be listed, and what `patterns` exclude. Fails if the folder itself
/// cannot be listed.
pub fn scan_folder(folder: &SandboxedDir, patterns: &FolderPatterns) -> io::Result<FolderScan> {
    let mut scan =
        Scan { root: folder, patterns, found: FolderScan::default(), targets: HashSet::new() };
    scan.add_below(Path::new(""), list(&folder.open_folder(Path::new(""))?)?, 0);
    let Scan { mut found, targets, .. } = scan;
    // Caches of model hubs keep files under the name of their hash, and a link gives such a file its name.
    let has_kind = |path: &Path| FileKind::from_name(&path.to_string_lossy()) != FileKind::Other;
    found.files.retain(|file| has_kind(&file.path) || !targets.contains(&file.path));
    Ok(found)
}

/// Maximum depth of folders, which bounds the stack.
const MAX_DEPTH: usize = 256;

struct Scan<'a> {
    root: &'a SandboxedDir,
    patterns: &'a FolderPatterns,
    found: FolderScan,
    /// The files to which links lead.
    targets: HashSet<PathBuf>,
}

impl Scan<'_> {
    /// Lists the files of one folder below the root. The folder is opened below the root, so that a folder that has
    /// just become a link leads nowhere.
    fn list_below(&mut self, relative: &Path, depth: usize) {
        if depth > MAX_DEPTH {
            self.found.skipped.push((relative.to_owned(), "nested too deeply"));
            return;
        }
        match self.root.open_folder(relative).and_then(|folder| list(&folder)) {
            Ok(entries) => self.add_below(relative, entries, depth),
            // The folder was removed or replaced meanwhile.
            Err(cause) if is_absence(&cause) => {}
            Err(_) => self.keep(relative.to_owned(), UNLISTED),
        }
    }

    fn add_below(&mut self, relative: &Path, entries: Vec<(OsString, Entry)>, depth: usize) {
        let has_masks = entries.iter().any(|(name, _)| name == VOC_PICTURES);
        for (name, entry) in entries {
            if name == TAGS_FOLDER {
                continue;
            }
            let path = relative.join(&name);
            let is_mask = has_masks && VOC_MASK_FOLDERS.iter().any(|folder| name == **folder);
            let masks = is_mask.then_some(VOC_MASKS);
            match self.skip_reason(&name, &path, &entry).or(masks) {
                Some(reason) => self.found.skipped.push((path, reason)),
                None => match entry {
                    Entry::Folder => self.list_below(&path, depth + 1),
                    Entry::File(stat) => self.found.files.push(ScannedFile { path, stat }),
                    Entry::Link => self.add_link(path),
                    Entry::Unreadable => self.keep(path, UNREADABLE),
                    Entry::Skipped(reason) => self.found.skipped.push((path, reason)),
                },
            }
        }
    }

    /// Skips a path that cannot be read now, and keeps the known files below it.
    fn keep(&mut self, path: PathBuf, reason: &'static str) {
        self.found.unreadable.insert(path.clone());
        self.found.skipped.push((path, reason));
    }

    fn skip_reason(&self, name: &OsStr, path: &Path, entry: &Entry) -> Option<&'static str> {
        if name.as_encoded_bytes().starts_with(b".") {
            Some(HIDDEN)
        } else if is_system_entry(&name.to_string_lossy())
            || is_photo_previews(path)
            || self.is_recycle_bin(path)
        {
            Some(SYSTEM_ENTRY)
        } else {
            let has_media = || sidecar::has_media(self.root, path);
            let is_folder = matches!(entry, Entry::Folder);
            self.patterns.exclude(path, is_folder, has_media).then_some(EXCLUDED)
        }
    }

    /// Whether a path is the recycle bin of a disk, in which Windows lists the deleted files. A folder of pictures can
    /// have the same name.
    fn is_recycle_bin(&self, path: &Path) -> bool {
        let has_name = ["Recycled", "RECYCLED"].iter().any(|bin| path == Path::new(bin));
        has_name && self.root.open_target(&path.join("INFO2")).is_ok()
    }

    /// Adds the file to which a link leads, under the name of the link.
    fn add_link(&mut self, path: PathBuf) {
        match self.root.open_linked(&path).and_then(|file| file.metadata()) {
            Ok(metadata) => {
                let stat = FileStat { size: metadata.len(), modified: modified_nanos(&metadata) };
                // A target outside the folder is not listed.
                self.targets.extend(self.root.link_target(&path));
                self.found.files.push(ScannedFile { path, stat });
            }
            Err(cause) if is_absence(&cause) => {
                let is_pointer = self.root.leads_to_annex(&path);
                let reason = if is_pointer { ANNEX_POINTER } else { SYMBOLIC_LINK };
                self.found.skipped.push((path, reason));
            }
            Err(_) => self.keep(path, UNREADABLE),
        }
    }
}

/// Whether a path is the folder of previews in a library of macOS Photos.
fn is_photo_previews(path: &Path) -> bool {
    let library = path.parent().and_then(Path::parent).filter(|_| path.ends_with(PHOTO_PREVIEWS));
    library.is_some_and(|it| it == Path::new("") || has_end(it, "photoslibrary"))
}

fn has_end(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case(extension))
}

/// The folder of previews in a library of macOS Photos.
const PHOTO_PREVIEWS: &str = "resources/derivatives";

enum Entry {
    Folder,
    File(FileStat),
    Link,
    /// An entry whose kind the system cannot read.
    Unreadable,
    /// The reason for skipping the entry.
    Skipped(&'static str),
}

/// Lists the entries of an open folder, ordered by name.
fn list(folder: &OwnedFd) -> io::Result<Vec<(OsString, Entry)>> {
    let mut entries = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if ![c".", c".."].contains(&name)
            && let Some(found) = examine(folder, name)?
        {
            entries.push((OsStr::from_bytes(name.to_bytes()).to_owned(), found));
        }
    }
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(entries)
}

/// Returns what an entry of a folder is, or `None` if it was removed meanwhile. Fails if the folder may not be entered.
fn examine(folder: &OwnedFd, name: &CStr) -> io::Result<Option<Entry>> {
    let stat = match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(None),
        Err(cause @ Errno::ACCESS) => return Err(cause.into()),
        Err(_) => return Ok(Some(Entry::Unreadable)),
    };
    Ok(Some(match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => Entry::Folder,
        FileType::Symlink => Entry::Link,
        FileType::RegularFile => {
            let size = u64::try_from(stat.st_size).unwrap_or(0);
            let modified = nanos_since_1970(stat.st_mtime.into(), stat.st_mtime_nsec.into());
            Entry::File(FileStat { size, modified })
        }
        _ => Entry::Skipped("not a regular file"),
    }))
}

/// Whether an error says that there is no file or folder of this dataset at a path. Any other error says only that it
/// cannot be read now.
fn is_absence(cause: &io::Error) -> bool {
    Errno::from_io_error(cause)
        .is_none_or(|cause| [Errno::NOENT, Errno::NOTDIR, Errno::LOOP].contains(&cause))
}

const UNREADABLE: &str = "cannot be read";

/// The folder of the pictures of Pascal VOC, and the folders beside it, whose pictures are masks.
const VOC_PICTURES: &str = "JPEGImages";
const VOC_MASK_FOLDERS: [&str; 2] = ["SegmentationClass", "SegmentationObject"];
/// The reason for skipping a folder of masks.
const VOC_MASKS: &str = "masks of Pascal VOC, which are not read";

/// The reason for skipping a link that leads out of the folder, to a folder, or nowhere.
pub const SYMBOLIC_LINK: &str = "a symbolic link that does not lead to a file of the folder";
/// The reason for skipping a link or a file in the place of a file that is in the annex of another machine.
pub const ANNEX_POINTER: &str = "a git-annex pointer instead of the file; run: git annex get";
/// The reason for skipping what systems and programs keep for themselves.
pub const SYSTEM_ENTRY: &str = "thumbnails, deleted files or data of a system or program";

/// Returns the time of the last change in nanoseconds since 1970, or 0 if the file system has no modification times.
pub(super) fn modified_nanos(metadata: &Metadata) -> i64 {
    nanos_since_1970(metadata.mtime().into(), metadata.mtime_nsec().into())
}

pub(crate) const NANOS_PER_SECOND: i64 = 1_000_000_000;

fn nanos_since_1970(seconds: i128, nanos: i128) -> i64 {
    let nanos = seconds * 1_000_000_000 + nanos;
    i64::try_from(nanos.clamp(i64::MIN.into(), i64::MAX.into())).unwrap_or_default()
}

/// A file to open, with its content hash if known.
pub type FileToExtract = (ScannedFile, Option<[u8; 32]>);

#[derive(Clone, Debug, Default)]
pub struct FolderChanges {
    /// Files that are new or modified.
    pub added_or_modified: Vec<FileToExtract>,
    pub removed: Vec<PathBuf>,
}

impl FolderChanges {
    pub fn is_empty(&self) -> bool {
        self.added_or_modified.is_empty() && self.removed.is_empty()
    }
}

/// Compares a scan with the known files by size and time, so that unchanged files are not opened.
pub fn diff(scan: &FolderScan, mut known: BTreeMap<PathBuf, KnownFile>) -> FolderChanges {
    let mut changes = FolderChanges::default();
    for file in &scan.files {
        match known.remove(&file.path) {
            Some(old) if old.stat.is_unchanged_in(file.stat) => {}
            old => {
                let content_hash = old.and_then(|old| old.content_hash);
                changes.added_or_modified.push((file.clone(), content_hash));
            }
        }
    }
    changes.removed = known.into_keys().filter(|path| !scan.keeps(path)).collect();
    changes
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListingComparison {
    Same,
    Different,
    /// The listing is not in the byte order of the paths. Not every service lists objects in this order.
    Unordered,
}

/// Compares the parts of a listing with the known files. Both must be in the byte order of their paths. The comparison
/// stops at the first difference and keeps only one part in memory, so that its memory does not depend on the size of
/// the listing.
pub fn compare_listing<E>(
    parts: impl Iterator<Item = Result<Vec<ScannedFile>, E>>,
    mut known: impl Iterator<Item = Result<(PathBuf, KnownFile), E>>,
    is_readable: impl Fn(&Path) -> bool,
) -> Result<ListingComparison, E> {
    let mut last = PathBuf::new();
    let mut tables = HashMap::new();
    for part in parts {
        let part = part?;
        for file in &part {
            if bytes(&file.path) <= bytes(&last) {
                return Ok(ListingComparison::Unordered);
            }
            last.clone_from(&file.path);
        }
        for file in part {
            if is_parquet(&file.path) {
                tables.insert(file.path.clone(), file.stat);
            }
            let known = next_object(&mut known, &tables)?;
            let is_known = known.is_some_and(|(path, known)| {
                // A file that could not be read counts only if it can be read now. Otherwise it would start an indexing
                // at each comparison.
                let is_unread = known.stat.modified == FileStat::READ_AGAIN;
                path == file.path
                    && (known.stat.is_unchanged_in(file.stat) || (is_unread && !is_readable(&path)))
            });
            if !is_known {
                return Ok(ListingComparison::Different);
            }
        }
    }
    let is_same = next_object(&mut known, &tables)?.is_none();
    Ok(if is_same { ListingComparison::Same } else { ListingComparison::Different })
}

/// Returns the next known file that is an object. Images in an unchanged Parquet file are not objects.
fn next_object<E>(
    known: &mut impl Iterator<Item = Result<(PathBuf, KnownFile), E>>,
    tables: &HashMap<PathBuf, FileStat>,
) -> Result<Option<(PathBuf, KnownFile)>, E> {
    for file in known {
        let (path, file) = file?;
        let table = path.parent().and_then(|parent| tables.get(parent));
        let is_row =
            row_of(&path).is_some() && table.is_some_and(|table| is_row_of(*table, file.stat));
        if !is_row {
            return Ok(Some((path, file)));
        }
    }
    Ok(None)
}

/// Returns the bytes of a path, by which listings and the store are ordered. Comparing paths themselves would compare
/// them segment by segment.
fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

//! Checks local media before they are sent, because one unreadable file could make the whole upload fail. This file
//! collects files, reads the headers of pictures, and counts the entries of archives up to a limit of unpacked bytes.

use std::{
    collections::{HashMap, HashSet},
    fs::{self, File, Metadata},
    io::{self, BufReader, Read},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    time::SystemTime,
};

use glob::Pattern;
use walkdir::{DirEntry, WalkDir};
use zip::{
    CompressionMethod,
    read::{Config, ZipFileEntry},
    result::ZipError,
    unstable::read::ZipIterable,
};

use crate::multipart::escape_file_name;
use tessera_compression::Compression;
use tessera_model::{
    Failure, FileKind, MediaSource, Preflight, SafeText,
    file_kind::is_system_entry,
    ingest::{LocalFile, StorageKind, UNDOCUMENTED_ARCHIVE_SUFFIXES, UnreadableFile},
    text::count_with_noun,
};
use tessera_picture::{PictureFormat, file_kind};

/// Checks a source as far as this machine can see it. Reads names and headers, and blocks on the disk.
pub fn preflight(source: &MediaSource) -> Result<Preflight, Failure> {
    match source {
        MediaSource::Files(paths) => {
            let (_, mut preflight) = collect_files(paths, None);
            if preflight.is_empty() {
                preflight.warnings.push(SafeText::detail("no readable media found"));
            }
            Ok(preflight)
        }
        MediaSource::Archive(path) => match check_archive(path) {
            Ok(check) => Ok(check.preflight),
            Err(reason) => Err(Failure::local(format!("{}: {reason}", path.display()))
                .with_remedy("Choose another archive")),
        },
        MediaSource::Storage(uri) => match StorageKind::parse(uri) {
            Ok(StorageKind::Folder) => {
                Ok(with_warning("everything in this storage folder is added"))
            }
            Ok(StorageKind::Manifest) => Ok(with_warning("a manifest: all listed files are added")),
            Ok(StorageKind::Object) => Ok(with_warning(
                "neither a folder nor a manifest (.csv, .parquet, .txt): the service may refuse it",
            )),
            Err(invalid) => Err(Failure::local(invalid.to_string())),
        },
        MediaSource::ServerPath(_) => {
            Ok(with_warning("the pipeline resolves the path, so it cannot be checked locally"))
        }
    }
}

fn with_warning(warning: &str) -> Preflight {
    Preflight { warnings: vec![SafeText::detail(warning)], ..Preflight::default() }
}

/// The files that an upload sends, and the result of their check.
pub struct LocalFiles {
    /// The files in the order in which they are sent.
    pub files: Vec<LocalFile>,
    pub preflight: Preflight,
}

/// Finds the files to send. Inside folders, only files that match `glob` count. Blocks on the disk.
pub fn files_to_send(paths: &[PathBuf], glob: Option<&Pattern>) -> LocalFiles {
    let (files, preflight) = collect_files(paths, glob);
    let to_local = |file: UploadFile| LocalFile { path: file.path, bytes: file.fingerprint.bytes };
    LocalFiles { files: files.into_iter().map(to_local).collect(), preflight }
}

/// The number of bytes that contain the header of most pictures.
const HEADER_BYTES: u64 = 256 << 10;
/// The size of the largest picture that is read completely to find its header.
const MAX_HEADER_BYTES: u64 = 64 << 20;

#[derive(Clone, Debug)]
pub(super) struct UploadFile {
    pub path: PathBuf,
    /// The name in the form: escaped for a part header, and unique.
    pub name: String,
    pub fingerprint: FileFingerprint,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileFingerprint {
    pub bytes: u64,
    modified: Option<SystemTime>,
    inode: u64,
}

impl FileFingerprint {
    pub(super) fn of(metadata: &Metadata) -> Self {
        Self { bytes: metadata.len(), modified: metadata.modified().ok(), inode: metadata.ino() }
    }
}

/// Checks all files in and below `paths`. Hidden files and links inside folders are skipped, but a path that is given
/// explicitly may be hidden or a link. Inside folders, only files that match `glob` count. A pattern with a slash is
/// matched against the relative path, any other pattern against the name.
pub(super) fn collect_files(
    paths: &[PathBuf],
    glob: Option<&Pattern>,
) -> (Vec<UploadFile>, Preflight) {
    let mut collector = FileCollector { glob, ..FileCollector::default() };
    for path in paths {
        if path.is_dir() {
            collector.preflight.folders.push(path.clone());
            collector.walk(path);
        } else {
            collector.add_file(path, true);
        }
    }
    (collector.files, collector.preflight)
}

#[derive(Default)]
struct FileCollector<'a> {
    glob: Option<&'a Pattern>,
    files: Vec<UploadFile>,
    /// The real paths of the files that were checked.
    checked: HashSet<PathBuf>,
    /// The names in use, with the last number tried for each.
    names: HashMap<String, u64>,
    preflight: Preflight,
}

impl FileCollector<'_> {
    fn walk(&mut self, folder: &Path) {
        let visible = |entry: &DirEntry| {
            let name = entry.file_name().to_string_lossy();
            entry.depth() == 0 || !(name.starts_with('.') || is_system_entry(&name))
        };
        for entry in WalkDir::new(folder).sort_by_file_name().into_iter().filter_entry(visible) {
            match entry {
                Ok(entry) if entry.file_type().is_dir() => {}
                Ok(entry) if !self.matches_glob(folder, entry.path()) => {}
                Ok(entry) if entry.path_is_symlink() => self.preflight.skipped += 1,
                Ok(entry) => self.add_file(entry.path(), false),
                Err(error) => {
                    let path = error.path().unwrap_or(folder).to_owned();
                    self.preflight.add_unreadable(&path.to_string_lossy(), &error.to_string());
                }
            }
        }
    }

    fn matches_glob(&self, folder: &Path, path: &Path) -> bool {
        let Some(glob) = self.glob else { return true };
        if glob.as_str().contains('/') {
            glob.matches_path(path.strip_prefix(folder).unwrap_or(path))
        } else {
            glob.matches_path(Path::new(path.file_name().unwrap_or_default()))
        }
    }

    /// Checks one file, unless it was checked before under any path. A file that is not media is an error only if it was
    /// given explicitly.
    fn add_file(&mut self, path: &Path, named: bool) {
        let kind = file_kind(path);
        if !named && !kind.is_media() {
            self.preflight.skipped += 1;
            return;
        }
        if !self.checked.insert(fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())) {
            return;
        }
        let (checked, count) = match kind {
            FileKind::Video => (check_file(path), &mut self.preflight.videos),
            _ => (check_picture(path), &mut self.preflight.images),
        };
        match checked {
            Ok(fingerprint) => {
                *count += 1;
                self.preflight.bytes += fingerprint.bytes;
                let name = self.unique_name(path);
                self.files.push(UploadFile { path: path.to_owned(), name, fingerprint });
            }
            Err(reason) => self.preflight.add_unreadable(&path.to_string_lossy(), &reason),
        }
    }

    fn unique_name(&mut self, path: &Path) -> String {
        let raw = path.file_name().unwrap_or_default().to_string_lossy();
        let name = escape_file_name(&raw);
        // The extension starts with its dot, and is empty for a name without one.
        let (stem, extension) = name.split_at(name.rfind('.').unwrap_or(name.len()));
        let mut unique = name.clone();
        let mut number = self.names.get(&name).copied().unwrap_or(1);
        while self.names.contains_key(&unique) {
            number += 1;
            unique = format!("{stem}-{number}{extension}");
        }
        self.names.insert(unique.clone(), 1);
        self.names.insert(name, number);
        unique
    }
}

/// Checks a file. The type is checked before the file is opened, because reading a pipe would never end.
pub(super) fn check_file(path: &Path) -> Result<FileFingerprint, String> {
    let metadata = fs::metadata(path).map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("not a regular file".to_owned());
    }
    if metadata.len() == 0 {
        return Err("the file is empty".to_owned());
    }
    File::open(path).map_err(|error| error.to_string())?;
    Ok(FileFingerprint::of(&metadata))
}

fn check_picture(path: &Path) -> Result<FileFingerprint, String> {
    let fingerprint = check_file(path)?;
    let to_text = |error: io::Error| error.to_string();
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(to_text)?;
    let mut file = file.take(HEADER_BYTES);
    file.read_to_end(&mut bytes).map_err(to_text)?;
    // Pictures in less common formats are accepted as they are, because their size may be anywhere in the file, or they
    // cannot be decoded here.
    if PictureFormat::detect(&bytes).is_some_and(|format| !format.is_common()) {
        return Ok(fingerprint);
    }
    let mut size = tessera_picture::decode::size(&bytes);
    if size.is_err() && (HEADER_BYTES..=MAX_HEADER_BYTES).contains(&fingerprint.bytes) {
        file.set_limit(MAX_HEADER_BYTES);
        file.read_to_end(&mut bytes).map_err(to_text)?;
        size = tessera_picture::decode::size(&bytes);
    }
    size.map(|_| fingerprint).map_err(|error| error.to_string())
}

/// The number of unpacked bytes of a tar archive in which names are searched.
const MAX_TAR_BYTES: u64 = 2 << 30;

pub(super) struct ArchiveCheck {
    pub file: UploadFile,
    pub preflight: Preflight,
}

#[derive(Default)]
struct EntryCounts {
    preflight: Preflight,
    /// The number of archives in the archive, whose members are not counted.
    archives: u64,
    /// Whether the archive contains nothing, not even a folder.
    is_empty: bool,
    /// Whether the counting stopped before the end of the archive.
    is_truncated: bool,
}

pub(super) fn check_archive(path: &Path) -> Result<ArchiveCheck, String> {
    let fingerprint = check_file(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let file = File::open(path).map_err(|error| error.to_string())?;
    let (_, end) = name.rsplit_once('.').unwrap_or_default();
    let count_compressed = |compression: Compression, file| {
        count_tar_entries(compression.reader(BufReader::new(file)))
    };
    let (suffix, count) = match end {
        "zip" => (".zip", count_zip_entries(file)?),
        "tar" => (".tar", count_tar_entries(BufReader::new(file))?),
        "tgz" => (".tgz", count_compressed(Compression::Gzip, file)?),
        "xz" => (".tar.xz", count_compressed(Compression::Xz, file)?),
        "zst" => (".tar.zst", count_compressed(Compression::Zstandard, file)?),
        _ => (".tar.gz", count_compressed(Compression::Gzip, file)?),
    };
    if count.is_empty {
        return Err("the archive is empty".to_owned());
    }
    if count.preflight.is_empty()
        && let Some(UnreadableFile { name, reason }) = count.preflight.unreadable_files.first()
    {
        return Err(format!("nothing in it can be unpacked: {name} ({reason})"));
    }
    let mut warnings = Vec::new();
    if UNDOCUMENTED_ARCHIVE_SUFFIXES.contains(&suffix) {
        warnings.push(format!("the API does not document {suffix}; prefer .tar.gz"));
    }
    if count.archives > 0 {
        let archives = count_with_noun(count.archives, "archive", "archives");
        warnings.push(format!(
            "the archive contains {archives}, whose media are not counted; a local service unpacks tar archives"
        ));
    } else if count.preflight.is_empty() {
        warnings.push("no file in the archive has the name of an image or video".to_owned());
    }
    if count.is_truncated {
        warnings.push("too large to count completely; the archive contains more".to_owned());
    }
    Ok(ArchiveCheck {
        file: UploadFile { path: path.to_owned(), name: format!("media{suffix}"), fingerprint },
        preflight: Preflight {
            bytes: fingerprint.bytes,
            warnings: warnings.iter().map(|warning| SafeText::detail(warning)).collect(),
            ..count.preflight
        },
    })
}

/// The reason why no service could unpack a member of a ZIP archive.
fn unpackable_reason(entry: &ZipFileEntry<'_>) -> Option<String> {
    if entry.encrypted() {
        return Some("encrypted: the service could not open it".to_owned());
    }
    let known = [
        CompressionMethod::Stored,
        CompressionMethod::Deflated,
        CompressionMethod::DEFLATE64,
        CompressionMethod::BZIP2,
        CompressionMethod::LZMA,
        CompressionMethod::XZ,
        CompressionMethod::ZSTD,
    ];
    let method = entry.compression();
    (!known.contains(&method))
        .then(|| format!("compressed with {method}: compress it with deflate"))
}

impl EntryCounts {
    fn add(&mut self, name: &str) {
        let count = match FileKind::from_name(name) {
            FileKind::Picture => &mut self.preflight.images,
            FileKind::Video => &mut self.preflight.videos,
            FileKind::Archive => &mut self.archives,
            FileKind::Sidecar | FileKind::Other => &mut self.preflight.skipped,
        };
        *count += 1;
    }
}

fn count_zip_entries(file: File) -> Result<EntryCounts, String> {
    let invalid = |error: ZipError| format!("not a ZIP archive: {error}");
    // The entries are read one by one, because all names together could take any amount of memory.
    let mut archive =
        ZipIterable::try_new(BufReader::new(file), Config::default()).map_err(invalid)?;
    let mut count = EntryCounts { is_empty: archive.is_empty(), ..EntryCounts::default() };
    for entry in archive.files().map_err(invalid)? {
        let entry = entry.map_err(|error| format!("damaged: {error}"))?;
        let name = String::from_utf8_lossy(entry.name_raw());
        match unpackable_reason(&entry).filter(|_| entry.is_file()) {
            Some(reason) => count.preflight.add_unreadable(&name, &reason),
            None if entry.is_file() => count.add(&name),
            None => {}
        }
    }
    Ok(count)
}

fn count_tar_entries(content: impl Read) -> Result<EntryCounts, String> {
    let damaged = |error: io::Error| format!("not a tar archive, or damaged: {error}");
    let mut archive = tar::Archive::new(content.take(MAX_TAR_BYTES));
    let mut count = EntryCounts { is_empty: true, ..EntryCounts::default() };
    let mut read_error = None;
    for entry in archive.entries().map_err(damaged)? {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                read_error = Some(error);
                break;
            }
        };
        count.is_empty = false;
        if entry.header().entry_type().is_file() {
            count.add(&String::from_utf8_lossy(&entry.path_bytes()));
        }
    }
    // An intact archive also looks truncated if the limit ends the reading.
    count.is_truncated = archive.into_inner().limit() == 0;
    match read_error {
        Some(error) if !count.is_truncated => Err(damaged(error)),
        _ => Ok(count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_become_unique() {
        let mut collector = FileCollector::default();
        let names: std::collections::HashSet<_> = (0..20_000)
            .map(|n| collector.unique_name(Path::new(["a.png", "a-2.png"][n % 2])))
            .collect();
        assert_eq!(names.len(), 20_000);
    }

    #[test]
    fn a_name_without_an_extension_gets_only_a_number() {
        let mut collector = FileCollector::default();
        let names = ["clip", "clip", "a.png", "a.png"].map(|it| collector.unique_name(it.as_ref()));
        assert_eq!(names, ["clip", "clip-2", "a.png", "a-2.png"]);
    }
}

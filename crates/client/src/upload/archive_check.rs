//! Checks an archive before it is sent: only names are read, and the unpacked size is bounded.

use std::{
    fs::File,
    io::{self, BufReader, Read},
    path::Path,
};

use tessera_compression::Compression;
use zip::{read::Config, result::ZipError, unstable::read::ZipIterable};

use super::local_files::{UploadFile, check_file};
use tessera_model::{FileKind, Preflight, SafeText, ingest::UNDOCUMENTED_ARCHIVE_SUFFIXES};

/// Unpacked bytes of a tar archive that are searched for names.
const MAX_TAR_BYTES: u64 = 2 << 30;

pub(super) struct ArchiveCheck {
    pub file: UploadFile,
    pub preflight: Preflight,
}

#[derive(Default)]
struct EntryCounts {
    preflight: Preflight,
    /// Whether the archive contains nothing, not even a folder.
    is_empty: bool,
    encrypted: bool,
    /// Whether the end was not reached.
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
    if count.encrypted {
        return Err("encrypted: the service could not open it".to_owned());
    }
    if count.is_empty {
        return Err("the archive is empty".to_owned());
    }
    let mut warnings = Vec::new();
    if UNDOCUMENTED_ARCHIVE_SUFFIXES.contains(&suffix) {
        warnings.push(format!("the interface does not document {suffix}; prefer .tar.gz"));
    }
    if count.preflight.is_empty() {
        warnings.push("the archive contains no images or videos".to_owned());
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

impl EntryCounts {
    fn add(&mut self, name: &str) {
        let count = match FileKind::from_name(name) {
            FileKind::Picture => &mut self.preflight.images,
            FileKind::Video => &mut self.preflight.videos,
            FileKind::Sidecar | FileKind::Archive | FileKind::Other => &mut self.preflight.skipped,
        };
        *count += 1;
    }
}

fn count_zip_entries(file: File) -> Result<EntryCounts, String> {
    let invalid = |error: ZipError| format!("not a ZIP archive: {error}");
    // Entry by entry: the names of all could take any amount of memory.
    let mut archive =
        ZipIterable::try_new(BufReader::new(file), Config::default()).map_err(invalid)?;
    let mut count = EntryCounts { is_empty: archive.is_empty(), ..EntryCounts::default() };
    for entry in archive.files().map_err(invalid)? {
        let entry = entry.map_err(|error| format!("damaged: {error}"))?;
        count.encrypted |= entry.encrypted();
        if entry.is_file() {
            count.add(&String::from_utf8_lossy(entry.name_raw()));
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
    // At the limit, an intact archive looks truncated.
    count.is_truncated = archive.into_inner().limit() == 0;
    match read_error {
        Some(error) if !count.is_truncated => Err(damaged(error)),
        _ => Ok(count),
    }
}

//! Lists all files below a folder with size and modification time, without opening them.

use std::{
    fs::Metadata,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use walkdir::{DirEntry, WalkDir};

use crate::file_stat::FileStat;

/// A table that describes the files of a folder.
pub(super) const METADATA_PARQUET: &str = "metadata.parquet";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScannedFile {
    pub path: PathBuf,
    pub stat: FileStat,
}

/// The result of a scan, ordered by path.
#[derive(Clone, Debug, Default)]
pub struct FolderScan {
    pub files: Vec<ScannedFile>,
    /// Entries that were skipped without being opened (relative path), with the reason.
    pub skipped: Vec<(PathBuf, &'static str)>,
}

/// Skips hidden entries, links, special files, and directories that cannot be listed.
pub fn scan_folder(folder: &Path) -> FolderScan {
    let mut scan = FolderScan::default();
    let relative = |path: &Path| path.strip_prefix(folder).unwrap_or(path).to_owned();
    let mut entries = WalkDir::new(folder).min_depth(1).sort_by_file_name().into_iter();
    while let Some(entry) = entries.next() {
        match entry {
            Ok(entry) if entry.file_name().as_encoded_bytes().starts_with(b".") => {
                scan.skipped.push((relative(entry.path()), "hidden"));
                if entry.file_type().is_dir() {
                    entries.skip_current_dir();
                }
            }
            Ok(entry) if entry.file_type().is_dir() => {}
            Ok(entry) => match file_stat(&entry) {
                Ok(stat) => scan.files.push(ScannedFile { path: relative(entry.path()), stat }),
                Err(reason) => scan.skipped.push((relative(entry.path()), reason)),
            },
            Err(cause) => {
                let path = cause.path().map(relative).unwrap_or_default();
                scan.skipped.push((path, "cannot be listed"));
            }
        }
    }
    scan
}

/// Why a link is skipped: it could lead out of the folder.
pub const SYMBOLIC_LINK: &str = "a symbolic link";

fn file_stat(entry: &DirEntry) -> Result<FileStat, &'static str> {
    if entry.file_type().is_symlink() {
        return Err(SYMBOLIC_LINK);
    }
    if !entry.file_type().is_file() {
        return Err("not a regular file");
    }
    let metadata = entry.metadata().map_err(|_| "cannot be read")?;
    Ok(FileStat { size: metadata.len(), modified: modified_nanos(&metadata) })
}

/// Nanoseconds since 1970; 0 if the file system has no modification times.
fn modified_nanos(metadata: &Metadata) -> i64 {
    let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}

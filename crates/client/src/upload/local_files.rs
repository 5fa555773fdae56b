//! Collects the media files to send: one unreadable file could make the whole upload fail.

use std::{
    collections::HashMap,
    fs::{self, File, Metadata},
    io::{self, Read as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    time::SystemTime,
};

use glob::Pattern;
use walkdir::{DirEntry, WalkDir};

use crate::multipart::escape_file_name;
use tessera_model::{FileKind, Preflight, SafeText, ingest::UnreadableFile};
use tessera_picture::PictureFormat;

/// Size that contains the header of most pictures.
const HEADER_BYTES: u64 = 256 << 10;
/// Largest picture that is read completely to find its header.
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

/// Checks all files in and below `paths`. Hidden files and links inside folders are skipped; a path
/// given by name may be either. Inside folders, only files that match `glob` count: by name, or by
/// relative path if the pattern contains a slash.
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
    /// Used names, with the last number tried for each.
    names: HashMap<String, u64>,
    preflight: Preflight,
}

impl FileCollector<'_> {
    fn walk(&mut self, folder: &Path) {
        let visible = |entry: &DirEntry| {
            entry.depth() == 0 || !entry.file_name().as_encoded_bytes().starts_with(b".")
        };
        for entry in WalkDir::new(folder).sort_by_file_name().into_iter().filter_entry(visible) {
            match entry {
                Ok(entry) if entry.file_type().is_dir() => {}
                Ok(entry) if !self.matches_glob(folder, entry.path()) => {}
                Ok(entry) if entry.path_is_symlink() => self.preflight.skipped += 1,
                Ok(entry) => self.add_file(entry.path(), false),
                Err(error) => {
                    let path = error.path().unwrap_or(folder).to_owned();
                    self.add_unreadable(&path, &error.to_string());
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

    /// Checks one file. Inside a folder, a file without a media extension is not an error.
    fn add_file(&mut self, path: &Path, named: bool) {
        let kind = FileKind::from_name(&path.to_string_lossy());
        if !named && !kind.is_media() {
            self.preflight.skipped += 1;
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
            Err(reason) => self.add_unreadable(path, &reason),
        }
    }

    fn add_unreadable(&mut self, path: &Path, reason: &str) {
        self.preflight.unreadable += 1;
        let files = &mut self.preflight.unreadable_files;
        if files.len() < Preflight::MAX_NAMED {
            let name = SafeText::file_name(&path.display().to_string());
            files.push(UnreadableFile { name, reason: SafeText::detail(reason) });
        }
    }

    fn unique_name(&mut self, path: &Path) -> String {
        let raw = path.file_name().unwrap_or_default().to_string_lossy();
        let name = escape_file_name(&raw);
        let (stem, extension) = name.rsplit_once('.').unwrap_or((&name, ""));
        let mut unique = name.clone();
        let mut number = self.names.get(&name).copied().unwrap_or(1);
        while self.names.contains_key(&unique) {
            number += 1;
            unique = format!("{stem}-{number}.{extension}");
        }
        self.names.insert(unique.clone(), 1);
        self.names.insert(name, number);
        unique
    }
}

/// The type is checked before it is opened: a pipe would never end.
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
    // The size of others may be anywhere in the file, or they cannot be decoded here.
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
}

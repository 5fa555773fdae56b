//! What all forms share while a folder is read: its files, bounded reading, and the result.

use std::{io::Read as _, path::Path};

use super::{SidecarData, description::MediaDescription, file_index::FileIndex};
use crate::ingest::SandboxedDir;

/// Largest sidecar that tells of many pictures, in bytes.
pub const MAX_SHARED_SIDECAR_BYTES: u64 = 64 << 20;
/// Largest sidecar of one picture, and largest list of class names, in bytes.
pub const MAX_SINGLE_SIDECAR_BYTES: u64 = 1 << 20;

/// A folder whose sidecars are being read.
pub struct SidecarReader<'a> {
    folder: &'a SandboxedDir,
    /// What lies in it.
    pub files: FileIndex<'a>,
    /// What was found so far.
    pub data: SidecarData,
}

impl<'a> SidecarReader<'a> {
    /// Nothing is read yet.
    #[must_use]
    pub fn new(folder: &'a SandboxedDir, files: FileIndex<'a>) -> Self {
        Self { folder, files, data: SidecarData::default() }
    }

    /// The bytes of a file without a byte order mark. `None` if it cannot be read or has more than
    /// `limit` bytes: that is noted as its problem.
    pub fn read_bytes(&mut self, path: &Path, limit: u64) -> Option<Vec<u8>> {
        match self.read_limited(path, limit) {
            Ok(mut bytes) => {
                if bytes.starts_with(b"\xEF\xBB\xBF") {
                    bytes.drain(..3);
                }
                Some(bytes)
            }
            Err(why) => {
                self.report_problem(path, why);
                None
            }
        }
    }

    /// The text of a file. `None` as with [`Reader::bytes`], and if it is not UTF-8.
    pub fn read_text(&mut self, path: &Path, limit: u64) -> Option<String> {
        let bytes = self.read_bytes(path, limit)?;
        let text = String::from_utf8(bytes);
        if text.is_err() {
            self.report_problem(path, "it is not UTF-8".to_owned());
        }
        text.ok()
    }

    fn read_limited(&self, path: &Path, limit: u64) -> Result<Vec<u8>, String> {
        let unreadable = |cause: std::io::Error| format!("it cannot be read ({})", cause.kind());
        let mut bytes = Vec::new();
        let file = self.folder.open_file(path).map_err(unreadable)?;
        file.take(limit + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 > limit {
            return Err(format!("it is larger than {} MiB", limit >> 20));
        }
        Ok(bytes)
    }

    /// Notes what a sidecar tells of a media, where nothing told before is stronger.
    pub fn add_description(&mut self, media: &Path, description: MediaDescription) {
        if description == MediaDescription::default() {
            return;
        }
        match self.data.descriptions.get_mut(media) {
            Some(told) => told.merge_missing(description),
            None => {
                self.data.descriptions.insert(media.to_owned(), description);
            }
        }
    }

    /// Notes a file as a sidecar that was used.
    pub fn mark_used(&mut self, path: &Path) {
        self.data.sidecars.insert(path.to_owned());
    }

    /// Notes what is wrong with a sidecar, unless something was noted before.
    pub fn report_problem(&mut self, path: &Path, why: String) {
        self.mark_used(path);
        self.data.problems.entry(path.to_owned()).or_insert(why);
    }
}

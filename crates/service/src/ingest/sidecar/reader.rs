//! What all forms share while a folder is read: its files, bounded reading, and the result.

use std::{io::Read as _, path::Path};

use super::{Reading, description::Description, files::Files};
use crate::ingest::Folder;

/// Largest sidecar that tells of many pictures, in bytes.
pub const LARGE: u64 = 64 << 20;
/// Largest sidecar of one picture, and largest list of class names, in bytes.
pub const SMALL: u64 = 1 << 20;

/// A folder whose sidecars are being read.
pub struct Reader<'a> {
    folder: &'a Folder,
    /// What lies in it.
    pub files: Files<'a>,
    /// What was found so far.
    pub reading: Reading,
}

impl<'a> Reader<'a> {
    /// Nothing is read yet.
    #[must_use]
    pub fn new(folder: &'a Folder, files: Files<'a>) -> Self {
        Self { folder, files, reading: Reading::default() }
    }

    /// The bytes of a file without a byte order mark. `None` if it cannot be read or has more than
    /// `limit` bytes: that is noted as its problem.
    pub fn bytes(&mut self, path: &Path, limit: u64) -> Option<Vec<u8>> {
        match self.load(path, limit) {
            Ok(mut bytes) => {
                if bytes.starts_with(b"\xEF\xBB\xBF") {
                    bytes.drain(..3);
                }
                Some(bytes)
            }
            Err(why) => {
                self.problem(path, why);
                None
            }
        }
    }

    /// The text of a file. `None` as with [`Reader::bytes`], and if it is not UTF-8.
    pub fn text(&mut self, path: &Path, limit: u64) -> Option<String> {
        let bytes = self.bytes(path, limit)?;
        let text = String::from_utf8(bytes);
        if text.is_err() {
            self.problem(path, "it is not UTF-8".to_owned());
        }
        text.ok()
    }

    fn load(&self, path: &Path, limit: u64) -> Result<Vec<u8>, String> {
        let unreadable = |cause: std::io::Error| format!("it cannot be read ({})", cause.kind());
        let mut bytes = Vec::new();
        let file = self.folder.file(path).map_err(unreadable)?;
        file.take(limit + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 > limit {
            return Err(format!("it is larger than {} MiB", limit >> 20));
        }
        Ok(bytes)
    }

    /// Notes what a sidecar tells of a media, where nothing told before is stronger.
    pub fn tell(&mut self, media: &Path, description: Description) {
        if description == Description::default() {
            return;
        }
        match self.reading.descriptions.get_mut(media) {
            Some(told) => told.fill(description),
            None => {
                self.reading.descriptions.insert(media.to_owned(), description);
            }
        }
    }

    /// Notes a file as a sidecar that was used.
    pub fn used(&mut self, path: &Path) {
        self.reading.sidecars.insert(path.to_owned());
    }

    /// Notes what is wrong with a sidecar, unless something was noted before.
    pub fn problem(&mut self, path: &Path, why: String) {
        self.used(path);
        self.reading.problems.entry(path.to_owned()).or_insert(why);
    }
}

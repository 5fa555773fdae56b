//! Recognizes files that have changed since they were indexed, so that no other bytes pass for the indexed ones.

use std::{
    error::Error,
    fmt,
    io::{self, ErrorKind, Read as _},
    path::Path,
};

use super::{FileStat, OriginalFiles, SourceFile};

/// A file up to this size is hashed before it is sent, because its size and time can be those of the indexed file
/// although its content is not. Hashing a larger file would delay each range of a video.
pub const HASHED_BEFORE_SENDING: u64 = 16 << 20;

/// What the index knows about the content of a file.
#[derive(Clone, Copy, Debug)]
pub struct IndexedContent {
    pub stat: FileStat,
    /// The BLAKE3 hash of the file.
    pub hash: [u8; 32],
}

impl IndexedContent {
    /// Opens a file if its content is the indexed one. Its size and time decide, or its hash if the time is different
    /// or the file has at most `hash_limit` bytes. [`is_changed`] recognizes the error for another content.
    pub fn open(
        &self,
        files: &dyn OriginalFiles,
        path: &Path,
        hash_limit: u64,
    ) -> io::Result<Box<dyn SourceFile>> {
        let mut file = files.open_file(path)?;
        if self.is_content_of(&mut *file, files.is_remote(), hash_limit)? {
            Ok(file)
        } else {
            Err(changed())
        }
    }

    fn is_content_of(
        &self,
        file: &mut dyn SourceFile,
        is_remote: bool,
        hash_limit: u64,
    ) -> io::Result<bool> {
        if file.length()? != self.stat.size {
            return Ok(false);
        }
        let version = file.version()?;
        let is_same_version = version == Some(self.stat.modified);
        if is_remote && version.is_some() {
            // Hashing an object would transfer it twice. Nothing else is known of an object that a manifest names.
            return Ok(is_same_version || self.stat.modified == 0);
        }
        if is_same_version && self.stat.size > hash_limit {
            return Ok(true);
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(file.take(self.stat.size))?;
        file.rewind()?;
        Ok(hasher.finalize() == self.hash)
    }
}

#[derive(Debug)]
struct ChangedFile;

impl fmt::Display for ChangedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the file has changed since it was indexed")
    }
}

impl Error for ChangedFile {}

/// Returns the error for a file with another content than the indexed one.
pub fn changed() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, ChangedFile)
}

pub fn is_changed(error: &io::Error) -> bool {
    error.get_ref().is_some_and(<dyn Error + Send + Sync>::is::<ChangedFile>)
}

//! The files of a source, wherever they are.

use std::{
    fs::File,
    io::{self, Error, ErrorKind, Read, Seek},
    path::Path,
};

use tessera_picture::PictureFormat;

/// Opens files by their path below the source.
pub trait OriginalFiles: Send + Sync {
    /// Opens a regular file for reading, from its start.
    fn open_file(&self, relative: &Path) -> io::Result<Box<dyn SourceFile>>;

    /// Whether each file is waited for, so that several should be read at the same time.
    fn is_remote(&self) -> bool {
        false
    }
}

/// A file that is open for reading, wherever it is. A part of it can be read without the rest.
pub trait SourceFile: Read + Seek + Send {
    /// Its size in bytes.
    fn length(&self) -> io::Result<u64>;

    /// Another handle of a file of this machine, with the same position.
    fn on_this_machine(&self) -> Option<io::Result<File>> {
        None
    }
}

impl SourceFile for File {
    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn on_this_machine(&self) -> Option<io::Result<File>> {
        Some(self.try_clone())
    }
}

/// Reads the first bytes of a file, enough to recognize a picture or video.
pub fn read_first_bytes(file: &mut dyn SourceFile) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    file.take(PictureFormat::SIGNATURE_LENGTH as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// The error for a source that cannot be reached, which does not mean that the file is gone.
pub fn unavailable(reason: String) -> Error {
    Error::new(ErrorKind::NotConnected, reason)
}

pub fn is_unavailable(error: &Error) -> bool {
    error.kind() == ErrorKind::NotConnected
}

//! Opens the files of a source, wherever the source is. `SandboxedDir` opens files in a folder on this machine, so that
//! no path leads out of the folder. The other implementations are in `parquet_images` and `object_storage`.

use std::{
    fs::File,
    io::{self, Error, ErrorKind, Read, Seek},
    os::fd::OwnedFd,
    path::{Component, Path},
};

use rustix::fs::{Mode, OFlags, open, openat};
use tessera_picture::PictureFormat;

/// Opens files by their path below the source.
pub trait OriginalFiles: Send + Sync {
    /// Opens a regular file for reading, from its start.
    fn open_file(&self, relative: &Path) -> io::Result<Box<dyn SourceFile>>;

    /// Whether opening a file takes a network request, so that several files should be read at the same time.
    fn is_remote(&self) -> bool {
        false
    }
}

/// A file that is open for reading, wherever it is. Any part of the file can be read without the rest.
pub trait SourceFile: Read + Seek + Send {
    /// Returns the size in bytes.
    fn length(&self) -> io::Result<u64>;

    /// Returns another handle with the same position if the file is on this machine.
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

/// Reads the first bytes of a file, which are enough to recognize a picture or video.
pub fn read_first_bytes(file: &mut dyn SourceFile) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    file.take(PictureFormat::SIGNATURE_LENGTH as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// Returns the error for a source that cannot be reached. This error does not mean that the file is gone.
pub fn unavailable(reason: String) -> Error {
    Error::new(ErrorKind::NotConnected, reason)
}

pub fn is_unavailable(error: &Error) -> bool {
    error.kind() == ErrorKind::NotConnected
}

#[derive(Debug)]
pub struct SandboxedDir(OwnedFd);

impl SandboxedDir {
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(open(path, flags, Mode::empty())?))
    }
}

impl OriginalFiles for SandboxedDir {
    /// Opens a file. Fails if the path contains a link or `..`.
    fn open_file(&self, relative: &Path) -> io::Result<Box<dyn SourceFile>> {
        let refused = || io::Error::new(io::ErrorKind::InvalidInput, "not a file of this folder");
        let mut parts = relative.components().peekable();
        let mut directory = None;
        while let Some(Component::Normal(name)) = parts.next() {
            let at = directory.as_ref().unwrap_or(&self.0);
            let common = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            if parts.peek().is_some() {
                directory = Some(openat(at, name, common | OFlags::DIRECTORY, Mode::empty())?);
                continue;
            }
            // With NONBLOCK, opening does not block if a FIFO has replaced the file.
            let file = File::from(openat(at, name, common | OFlags::NONBLOCK, Mode::empty())?);
            return if file.metadata()?.is_file() { Ok(Box::new(file)) } else { Err(refused()) };
        }
        Err(refused())
    }
}

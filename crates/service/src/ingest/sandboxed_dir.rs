//! A directory whose files are opened relative to it, one component at a time and without following
//! links, so that no path escapes it, even if directories are replaced concurrently.

use std::{
    fs::File,
    io::{self, Read as _},
    os::fd::OwnedFd,
    path::{Component, Path},
};

use rustix::fs::{Mode, OFlags, open, openat};

/// Number of bytes needed to recognize an image.
const SIGNATURE_LENGTH: usize = 12;

#[derive(Debug)]
pub struct SandboxedDir(OwnedFd);

impl SandboxedDir {
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(open(path, flags, Mode::empty())?))
    }

    /// Opens a regular file for reading. Fails if the path contains a link or `..`.
    pub fn open_file(&self, relative: &Path) -> io::Result<File> {
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
            // NONBLOCK: opening a FIFO that replaced the file must not block.
            let file = File::from(openat(at, name, common | OFlags::NONBLOCK, Mode::empty())?);
            return if file.metadata()?.is_file() { Ok(file) } else { Err(refused()) };
        }
        Err(refused())
    }

    /// Reads the first bytes of a file, enough for [`has_image_signature`].
    pub fn read_first_bytes(&self, relative: &Path) -> io::Result<Vec<u8>> {
        let mut head = Vec::with_capacity(SIGNATURE_LENGTH);
        self.open_file(relative)?.take(SIGNATURE_LENGTH as u64).read_to_end(&mut head)?;
        Ok(head)
    }
}

/// Whether a file that starts with `head` may be a JPEG, PNG, WebP, GIF or BMP.
pub fn has_image_signature(head: &[u8]) -> bool {
    head.starts_with(&[0xFF, 0xD8, 0xFF])
        || head.starts_with(b"\x89PNG\r\n\x1a\n")
        || head.starts_with(b"GIF8")
        || head.starts_with(b"BM")
        || (head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP"))
}

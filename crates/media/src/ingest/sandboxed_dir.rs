//! A directory whose files are opened relative to it, one component at a time and without following
//! links, so that no path escapes it, even if directories are replaced concurrently.

use std::{
    fs::File,
    io,
    os::fd::OwnedFd,
    path::{Component, Path},
};

use rustix::fs::{Mode, OFlags, open, openat};

use super::original_files::{OriginalFiles, SourceFile};

#[derive(Debug)]
pub struct SandboxedDir(OwnedFd);

impl SandboxedDir {
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(open(path, flags, Mode::empty())?))
    }
}

impl OriginalFiles for SandboxedDir {
    /// Fails if the path contains a link or `..`.
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
            // NONBLOCK: opening a FIFO that replaced the file must not block.
            let file = File::from(openat(at, name, common | OFlags::NONBLOCK, Mode::empty())?);
            return if file.metadata()?.is_file() { Ok(Box::new(file)) } else { Err(refused()) };
        }
        Err(refused())
    }
}

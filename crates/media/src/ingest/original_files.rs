//! Opens the files of a source, wherever the source is. `SandboxedDir` opens files in a folder on this machine, so that
//! no path leads out of the folder. The other implementations are in `parquet_images` and `object_storage`.

use std::{
    ffi::OsStr,
    fmt,
    fs::File,
    io::{self, Error, ErrorKind, Read, Seek, SeekFrom},
    os::{fd::OwnedFd, unix::ffi::OsStrExt as _},
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{Mode, OFlags, open, openat, readlinkat},
    io::Errno,
};
use tessera_files::{error_name, read_at_most};
use tessera_picture::VideoContainer;

use super::{FileStat, NANOS_PER_SECOND, scan::modified_nanos};

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

    /// Returns the version of the file in the form of [`FileStat::modified`]. Returns `None` for an image inside another
    /// file, which is in memory.
    ///
    /// [`FileStat::modified`]: super::FileStat::modified
    fn version(&self) -> io::Result<Option<i64>>;

    /// Returns another handle with the same position if the file is on this machine.
    fn on_this_machine(&self) -> Option<io::Result<File>> {
        None
    }
}

/// A file whose errors are observed where it is read. `on_error` returns the error that the reader gets.
pub(crate) struct ObservedFile<F> {
    pub file: Box<dyn SourceFile>,
    pub on_error: F,
}

impl<F: Fn(io::Error) -> io::Error> Read for ObservedFile<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer).map_err(&self.on_error)
    }
}

impl<F> Seek for ObservedFile<F> {
    /// A damaged file may lead to a position before its start, so `on_error` does not get the errors of this function.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

impl<F: Fn(io::Error) -> io::Error + Send> SourceFile for ObservedFile<F> {
    fn length(&self) -> io::Result<u64> {
        self.file.length()
    }

    fn version(&self) -> io::Result<Option<i64>> {
        self.file.version()
    }
}

impl SourceFile for File {
    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn version(&self) -> io::Result<Option<i64>> {
        Ok(Some(modified_nanos(&self.metadata()?)))
    }

    fn on_this_machine(&self) -> Option<io::Result<File>> {
        Some(self.try_clone())
    }
}

/// Reads the first bytes of a file, which are enough to recognize a picture or video.
pub fn read_first_bytes(file: &mut dyn SourceFile) -> io::Result<Vec<u8>> {
    read_at_most(file, VideoContainer::SIGNATURE_LENGTH as u64)
}

/// Names the error of an original. The messages of this program contain no paths.
pub fn read_error_name(error: &Error) -> String {
    error.get_ref().map_or_else(|| error_name(error), ToString::to_string)
}

/// Returns the error for a source that cannot be reached. This error does not mean that the file is gone.
pub fn unavailable(reason: String) -> Error {
    Error::new(ErrorKind::NotConnected, reason)
}

pub fn is_unavailable(error: &Error) -> bool {
    error.kind() == ErrorKind::NotConnected || is_temporary(error)
}

/// Whether the source can probably be reached later.
pub fn is_temporary(error: &Error) -> bool {
    error.kind() == ErrorKind::HostUnreachable
}

/// Whether object storage does not send a file that may exist, for example because access is denied. A file of this
/// machine that may not be read has an error of the system.
pub fn is_refused(error: &Error) -> bool {
    error.kind() == ErrorKind::PermissionDenied && error.get_ref().is_some()
}

/// Whether the source of an indexed file is the reason why the file cannot be read. This error does not mean that the
/// file is gone, because the source could be read when the file was indexed.
pub fn is_source_failure(error: &Error) -> bool {
    is_unavailable(error) || is_refused(error)
}

/// A folder of this machine, from which no path leads out.
#[derive(Debug)]
pub struct SandboxedDir {
    folder: OwnedFd,
    path: PathBuf,
}

/// The flags for the folders on the way to a file. A folder that may be entered but not listed is enough.
#[cfg(target_os = "linux")]
const ON_THE_WAY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);
#[cfg(not(target_os = "linux"))]
const ON_THE_WAY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);
const LISTED: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

/// How the names of repositories begin in a cache of Hugging Face.
const HUB_REPOSITORIES: [&str; 3] = ["models--", "datasets--", "spaces--"];

/// The number of links that may lead from one to the next.
const MAX_LINKS: usize = 8;

impl SandboxedDir {
    /// Opens a folder by its canonical path. Fails if a part of the path has become a link since the path was accepted,
    /// because the link could lead to a folder that nobody may read through this deployment.
    pub fn open(path: &Path) -> io::Result<Self> {
        let root = open("/", ON_THE_WAY | OFlags::CLOEXEC, Mode::empty())?;
        let below = path.strip_prefix("/").map_err(|_| refused())?;
        let folder = open_below(&root, below, LISTED)?;
        Ok(Self { folder, path: path.to_owned() })
    }

    /// Opens a folder below this one for listing. The empty path is this folder itself.
    pub(super) fn open_folder(&self, relative: &Path) -> io::Result<OwnedFd> {
        open_below(&self.folder, relative, LISTED)
    }

    /// Returns the path below this folder to which a link leads. Fails if the path leads out of the folder.
    pub(super) fn link_target(&self, link: &Path) -> io::Result<PathBuf> {
        let mut target = self.next_target(link)?;
        for _ in 0..MAX_LINKS {
            match self.next_target(&target) {
                Ok(next) => target = next,
                // What is not a link is the target.
                Err(cause) if cause.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => {
                    return Ok(target);
                }
                Err(cause) => return Err(cause),
            }
        }
        Err(refused())
    }

    /// Opens the file to which a link of this folder leads. It is a file of this folder or, if this folder is a snapshot
    /// in a cache of Hugging Face, a file in the blobs of the cache.
    pub(super) fn open_linked(&self, link: &Path) -> io::Result<File> {
        match self.link_target(link) {
            Ok(target) => self.open_target(&target),
            Err(refused) => self.open_blob(link).unwrap_or(Err(refused)),
        }
    }

    /// Opens `datasets--a--b/blobs/NAME`, to which links in `datasets--a--b/snapshots/REVISION` lead. Returns `None` for
    /// a link that leads elsewhere.
    fn open_blob(&self, link: &Path) -> Option<io::Result<File>> {
        let snapshots = self.path.parent().filter(|parent| parent.ends_with("snapshots"))?;
        let repository = snapshots.parent()?;
        let name = repository.file_name()?.to_str()?;
        if !HUB_REPOSITORIES.iter().any(|kind| name.starts_with(kind)) {
            return None;
        }
        let target = self.read_link(link).ok()?;
        let up: PathBuf = link.iter().map(|_| "..").chain(["..", "blobs"]).collect();
        let blob = target.strip_prefix(up).ok()?;
        let is_name = matches!(blob.components().collect::<Vec<_>>()[..], [Component::Normal(_)]);
        let blobs = || Self::open(&repository.join("blobs"));
        is_name.then(|| blobs().and_then(|blobs| blobs.open_target(blob)))
    }

    fn read_link(&self, link: &Path) -> io::Result<PathBuf> {
        let at = open_below(&self.folder, link.parent().unwrap_or(Path::new("")), ON_THE_WAY)?;
        let target = readlinkat(at, link.file_name().ok_or_else(refused)?, Vec::new())?;
        Ok(PathBuf::from(OsStr::from_bytes(target.as_bytes())))
    }

    /// Whether a link is a pointer of git-annex, which leads to a file that may not be here.
    pub(super) fn leads_to_annex(&self, link: &Path) -> bool {
        let target = self.read_link(link);
        target.is_ok_and(|target| target.to_string_lossy().contains("/annex/objects/"))
    }

    /// Returns where a link leads, which may be another link.
    fn next_target(&self, link: &Path) -> io::Result<PathBuf> {
        let target = self.read_link(link)?;
        let mut path = link.parent().unwrap_or(Path::new("")).to_owned();
        let relative = match target.strip_prefix(&self.path) {
            Ok(below) if target.is_absolute() => {
                path = PathBuf::new();
                below
            }
            _ => &target,
        };
        for part in relative.components() {
            match part {
                Component::Normal(name) => path.push(name),
                Component::CurDir => {}
                Component::ParentDir if path.pop() => {}
                _ => return Err(refused()),
            }
        }
        Ok(path)
    }

    /// Opens a file. Fails if a part of the path is a link.
    pub(super) fn open_target(&self, relative: &Path) -> io::Result<File> {
        // With NONBLOCK, opening does not block if a FIFO has replaced the file.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        let file = File::from(open_below(&self.folder, relative, flags)?);
        if file.metadata()?.is_file() { Ok(file) } else { Err(refused()) }
    }
}

impl OriginalFiles for SandboxedDir {
    /// Opens a file, or the file to which a link leads. Fails if the path contains another link or `..`.
    fn open_file(&self, relative: &Path) -> io::Result<Box<dyn SourceFile>> {
        let opened = match self.open_target(relative) {
            Err(cause) if cause.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
                self.open_linked(relative)?
            }
            opened => opened?,
        };
        Ok(Box::new(opened))
    }
}

fn refused() -> Error {
    Error::new(ErrorKind::InvalidInput, "not a file of this folder")
}

/// Opens a file or folder below a folder, one part of the path after the other. No part may be a link or `..`.
fn open_below(folder: &OwnedFd, relative: &Path, last: OFlags) -> io::Result<OwnedFd> {
    let open = |at: &OwnedFd, name: &OsStr, flags| {
        openat(at, name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
    };
    let mut parts = relative.components().peekable();
    if parts.peek().is_none() {
        return Ok(open(folder, OsStr::new("."), last)?);
    }
    let mut directory = None;
    while let Some(Component::Normal(name)) = parts.next() {
        let at = directory.as_ref().unwrap_or(folder);
        if parts.peek().is_none() {
            return Ok(open(at, name, last)?);
        }
        directory = Some(open(at, name, ON_THE_WAY)?);
    }
    Err(refused())
}

// Recognizes files that have changed since they were indexed, so that no other bytes pass for the indexed ones.

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
    /// Opens a file if its content is still the indexed one. The size and the time of the file decide. If the time
    /// differs, or if the file has at most `hash_limit` bytes, its hash decides. For an object in a bucket, the size
    /// and the entity tag decide. [`is_changed`] recognizes the error for another content.
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
        if is_remote && let Some(version) = version {
            // Hashing an object would transfer it twice. For an object that a manifest names, only the size is known.
            // The time is not compared, because not every response contains it.
            let digits = |version| version % NANOS_PER_SECOND;
            let is_same_tag = digits(version) == digits(self.stat.modified);
            return Ok(is_same_tag || self.stat.modified == 0);
        }
        let is_same_version = version == Some(self.stat.modified);
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

impl std::error::Error for ChangedFile {}

/// Returns the error for a file with another content than the indexed one.
pub fn changed() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, ChangedFile)
}

pub fn is_changed(error: &io::Error) -> bool {
    error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<ChangedFile>)
}

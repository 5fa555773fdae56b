//! Writes the members of an archive within limits that are enforced on the bytes written and not on what the archive
//! claims.

use std::{
    cell::Cell,
    collections::HashMap,
    fs::File,
    io::{self, ErrorKind, Read, Write},
    path::{Path, PathBuf},
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::Mutex;
use tessera_files::read_at_most;
use tessera_model::{FileKind, SafeText, archive_paths::local_relative_path};
use tessera_picture::{VideoContainer, media_kind};

use super::{
    SourceFile,
    disk_quota::{ClaimedFile, DiskQuota},
};

/// The limits for an archive. The defaults are those of the service.
#[derive(Clone, Debug)]
pub struct UnpackLimits {
    pub max_members: usize,
    /// Maximum size of a file that is not a video, in bytes.
    pub max_file_bytes: u64,
    pub max_video_bytes: u64,
    /// Maximum size of all files together, in bytes.
    pub max_total_bytes: u64,
    pub disk: DiskQuota,
    /// Maximum compression ratio, which is checked once `ratio_exempt_bytes` have been written.
    pub max_ratio: u64,
    /// Number of bytes that may be written before the ratio is checked.
    pub ratio_exempt_bytes: u64,
    /// Number of skipped members that are reported by name. Any further ones are only counted.
    pub max_reported: usize,
}

impl Default for UnpackLimits {
    fn default() -> Self {
        Self {
            max_members: 200_000,
            max_file_bytes: FileKind::Other.max_size(),
            max_video_bytes: FileKind::Video.max_size(),
            max_total_bytes: u64::MAX,
            disk: DiskQuota::default(),
            max_ratio: 200,
            ratio_exempt_bytes: 64 << 20,
            max_reported: 10_000,
        }
    }
}

/// Receives the members of an archive.
pub trait UnpackTarget {
    /// Returns the folder on whose disk [`UnpackTarget::create`] creates files.
    fn disk(&self) -> &Path;

    /// Prepares for the first member.
    fn clear(&mut self) -> io::Result<()>;

    /// Creates the file of a member and returns its path. The path has a number if the name is taken. An error of the
    /// kind `InvalidFilename` means that the path is too long.
    fn create(&mut self, path: &Path) -> io::Result<(PathBuf, File)>;

    /// Keeps the file of a member, which is complete.
    fn keep(&mut self, path: &Path, file: File) -> io::Result<()>;

    /// Opens the file of a member that was kept.
    fn open(&self, path: &Path) -> io::Result<Box<dyn SourceFile>>;

    /// Removes the file of a member that is not complete.
    fn discard(&mut self, path: &Path) -> io::Result<()>;
}

const COPY_BUFFER_SIZE: usize = 64 << 10;
/// The reason for skipping an archive that is not a tar archive, or is inside another nested archive.
pub const NESTED_ARCHIVE: &str =
    "nested archives are not unpacked, except tar archives one level deep; unpack it first";
/// The reason for skipping a link.
pub(crate) const LINK: &str = "a link";
const NO_SPACE: &str = "there is not enough space for all of it";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnpackReport {
    pub files: usize,
    pub bytes: u64,
    pub skipped: Vec<(SafeText, &'static str)>,
    /// The number of skipped members that were not reported by name.
    pub unreported: usize,
    /// The reason why the archive was not read to its end.
    pub damage_reason: Option<&'static str>,
}

#[derive(Debug)]
pub enum UnpackError {
    Cancelled,
    /// The archive cannot be read, or its files cannot be written.
    Io(io::Error),
}

/// The first error of the file of an archive. Without it, a storage that fails would pass for damage of the archive.
#[derive(Clone, Default)]
pub(crate) struct SourceFailure(Arc<Mutex<Option<io::Error>>>);

impl SourceFailure {
    /// Keeps an error. Returns an error of the same kind for the reader.
    pub fn keep(&self, cause: io::Error) -> io::Error {
        let kind = cause.kind();
        if kind != ErrorKind::Interrupted {
            self.0.lock().get_or_insert(cause);
        }
        kind.into()
    }

    fn check(&self) -> Result<(), MemberError> {
        let failure = self.0.lock().take();
        failure.map_or(Ok(()), |cause| Err(MemberError::Abort(UnpackError::Io(cause))))
    }
}

pub(crate) enum MemberError {
    SkipMember(&'static str),
    /// Stops reading the archive, for this reason.
    StopArchive(&'static str),
    Abort(UnpackError),
}

pub(crate) enum CopyOutcome {
    /// The member was copied completely. The value is its number of bytes.
    Complete(u64),
    LimitExceeded,
}

pub(crate) struct Unpacker<'a> {
    target: &'a mut dyn UnpackTarget,
    limits: UnpackLimits,
    source_failure: SourceFailure,
    cancelled: &'a AtomicBool,
    members: usize,
    /// The number of compressed bytes that were read so far.
    pub packed: Rc<Cell<u64>>,
    /// The number of compressed bytes that were read before the current member.
    packed_before: u64,
    /// The number of bytes that were decompressed before the current member, whether they were written or not.
    unpacked_before: u64,
    /// The folder for the members of the archive inside the archive that is being unpacked.
    nested_folder: Option<PathBuf>,
    /// The paths of the files that have another path than their member.
    renamed: HashMap<PathBuf, PathBuf>,
    report: UnpackReport,
}

impl<'a> Unpacker<'a> {
    pub fn new(
        target: &'a mut dyn UnpackTarget,
        limits: UnpackLimits,
        source_failure: SourceFailure,
        cancelled: &'a AtomicBool,
    ) -> io::Result<Self> {
        target.clear()?;
        Ok(Self {
            target,
            limits,
            source_failure,
            cancelled,
            members: 0,
            packed: Rc::default(),
            packed_before: 0,
            unpacked_before: 0,
            nested_folder: None,
            renamed: HashMap::new(),
            report: UnpackReport::default(),
        })
    }

    pub fn finish(mut self, end: Result<(), MemberError>) -> Result<UnpackReport, UnpackError> {
        match self.source_failure.check().and(end) {
            Ok(()) => {}
            Err(MemberError::SkipMember(why) | MemberError::StopArchive(why)) => {
                self.report.damage_reason = Some(why);
            }
            Err(MemberError::Abort(error)) => return Err(error),
        }
        Ok(self.report)
    }

    /// Starts the next member.
    pub(crate) fn begin_member(&mut self) -> Result<(), MemberError> {
        self.check_cancelled()?;
        if self.members == self.limits.max_members {
            return Err(MemberError::StopArchive("it has too many members"));
        }
        self.members += 1;
        // Everything in a nested archive together is compared with the size of this archive.
        if self.nested_folder.is_none() {
            self.packed_before = self.packed.get();
        }
        Ok(())
    }

    /// Starts an archive inside the archive. Its members are written below a folder of its name.
    pub(crate) fn begin_nested_archive(&mut self, name: &str) -> Result<(), MemberError> {
        self.nested_folder = Some(self.member_path(name)?);
        Ok(())
    }

    pub(crate) fn end_nested_archive(&mut self) {
        self.nested_folder = None;
    }

    pub(crate) fn is_in_nested_archive(&self) -> bool {
        self.nested_folder.is_some()
    }

    pub(crate) fn record_member(
        &mut self,
        name: &str,
        end: Result<(), MemberError>,
    ) -> Result<(), MemberError> {
        self.source_failure.check()?;
        match end {
            Err(MemberError::SkipMember(why)) => {
                if self.report.skipped.len() < self.limits.max_reported {
                    let name = match &self.nested_folder {
                        Some(folder) => &format!("{}/{name}", folder.display()),
                        None => name,
                    };
                    let name = reported_name(name, self.members);
                    self.report.skipped.push((name, why));
                } else {
                    self.report.unreported += 1;
                }
                Ok(())
            }
            end => end,
        }
    }

    pub(crate) fn write_member(
        &mut self,
        name: &str,
        size: u64,
        content: &mut dyn Read,
    ) -> Result<(), MemberError> {
        let path = self.member_path(name)?;
        let kind = FileKind::from_name(name);
        if kind == FileKind::Archive {
            return Err(MemberError::SkipMember(NESTED_ARCHIVE));
        }
        let head = read_at_most(&mut *content, VideoContainer::SIGNATURE_LENGTH as u64)
            .map_err(|cause| MemberError::SkipMember(damage_reason(&cause)))?;
        let largest = match media_kind(&head).unwrap_or(kind) {
            FileKind::Video => self.limits.max_video_bytes,
            _ => self.limits.max_file_bytes,
        };
        let room = self.limits.max_total_bytes - self.report.bytes;
        let (unique, file) = self.target.create(&path).map_err(|cause| match cause.kind() {
            ErrorKind::InvalidFilename => {
                MemberError::SkipMember("its path is too long or too deep")
            }
            _ => cause.into(),
        })?;
        let mut file = ClaimedFile::new(file, self.limits.disk.claim_in(self.target.disk()));
        let end = match self.copy_limited(&mut head.chain(content), &mut file, largest.min(room)) {
            Ok(CopyOutcome::Complete(bytes)) if bytes == size => {
                self.target.keep(&unique, file.file)?;
                self.report.files += 1;
                self.report.bytes += bytes;
                if unique != path {
                    self.renamed.insert(path, unique);
                }
                return Ok(());
            }
            Ok(CopyOutcome::Complete(_)) => MemberError::SkipMember("it is damaged"),
            Ok(CopyOutcome::LimitExceeded) if room < largest => MemberError::StopArchive(NO_SPACE),
            Ok(CopyOutcome::LimitExceeded) => MemberError::SkipMember("it is too large"),
            Err(error) => error,
        };
        self.target.discard(&unique)?;
        Err(end)
    }

    /// Writes a member that is a hard link to an earlier member as a copy of the earlier one.
    pub(crate) fn write_link(&mut self, name: &str, earlier: &str) -> Result<(), MemberError> {
        let path = self.member_path(earlier).map_err(|_| MemberError::SkipMember(LINK))?;
        let file = self.target.open(self.renamed.get(&path).unwrap_or(&path));
        let mut file = file.map_err(|_| MemberError::SkipMember(LINK))?;
        let (length, unpacked_before) = (file.length()?, self.unpacked_before);
        // A copy takes no compressed bytes, so it does not count for the ratio. The total size limits the copies.
        let packed = self.packed.replace(self.packed.get().saturating_add(length));
        let written = self.write_member(name, length, &mut file);
        self.packed.set(packed);
        self.unpacked_before = unpacked_before;
        written
    }

    /// Copies at most `limit` bytes of a member and detects decompression bombs.
    pub(crate) fn copy_limited(
        &mut self,
        content: &mut dyn Read,
        out: &mut impl Write,
        limit: u64,
    ) -> Result<CopyOutcome, MemberError> {
        let mut block = vec![0; COPY_BUFFER_SIZE];
        let mut bytes = 0;
        loop {
            self.check_cancelled()?;
            let length = match content.read(&mut block) {
                Ok(0) => return Ok(CopyOutcome::Complete(bytes)),
                Ok(length) => length,
                Err(cause) if cause.kind() == ErrorKind::Interrupted => continue,
                Err(cause) => return Err(MemberError::SkipMember(damage_reason(&cause))),
            };
            bytes += length as u64;
            self.unpacked_before += length as u64;
            let packed = self.packed.get();
            if self.is_bomb(bytes, packed - self.packed_before)
                || self.is_bomb(self.unpacked_before, packed)
            {
                return Err(MemberError::StopArchive(
                    "its compression ratio is too high (decompression bomb)",
                ));
            }
            if bytes > limit {
                return Ok(CopyOutcome::LimitExceeded);
            }
            out.write_all(&block[..length])?;
        }
    }

    /// Returns the path of a member below the folder to which the archive is unpacked.
    fn member_path(&self, name: &str) -> Result<PathBuf, MemberError> {
        let checked = |name: &str| local_relative_path(name).map_err(MemberError::SkipMember);
        let path = checked(&relative_name(name))?;
        if path.as_os_str().is_empty() {
            return Err(MemberError::SkipMember("it has no name"));
        }
        match &self.nested_folder {
            Some(folder) => checked(&folder.join(path).to_string_lossy()),
            None => Ok(path),
        }
    }

    fn check_cancelled(&self) -> Result<(), MemberError> {
        let cancelled = self.cancelled.load(Ordering::Relaxed);
        if cancelled { Err(MemberError::Abort(UnpackError::Cancelled)) } else { Ok(()) }
    }

    fn is_bomb(&self, bytes: u64, packed: u64) -> bool {
        bytes > self.limits.ratio_exempt_bytes && bytes / self.limits.max_ratio > packed
    }
}

/// Returns a name with `/` between its parts, and without the root of a disk: `a/b.jpg` for `C:\a\b.jpg`, as programs
/// on Windows write it, and for `/a/b.jpg`. A folder that the name leaves again is omitted: `b.jpg` for `a/../b.jpg`.
fn relative_name(name: &str) -> String {
    let name = name.replace('\\', "/");
    let without_disk = match name.as_bytes() {
        [disk, b':', b'/', ..] if disk.is_ascii_alphabetic() => &name[2..],
        _ => &name,
    };
    let mut parts = Vec::new();
    for part in without_disk.trim_start_matches('/').split('/') {
        if part == ".." && parts.last().is_some_and(|folder| !["", ".", ".."].contains(folder)) {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts.join("/")
}

/// The longest name of a skipped member that is reported as it is, in characters.
const MAX_REPORTED_NAME: usize = 256;

/// Returns the name of a skipped member for a report. A long name is cut in the middle, because its end says whether it
/// is a picture. Such a name also gets the number of the member, because cut names may be equal.
fn reported_name(name: &str, number: usize) -> SafeText {
    let length = name.chars().count();
    if length <= MAX_REPORTED_NAME {
        return SafeText::new(name, MAX_REPORTED_NAME);
    }
    let part = MAX_REPORTED_NAME / 3;
    let start: String = name.chars().take(part).collect();
    let end: String = name.chars().skip(length - part).collect();
    SafeText::new(&format!("{start}… (member {number}) …{end}"), MAX_REPORTED_NAME)
}

/// Returns the reason why an archive or a member cannot be read further.
pub fn damage_reason(cause: &io::Error) -> &'static str {
    match cause.kind() {
        ErrorKind::OutOfMemory => {
            "unpacking it takes a dictionary of more than 128 MiB; compress it again with a smaller one"
        }
        _ => "it is damaged",
    }
}

impl From<io::Error> for MemberError {
    fn from(cause: io::Error) -> Self {
        Self::Abort(UnpackError::Io(cause))
    }
}

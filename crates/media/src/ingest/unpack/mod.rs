//! Unpacks an uploaded archive. Only regular files with safe names are unpacked, within limits that are enforced on the
//! bytes written and not on what the archive claims.
//!
//! A faulty member is skipped. A faulty archive stops the unpacking, and what was unpacked until then is kept.

mod archive_formats;

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Read, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use tessera_compression::Compression;
use tessera_files::{create_private_dir, if_exists, staging::UniqueFiles};
use tessera_model::{FileKind, SafeText, local_files::safe_relative_path};

use super::{
    SourceFile,
    disk_quota::{ClaimedFile, DiskQuota},
};
use archive_formats::{is_tar_header, unpack_compressed_tar, unpack_tar, unpack_zip};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveKind {
    Zip,
    Tar,
    TarGz,
    TarXz,
    TarZst,
}

impl ArchiveKind {
    const ALL: [Self; 5] = [Self::Zip, Self::Tar, Self::TarGz, Self::TarXz, Self::TarZst];

    /// Returns the format by the file name, in any case.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let ends = |end| name.strip_suffix(end).is_some_and(|stem| !stem.is_empty());
        Self::ALL.into_iter().find(|kind| ends(kind.extension()))
    }

    pub fn extension(self) -> &'static str {
        match self {
            Self::Zip => ".zip",
            Self::Tar => ".tar",
            Self::TarGz => ".tar.gz",
            Self::TarXz => ".tar.xz",
            Self::TarZst => ".tar.zst",
        }
    }

    /// Whether a file that starts with `head` (its first 512 bytes) may have this format.
    pub fn matches_signature(self, head: &[u8]) -> bool {
        match self {
            Self::Zip => head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06"),
            Self::Tar => is_tar_header(head),
            Self::TarGz => Compression::Gzip.matches_signature(head),
            Self::TarXz => Compression::Xz.matches_signature(head),
            Self::TarZst => Compression::Zstandard.matches_signature(head),
        }
    }
}

/// Opens the archive at its start. The function is called twice, because the directory and the members are read at the
/// same time.
type OpenArchive<'a> = dyn Fn() -> io::Result<Box<dyn SourceFile>> + 'a;

/// Unpacks `archive` into the directory `into`, which is emptied first. Links, devices, hidden and encrypted members,
/// and nested archives are skipped. If several members have the same name, the later ones get a number. For a damaged
/// archive, the result is a report with a reason, not an error.
pub fn unpack(
    archive: &Path,
    kind: ArchiveKind,
    into: &Path,
    limits: UnpackLimits,
    stop: &AtomicBool,
) -> Result<UnpackReport, UnpackError> {
    let open = || Ok(Box::new(File::open(archive)?) as Box<dyn SourceFile>);
    unpack_into(&open, kind, &mut UnpackFolder::new(into), limits, stop)
}

/// Unpacks an archive like [`unpack`], from any source to any target.
pub fn unpack_into(
    open: &OpenArchive<'_>,
    kind: ArchiveKind,
    target: &mut dyn UnpackTarget,
    limits: UnpackLimits,
    stop: &AtomicBool,
) -> Result<UnpackReport, UnpackError> {
    let file = open().map_err(UnpackError::Io)?;
    let mut unpacker = Unpacker::new(target, limits, stop).map_err(UnpackError::Io)?;
    let end = match kind {
        ArchiveKind::Zip => open()
            .map_err(|cause| MemberError::Abort(UnpackError::Io(cause)))
            .and_then(|directory| unpack_zip(directory, file, &mut unpacker)),
        ArchiveKind::Tar => unpack_tar(file, &mut unpacker),
        ArchiveKind::TarGz => unpack_compressed_tar(Compression::Gzip, file, &mut unpacker),
        ArchiveKind::TarXz => unpack_compressed_tar(Compression::Xz, file, &mut unpacker),
        ArchiveKind::TarZst => unpack_compressed_tar(Compression::Zstandard, file, &mut unpacker),
    };
    unpacker.finish(end)
}

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

    /// Creates the file of a member and returns its path. The path has a number if the name is taken.
    fn create(&mut self, path: &Path) -> io::Result<(PathBuf, File)>;

    /// Keeps the file of a member, which is complete.
    fn keep(&mut self, path: &Path, file: File) -> io::Result<()>;

    /// Removes the file of a member that is not complete.
    fn discard(&mut self, path: &Path) -> io::Result<()>;
}

/// Unpacks to a folder, which is emptied first.
struct UnpackFolder {
    root: PathBuf,
    files: UniqueFiles,
}

impl UnpackFolder {
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), files: UniqueFiles::new(root) }
    }
}

impl UnpackTarget for UnpackFolder {
    fn disk(&self) -> &Path {
        &self.root
    }

    fn clear(&mut self) -> io::Result<()> {
        if_exists(fs::remove_dir_all(&self.root))?;
        create_private_dir(&self.root)
    }

    fn create(&mut self, path: &Path) -> io::Result<(PathBuf, File)> {
        self.files.create(path)
    }

    fn keep(&mut self, _: &Path, _: File) -> io::Result<()> {
        Ok(())
    }

    fn discard(&mut self, path: &Path) -> io::Result<()> {
        fs::remove_file(self.root.join(path))
    }
}

const COPY_BUFFER_SIZE: usize = 64 << 10;
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
    /// The archive cannot be opened or the directory cannot be written.
    Io(io::Error),
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
    cancelled: &'a AtomicBool,
    members: usize,
    /// The number of compressed bytes that were read before the current member.
    packed_before: u64,
    /// The number of bytes that were decompressed before the current member, whether they were written or not.
    unpacked_before: u64,
    report: UnpackReport,
}

impl<'a> Unpacker<'a> {
    pub fn new(
        target: &'a mut dyn UnpackTarget,
        limits: UnpackLimits,
        cancelled: &'a AtomicBool,
    ) -> io::Result<Self> {
        target.clear()?;
        Ok(Self {
            target,
            limits,
            cancelled,
            members: 0,
            packed_before: 0,
            unpacked_before: 0,
            report: UnpackReport::default(),
        })
    }

    pub fn finish(mut self, end: Result<(), MemberError>) -> Result<UnpackReport, UnpackError> {
        match end {
            Ok(()) => {}
            Err(MemberError::SkipMember(why) | MemberError::StopArchive(why)) => {
                self.report.damage_reason = Some(why);
            }
            Err(MemberError::Abort(error)) => return Err(error),
        }
        Ok(self.report)
    }

    /// Starts the next member, which follows `packed_bytes` compressed bytes.
    pub(crate) fn begin_member(&mut self, packed_bytes: u64) -> Result<(), MemberError> {
        self.check_cancelled()?;
        if self.members == self.limits.max_members {
            return Err(MemberError::StopArchive("it has too many members"));
        }
        self.members += 1;
        self.packed_before = packed_bytes;
        Ok(())
    }

    pub(crate) fn record_member(
        &mut self,
        name: &str,
        end: Result<(), MemberError>,
    ) -> Result<(), MemberError> {
        match end {
            Err(MemberError::SkipMember(why)) => {
                if self.report.skipped.len() < self.limits.max_reported {
                    self.report.skipped.push((SafeText::new(name, 256), why));
                } else {
                    self.report.unreported += 1;
                }
                Ok(())
            }
            end => end,
        }
    }

    /// Writes a member. `packed_bytes` returns the number of compressed bytes read so far.
    pub(crate) fn write_member(
        &mut self,
        name: &str,
        size: u64,
        content: &mut impl Read,
        packed_bytes: impl Fn() -> u64,
    ) -> Result<(), MemberError> {
        let path = safe_relative_path(name).map_err(MemberError::SkipMember)?;
        if path.as_os_str().is_empty() {
            return Err(MemberError::SkipMember("it has no name"));
        }
        let kind = FileKind::from_name(name);
        if kind == FileKind::Archive {
            return Err(MemberError::SkipMember("nested archives are not unpacked"));
        }
        let largest = match kind {
            FileKind::Video => self.limits.max_video_bytes,
            _ => self.limits.max_file_bytes,
        };
        let room = self.limits.max_total_bytes - self.report.bytes;
        let (path, file) = self.target.create(&path)?;
        let mut file = ClaimedFile::new(file, self.limits.disk.claim_in(self.target.disk()));
        let end = match self.copy_limited(content, &mut file, largest.min(room), packed_bytes) {
            Ok(CopyOutcome::Complete(bytes)) if bytes == size => {
                self.target.keep(&path, file.file)?;
                self.report.files += 1;
                self.report.bytes += bytes;
                return Ok(());
            }
            Ok(CopyOutcome::Complete(_)) => MemberError::SkipMember("it is damaged"),
            Ok(CopyOutcome::LimitExceeded) if room < largest => MemberError::StopArchive(NO_SPACE),
            Ok(CopyOutcome::LimitExceeded) => MemberError::SkipMember("it is too large"),
            Err(error) => error,
        };
        self.target.discard(&path)?;
        Err(end)
    }

    /// Copies at most `limit` bytes of a member and detects decompression bombs.
    pub(crate) fn copy_limited(
        &mut self,
        content: &mut impl Read,
        out: &mut impl Write,
        limit: u64,
        packed_bytes: impl Fn() -> u64,
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
            let packed = packed_bytes();
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

    fn check_cancelled(&self) -> Result<(), MemberError> {
        let cancelled = self.cancelled.load(Ordering::Relaxed);
        if cancelled { Err(MemberError::Abort(UnpackError::Cancelled)) } else { Ok(()) }
    }

    fn is_bomb(&self, bytes: u64, packed: u64) -> bool {
        bytes > self.limits.ratio_exempt_bytes && bytes / self.limits.max_ratio > packed
    }
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
        match cause.kind() {
            ErrorKind::StorageFull => Self::StopArchive(NO_SPACE),
            _ => Self::Abort(UnpackError::Io(cause)),
        }
    }
}

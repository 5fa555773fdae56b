//! Unpacks an uploaded archive into a folder: plain files with safe names, within limits that
//! are checked against what is really written, never against what the archive says of itself.
//!
//! What is wrong with a member costs that member; what is wrong with the archive ends the
//! unpacking, and what was good until then stays.

mod metered_reader;
mod tar_archive;
mod zip_archive;

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Read, Write},
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use super::{
    file_kind::FileKind,
    staging::{UniqueFiles, available_space, create_private_dir},
};
use tessera_model::{SafeText, archive_path::safe_relative_path};

/// Bytes that are copied at once.
const COPY_BUFFER_SIZE: usize = 64 << 10;

/// The formats of archives that are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveKind {
    /// `.zip`
    Zip,
    /// `.tar`
    Tar,
    /// `.tar.gz`
    TarGz,
}

/// What an archive may bring. The defaults are those of the service.
#[derive(Clone, Copy, Debug)]
pub struct UnpackLimits {
    /// Most members.
    pub max_members: usize,
    /// Most bytes of a file that is no video.
    pub max_file_bytes: u64,
    /// Most bytes of a video.
    pub max_video_bytes: u64,
    /// Most bytes of all files; what the disk has free counts as well.
    pub max_total_bytes: u64,
    /// Most bytes written for each byte packed, once `free` bytes were written.
    pub max_ratio: u64,
    /// Bytes from which on the ratio counts.
    pub ratio_exempt_bytes: u64,
    /// Most members passed over that are named; of more only the number is told.
    pub max_reported: usize,
}

/// What came out of an archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnpackReport {
    /// Files written.
    pub files: usize,
    /// Bytes written.
    pub bytes: u64,
    /// Members passed over, with the reason.
    pub skipped: Vec<(SafeText, &'static str)>,
    /// Members passed over that are not named.
    pub unreported: usize,
    /// Why the archive was not read to its end.
    pub damage_reason: Option<&'static str>,
}

/// Why nothing came out of an archive.
#[derive(Debug)]
pub enum UnpackError {
    /// The flag was set.
    Cancelled,
    /// The archive cannot be opened or the folder cannot be written.
    Io(io::Error),
}

/// Why a member is not there.
enum MemberError {
    /// It is passed over, and why.
    SkipMember(&'static str),
    /// Nothing more is taken from the archive, and why.
    StopArchive(&'static str),
    /// Nothing more can be done.
    Abort(UnpackError),
}

/// How the bytes of a member ended.
enum CopyOutcome {
    /// All of them came: so many.
    Complete(u64),
    /// There are more than wanted.
    LimitExceeded,
}

/// An unpacking under way.
struct Unpacker<'a> {
    files: UniqueFiles,
    root: &'a Path,
    limits: UnpackLimits,
    cancelled: &'a AtomicBool,
    members: usize,
    /// Bytes of the archive taken before the member at hand.
    packed_before: u64,
    /// Bytes that came out, kept or not, before the member at hand.
    unpacked_before: u64,
    report: UnpackReport,
}

impl ArchiveKind {
    /// The format that a file name says, in any case.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let ends = |end| name.strip_suffix(end).is_some_and(|stem| !stem.is_empty());
        [(".zip", Self::Zip), (".tar", Self::Tar), (".tar.gz", Self::TarGz)]
            .into_iter()
            .find_map(|(end, kind)| ends(end).then_some(kind))
    }

    /// The end of its names.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Zip => ".zip",
            Self::Tar => ".tar",
            Self::TarGz => ".tar.gz",
        }
    }

    /// Whether a file that begins with `head` (512 bytes or the whole) may be one.
    #[must_use]
    pub fn matches_signature(self, head: &[u8]) -> bool {
        match self {
            Self::Zip => head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06"),
            Self::Tar => tar_archive::is_tar_header(head),
            Self::TarGz => head.starts_with(&[0x1F, 0x8B, 0x08]),
        }
    }
}

impl Default for UnpackLimits {
    fn default() -> Self {
        Self {
            max_members: 200_000,
            max_file_bytes: FileKind::Other.max_size(),
            max_video_bytes: FileKind::Video.max_size(),
            max_total_bytes: u64::MAX,
            max_ratio: 200,
            ratio_exempt_bytes: 64 << 20,
            max_reported: 10_000,
        }
    }
}

/// Unpacks the file `archive` into the folder `into`, which is made anew: what an interrupted
/// attempt left in it is removed. Links, devices, hidden and encrypted members are passed over;
/// archives inside are not opened; a second member of the same name gets a number.
///
/// # Errors
/// Stopped, or the disk refuses. An archive that is no archive is an outcome with damage.
pub fn unpack(
    archive: &Path,
    kind: ArchiveKind,
    into: &Path,
    limits: UnpackLimits,
    stop: &AtomicBool,
) -> Result<UnpackReport, UnpackError> {
    let file = File::open(archive).map_err(UnpackError::Io)?;
    match fs::remove_dir_all(into) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => return Err(UnpackError::Io(cause)),
        _ => create_private_dir(into).map_err(UnpackError::Io)?,
    }
    let total = limits.max_total_bytes.min(available_space(into).map_err(UnpackError::Io)?);
    let mut unpacking = Unpacker {
        files: UniqueFiles::new(into),
        root: into,
        limits: UnpackLimits { max_total_bytes: total, ..limits },
        cancelled: stop,
        members: 0,
        packed_before: 0,
        unpacked_before: 0,
        report: UnpackReport::default(),
    };
    let end = match kind {
        ArchiveKind::Zip => zip_archive::unpack_zip(file, &mut unpacking),
        ArchiveKind::Tar => tar_archive::unpack_tar(file, &mut unpacking),
        ArchiveKind::TarGz => tar_archive::unpack_tar_gz(file, &mut unpacking),
    };
    match end {
        Ok(()) => {}
        Err(MemberError::SkipMember(why) | MemberError::StopArchive(why)) => {
            unpacking.report.damage_reason = Some(why)
        }
        Err(MemberError::Abort(end)) => return Err(end),
    }
    Ok(unpacking.report)
}

impl Unpacker<'_> {
    /// Begins the next member, after `taken` bytes of the archive.
    fn begin_member(&mut self, taken: u64) -> Result<(), MemberError> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(MemberError::Abort(UnpackError::Cancelled));
        }
        if self.members == self.limits.max_members {
            return Err(MemberError::StopArchive("it has too many members"));
        }
        self.members += 1;
        self.packed_before = taken;
        Ok(())
    }

    /// Puts down what is wrong with a member; passes on what ends the unpacking.
    fn record_member(
        &mut self,
        name: &str,
        end: Result<(), MemberError>,
    ) -> Result<(), MemberError> {
        match end {
            Err(MemberError::SkipMember(_))
                if self.report.skipped.len() >= self.limits.max_reported =>
            {
                self.report.unreported += 1;
                Ok(())
            }
            Err(MemberError::SkipMember(why)) => {
                self.report.skipped.push((SafeText::new(name, 256), why));
                Ok(())
            }
            end => end,
        }
    }

    /// Writes the member `name`, which has `size` bytes. `taken` tells the bytes of the archive
    /// that were taken so far.
    fn write_member(
        &mut self,
        name: &str,
        size: u64,
        content: &mut impl Read,
        taken: impl Fn() -> u64,
    ) -> Result<(), MemberError> {
        let wanted = safe_relative_path(name).map_err(MemberError::SkipMember)?;
        if wanted.as_os_str().is_empty() {
            return Err(MemberError::SkipMember("it has no name"));
        }
        let kind = FileKind::from_name(name);
        if kind == FileKind::Archive {
            return Err(MemberError::SkipMember("an archive inside the archive is not opened"));
        }
        let largest = if kind == FileKind::Video {
            self.limits.max_video_bytes
        } else {
            self.limits.max_file_bytes
        };
        let room = self.limits.max_total_bytes - self.report.bytes;
        let (path, mut file) = self.files.create(&wanted).map_err(io_error)?;
        let end = match self.copy_limited(content, &mut file, largest.min(room), taken) {
            Ok(CopyOutcome::Complete(bytes)) if bytes == size => {
                self.report.files += 1;
                self.report.bytes += bytes;
                return Ok(());
            }
            Ok(CopyOutcome::Complete(_)) => MemberError::SkipMember("it is damaged"),
            Ok(CopyOutcome::LimitExceeded) if room < largest => {
                MemberError::StopArchive("there is no room for all of it")
            }
            Ok(CopyOutcome::LimitExceeded) => MemberError::SkipMember("it is too large"),
            Err(trouble) => trouble,
        };
        fs::remove_file(self.root.join(path)).map_err(io_error)?;
        Err(end)
    }

    /// Copies at most `most` bytes of a member, with an eye on bombs.
    fn copy_limited(
        &mut self,
        content: &mut impl Read,
        out: &mut impl Write,
        most: u64,
        taken: impl Fn() -> u64,
    ) -> Result<CopyOutcome, MemberError> {
        let mut block = vec![0; COPY_BUFFER_SIZE];
        let mut bytes = 0;
        loop {
            if self.cancelled.load(Ordering::Relaxed) {
                return Err(MemberError::Abort(UnpackError::Cancelled));
            }
            let length = match content.read(&mut block) {
                Ok(0) => return Ok(CopyOutcome::Complete(bytes)),
                Ok(length) => length,
                Err(cause) if cause.kind() == ErrorKind::Interrupted => continue,
                Err(_) => return Err(MemberError::SkipMember("it is damaged")),
            };
            bytes += length as u64;
            self.unpacked_before += length as u64;
            let packed = taken();
            if self.is_bomb(bytes, packed - self.packed_before)
                || self.is_bomb(self.unpacked_before, packed)
            {
                return Err(MemberError::StopArchive("it grows far beyond its size: a bomb"));
            }
            if bytes > most {
                return Ok(CopyOutcome::LimitExceeded);
            }
            out.write_all(&block[..length]).map_err(io_error)?;
        }
    }

    fn is_bomb(&self, bytes: u64, packed: u64) -> bool {
        bytes > self.limits.ratio_exempt_bytes && bytes / self.limits.max_ratio > packed
    }
}

fn io_error(cause: io::Error) -> MemberError {
    MemberError::Abort(UnpackError::Io(cause))
}

#[cfg(test)]
mod tests;

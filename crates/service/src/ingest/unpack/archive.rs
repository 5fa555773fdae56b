//! The archive formats, and unpacking one of them.

use std::{fs::File, io, path::Path, sync::atomic::AtomicBool};

use super::{
    limits::UnpackLimits,
    tar_archive,
    target::{UnpackFolder, UnpackTarget},
    unpacker::{MemberError, UnpackError, UnpackReport, Unpacker},
    zip_archive,
};
use crate::ingest::SourceFile;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveKind {
    Zip,
    Tar,
    TarGz,
}

impl ArchiveKind {
    /// Returns the format by file name; case-insensitive.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let ends = |end| name.strip_suffix(end).is_some_and(|stem| !stem.is_empty());
        [(".zip", Self::Zip), (".tar", Self::Tar), (".tar.gz", Self::TarGz)]
            .into_iter()
            .find_map(|(end, kind)| ends(end).then_some(kind))
    }

    pub fn extension(self) -> &'static str {
        match self {
            Self::Zip => ".zip",
            Self::Tar => ".tar",
            Self::TarGz => ".tar.gz",
        }
    }

    /// Whether a file that starts with `head` (its first 512 bytes) may have this format.
    pub fn matches_signature(self, head: &[u8]) -> bool {
        match self {
            Self::Zip => head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06"),
            Self::Tar => tar_archive::is_tar_header(head),
            Self::TarGz => head.starts_with(&[0x1F, 0x8B, 0x08]),
        }
    }
}

/// Opens the archive, at its start; its directory and its members are read at the same time.
pub type OpenArchive<'a> = dyn Fn() -> io::Result<Box<dyn SourceFile>> + 'a;

/// Unpacks `archive` into the directory `into`, which is emptied first. Skips links, devices,
/// hidden and encrypted members and nested archives; further members of the same name get a number.
/// A damaged archive is a report with a reason, not an error.
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

/// Unpacks an archive that is anywhere to anywhere, like [`unpack`].
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
            .and_then(|directory| zip_archive::unpack_zip(directory, file, &mut unpacker)),
        ArchiveKind::Tar => tar_archive::unpack_tar(file, &mut unpacker),
        ArchiveKind::TarGz => tar_archive::unpack_tar_gz(file, &mut unpacker),
    };
    unpacker.finish(end)
}

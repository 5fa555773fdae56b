//! The archive formats, and unpacking one of them.

use std::{fs::File, io, path::Path, sync::atomic::AtomicBool};

use tessera_compression::Compression;

use super::{
    limits::UnpackLimits,
    tar_archive::{is_tar_header, unpack_compressed_tar, unpack_tar},
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
    TarXz,
    TarZst,
}

impl ArchiveKind {
    const ALL: [Self; 5] = [Self::Zip, Self::Tar, Self::TarGz, Self::TarXz, Self::TarZst];

    /// Returns the format by file name; case-insensitive.
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
        ArchiveKind::Tar => unpack_tar(file, &mut unpacker),
        ArchiveKind::TarGz => unpack_compressed_tar(Compression::Gzip, file, &mut unpacker),
        ArchiveKind::TarXz => unpack_compressed_tar(Compression::Xz, file, &mut unpacker),
        ArchiveKind::TarZst => unpack_compressed_tar(Compression::Zstandard, file, &mut unpacker),
    };
    unpacker.finish(end)
}

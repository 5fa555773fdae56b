//! Unpacks an uploaded archive: regular files with safe names, within limits that
//! are enforced on the bytes written, not on what the archive claims.
//!
//! A faulty member is skipped; a faulty archive stops the unpacking, and what was unpacked until
//! then is kept.

mod archive;
mod limits;
mod metered_reader;
mod tar_archive;
mod target;
mod unpacker;
mod zip_archive;

pub use archive::{ArchiveKind, unpack, unpack_into};
pub use limits::UnpackLimits;
pub use target::UnpackTarget;
pub use unpacker::{UnpackError, UnpackReport};

//! Reads compressed streams from outside in memory that does not depend on what they claim.

mod compression;
mod fused_reader;
mod limits;
mod zstandard;

pub use compression::Compression;
pub use limits::MAX_DICTIONARY_BYTES;

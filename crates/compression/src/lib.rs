//! Reads compressed streams from outside in memory that does not depend on what they claim.

mod compression;
mod fused_reader;
mod zstandard;

pub use compression::{Compression, MAX_DICTIONARY_BYTES};

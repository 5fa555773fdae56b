//! `vql`: a JSON array of filter objects, each with one key. Read strictly: a filter that was ignored
//! would select the wrong media. Errors name the filter and the field.
//!
//! The document leaves open, and this crate assumes: an `id` beside the key is ignored, because public
//! clients send one, and a missing `mode` is `in`.

mod error;
mod position;
mod read;
mod write;

pub use error::VqlError;
pub use position::TextPosition;
pub use read::{MAX_BYTES, read, read_each, read_lenient};
pub use write::write;

//! A JPEG decoder that decodes directly to a half, a quarter or an eighth of the size.
//!
//! A thumbnail of a 12-megapixel photograph has a few hundred pixels, so a full decode wastes most of
//! its work. This decoder skips the coefficients that are invisible at the reduced size and applies
//! the cosine transform at that size. It supports sequential 8-bit files with one scan (nearly all
//! photographs); the `image` crate decodes the others.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "the range of every value cast is given by the format or by the mask just before"
)]

mod bit_reader;
mod color;
mod completeness;
mod decoder;
mod error;
mod header;
mod huffman;
mod idct;
mod scan;
mod standard_tables;

pub use color::ycbcr_to_rgb;
pub use decoder::Jpeg;
pub use header::segments_before_scan;

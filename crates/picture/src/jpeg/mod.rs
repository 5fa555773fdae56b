//! A JPEG decoder that goes straight to a half, a quarter or an eighth of the size.
//!
//! A thumbnail of a 12 megapixel photograph needs a few hundred of its pixels. Most of what a
//! full decode does is thrown away then; here the entropy-coded data are read once, coefficients
//! that cannot be seen at the reduced size are passed over, and the cosine transform is done at
//! that size. Sequential 8-bit files with one scan are decoded (nearly all photographs); the
//! others are left to the general decoder.

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
mod header;
mod huffman;
mod idct;
mod scan;
#[cfg(test)]
mod tests;

use image::{RgbImage, metadata::Orientation};

use super::decode::DecodeError;
use header::Header;

/// What is wrong with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JpegError {
    /// The file ends before its picture does.
    Truncated,
    /// Something the format does not allow.
    Damaged(&'static str),
    /// More scans than any encoder writes: made to keep the decoder busy.
    TooManyScans(usize),
}

impl From<JpegError> for DecodeError {
    fn from(fault: JpegError) -> Self {
        Self(match fault {
            JpegError::Truncated => "truncated JPEG".to_owned(),
            JpegError::Damaged(what) => format!("damaged JPEG: {what}"),
            JpegError::TooManyScans(count) => {
                format!("JPEG with {count} scans; the limit is {}", completeness::MAX_SCANS)
            }
        })
    }
}

/// Samples made of each block of 8x8 pixels, in each direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JpegScale {
    Eighth = 1,
    Quarter = 2,
    Half = 4,
}

/// A JPEG file whose header has been read.
pub struct Jpeg<'a> {
    bytes: &'a [u8],
    header: Header,
}

impl<'a> Jpeg<'a> {
    /// Reads the header.
    pub fn open(bytes: &'a [u8]) -> Result<Self, JpegError> {
        Ok(Self { bytes, header: Header::read(bytes)? })
    }

    /// Width and height as stored.
    pub fn size(&self) -> (u32, u32) {
        (self.header.width.into(), self.header.height.into())
    }

    /// How the stored picture must be turned.
    pub fn orientation(&self) -> Orientation {
        self.header.orientation
    }

    /// The smallest scale that leaves `enough` pixels on the shorter side, if there is one below
    /// the full size.
    pub fn scale(&self, enough: u32) -> Option<JpegScale> {
        if !self.header.is_baseline {
            return None;
        }
        let shorter = u32::from(self.header.width.min(self.header.height));
        [JpegScale::Eighth, JpegScale::Quarter, JpegScale::Half]
            .into_iter()
            .find(|&scale| (shorter * scale as u32).div_ceil(8) >= enough)
    }

    /// Decodes at a reduced size: each side is the original's times the scale, rounded up.
    pub fn decode(&self, scale: JpegScale) -> Result<RgbImage, JpegError> {
        let planes = match scale {
            JpegScale::Eighth => scan::decode::<1>(self.bytes, &self.header),
            JpegScale::Quarter => scan::decode::<2>(self.bytes, &self.header),
            JpegScale::Half => scan::decode::<4>(self.bytes, &self.header),
        }?;
        let (width, height) = self.size();
        let reduced = |side: u32| (side * scale as u32).div_ceil(8);
        Ok(color::to_rgb(&planes, self.header.color_space(), reduced(width), reduced(height)))
    }

    /// Makes sure, before a general decoder that would be lenient sees the file, that it is whole
    /// and not made to waste time.
    pub fn check_complete(&self) -> Result<(), JpegError> {
        let is_closed = completeness::has_end_marker(self.bytes, self.header.scan_start)?;
        if is_closed {
            Ok(())
        } else if self.header.is_baseline {
            // Some cameras leave out the end marker; then only the pixels can tell.
            scan::decode::<1>(self.bytes, &self.header).map(|_| ())
        } else {
            Err(JpegError::Truncated)
        }
    }
}

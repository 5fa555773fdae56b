//! A JPEG file whose header was read.

use image::{RgbImage, metadata::Orientation};

use super::{color, completeness, error::JpegError, header::Header, scan};
use crate::color_profile::{SourceColors, to_srgb};

/// Samples per block of 8x8 pixels, in each direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JpegScale {
    Eighth = 1,
    Quarter = 2,
    Half = 4,
}

pub struct Jpeg<'a> {
    bytes: &'a [u8],
    header: Header,
}

impl<'a> Jpeg<'a> {
    pub fn open(bytes: &'a [u8]) -> Result<Self, JpegError> {
        Ok(Self { bytes, header: Header::read(bytes)? })
    }

    /// Width and height as stored.
    pub fn size(&self) -> (u32, u32) {
        (self.header.width.into(), self.header.height.into())
    }

    pub fn orientation(&self) -> Orientation {
        self.header.orientation.unwrap_or(Orientation::NoTransforms)
    }

    /// Whether it has the four colors of printing.
    pub fn is_cmyk(&self) -> bool {
        self.header.components.len() == 4
    }

    pub fn is_progressive(&self) -> bool {
        self.header.is_progressive
    }

    /// Its ICC profile.
    pub fn source_colors(&self) -> Option<SourceColors> {
        self.header.color_profile(self.bytes).map(SourceColors::Profile)
    }

    /// The smallest scale with at least `min_side` pixels on the shorter side; `None` if that is the
    /// full size, or if the file is not supported.
    pub fn scale(&self, min_side: u32) -> Option<JpegScale> {
        if !self.header.is_baseline {
            return None;
        }
        let shorter = u32::from(self.header.width.min(self.header.height));
        [JpegScale::Eighth, JpegScale::Quarter, JpegScale::Half]
            .into_iter()
            .find(|&scale| (shorter * scale as u32).div_ceil(8) >= min_side)
    }

    /// Decodes to sRGB at a reduced size: each side is that of the original times the scale, rounded up.
    pub fn decode(&self, scale: JpegScale) -> Result<RgbImage, JpegError> {
        let planes = match scale {
            JpegScale::Eighth => scan::decode::<1>(self.bytes, &self.header),
            JpegScale::Quarter => scan::decode::<2>(self.bytes, &self.header),
            JpegScale::Half => scan::decode::<4>(self.bytes, &self.header),
        }?;
        let (width, height) = self.size();
        let reduced = |side: u32| (side * scale as u32).div_ceil(8);
        let color_space = self.header.color_space();
        let mut picture = color::to_rgb(&planes, color_space, reduced(width), reduced(height));
        if let Some(colors) = self.source_colors() {
            to_srgb(&mut picture, &colors);
        }
        Ok(picture)
    }

    /// Verifies that the file is complete and has a reasonable number of scans, which the lenient
    /// general decoder does not.
    pub fn check_complete(&self) -> Result<(), JpegError> {
        if completeness::has_end_marker(self.bytes, self.header.scan_start)? {
            Ok(())
        } else if self.header.is_baseline {
            // Some cameras omit the end marker; then only decoding shows whether pixels are missing.
            scan::decode::<1>(self.bytes, &self.header).map(|_| ())
        } else {
            Err(JpegError::Truncated)
        }
    }
}

#[cfg(test)]
mod tests;

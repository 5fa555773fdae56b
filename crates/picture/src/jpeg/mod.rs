//! A JPEG decoder that decodes directly to one to six eighths of the size.
//!
//! A thumbnail of a 12-megapixel photograph has a few hundred pixels on a side, so a full decode wastes most of its
//! work. This decoder skips the coefficients that are invisible at the reduced size, and applies the cosine transform
//! at that size. It supports sequential 8-bit files with one scan, as nearly all photographs are. The `image` crate
//! decodes all other JPEGs, except those of an uncommon layout.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "the range of every value cast is given by the format or by the mask just before"
)]

mod error;
mod header;
mod huffman;
mod restart_repair;
mod scan;
#[cfg(test)]
mod tests;
mod uncommon;

pub use error::{JpegError, MAX_SCANS};
pub use header::{
    EXIF_PREFIX, EXTENDED_XMP_PREFIX, MAX_SEGMENTS, XMP_PREFIX, segments_before_scan,
};
pub use scan::ycbcr_to_rgb;

use std::ops::Range;

use image::{RgbImage, metadata::Orientation};
use memchr::memchr;

use self::header::{Header, START_OF_SCAN, segment};
use crate::{
    limits::{DecodeError, MAX_PIXELS, MAX_REDUCED_PIXELS, check_size_up_to, lock_memory},
    source_colors::{SourceColors, to_srgb},
};

/// The marker of the segment after the first scan that states the height.
const NUMBER_OF_LINES: u8 = 0xDC;

/// The number of samples per block of 8x8 pixels, in each direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JpegScale {
    OneEighth = 1,
    TwoEighths = 2,
    ThreeEighths = 3,
    FourEighths = 4,
    FiveEighths = 5,
    SixEighths = 6,
}

impl JpegScale {
    /// All scales, smallest first.
    const ALL: [Self; 6] = [
        Self::OneEighth,
        Self::TwoEighths,
        Self::ThreeEighths,
        Self::FourEighths,
        Self::FiveEighths,
        Self::SixEighths,
    ];
}

pub struct Jpeg<'a> {
    bytes: &'a [u8],
    header: Header,
}

impl<'a> Jpeg<'a> {
    pub fn open(bytes: &'a [u8]) -> Result<Self, JpegError> {
        let mut header = Header::read(bytes)?;
        if header.height == 0
            && let Some((_, height)) = late_height(bytes, header.scan_start)
        {
            header.height = height;
        }
        Ok(Self { bytes, header })
    }

    /// Width and height as stored.
    pub fn size(&self) -> (u32, u32) {
        (self.header.width.into(), self.header.height.into())
    }

    pub fn orientation(&self) -> Orientation {
        self.header.orientation.unwrap_or(Orientation::NoTransforms)
    }

    /// Whether the picture has the four colors of printing.
    pub fn is_cmyk(&self) -> bool {
        self.header.components.len() == 4
    }

    /// Whether the first three of these four colors are stored as brightness and two differences.
    pub fn is_ycck(&self) -> bool {
        self.header.is_ycck()
    }

    pub fn is_progressive(&self) -> bool {
        self.header.is_progressive()
    }

    /// Whether the decoder of the `image` crate supports the file.
    pub fn has_common_layout(&self) -> bool {
        self.header.has_common_layout
    }

    /// Returns the file as decoders need it: with the Huffman tables of the standard (ITU-T T.81, K.3) if it has none
    /// of its own, with the height in the frame, and with different names for all components. Returns `None` if the
    /// file already has all of this.
    pub fn completed(&self) -> Option<Vec<u8>> {
        let lacks_tables = self.header.lacks_huffman_tables();
        let has_duplicate_ids = self.header.has_duplicate_ids();
        let late_height = late_height(self.bytes, self.header.scan_start);
        if !lacks_tables && !has_duplicate_ids && late_height.is_none() {
            return None;
        }
        let mut file = self.bytes.to_vec();
        file.drain(late_height.map_or(0..0, |(segment, _)| segment));
        let rename = |entries: &mut [u8], size, count: u8| {
            let entries = entries.chunks_mut(size).filter(|_| has_duplicate_ids);
            (1..=count).zip(entries).for_each(|(id, entry)| entry[0] = id);
        };
        let mut at = 2;
        while let Ok((marker, body, next)) = segment(self.bytes, at) {
            let start = next - body.len();
            match marker {
                0xC0..=0xC2 => {
                    file[start + 1..start + 3].copy_from_slice(&self.header.height.to_be_bytes());
                    rename(&mut file[start + 6..next], 3, body[5]);
                }
                START_OF_SCAN => {
                    rename(&mut file[start + 1..next], 2, body[0]);
                    break;
                }
                _ => {}
            }
            at = next;
        }
        if lacks_tables {
            file.splice(2..2, huffman::standard_tables_segment());
        }
        Some(file)
    }

    /// Returns the ICC profile of the picture.
    pub fn source_colors(&self) -> Option<SourceColors> {
        self.header.color_profile(self.bytes).map(SourceColors::Profile)
    }

    /// Whether the picture has more pixels than are decoded at full size.
    fn is_always_reduced(&self) -> bool {
        u64::from(self.header.width) * u64::from(self.header.height) > MAX_PIXELS
    }

    /// Refuses a picture that is too large. Phones make baseline files with more pixels than other pictures may have,
    /// and these can be decoded at a reduced size.
    pub fn check_size(&self) -> Result<(), DecodeError> {
        let limit =
            if self.header.supports_scaled_decoding { MAX_REDUCED_PIXELS } else { MAX_PIXELS };
        check_size_up_to(limit, self.size())
    }

    /// Returns the smallest scale with at least `min_side` pixels on the shorter side, if the size of the picture allows
    /// it. Returns `None` if that is the full size, or if the scaled decoder does not support the file.
    pub fn scale(&self, min_side: u32) -> Option<JpegScale> {
        if !self.header.supports_scaled_decoding {
            return None;
        }
        let shorter = u32::from(self.header.width.min(self.header.height));
        let largest = self.is_always_reduced().then_some(JpegScale::FourEighths);
        let mut scales = JpegScale::ALL.into_iter();
        scales.find(|&it| Some(it) == largest || shorter * it as u32 / 8 >= min_side)
    }

    /// Decodes the picture to sRGB at a reduced size. Each side is the original side times the scale, rounded up.
    pub fn decode(&self, scale: JpegScale) -> Result<RgbImage, DecodeError> {
        let _lock = lock_memory(self.estimated_bytes() * (scale as u64).pow(2) / 64)?;
        let planes = match scale {
            JpegScale::OneEighth => scan::decode::<1>(self.bytes, &self.header),
            JpegScale::TwoEighths => scan::decode::<2>(self.bytes, &self.header),
            JpegScale::ThreeEighths => scan::decode::<3>(self.bytes, &self.header),
            JpegScale::FourEighths => scan::decode::<4>(self.bytes, &self.header),
            JpegScale::FiveEighths => scan::decode::<5>(self.bytes, &self.header),
            JpegScale::SixEighths => scan::decode::<6>(self.bytes, &self.header),
        }?;
        let (width, height) = self.size();
        let reduced = |side: u32| (side * scale as u32).div_ceil(8);
        let color_space = self.header.color_space();
        let mut picture = scan::to_rgb(&planes, color_space, reduced(width), reduced(height));
        if let Some(colors) = self.source_colors() {
            to_srgb(&mut picture, &colors);
        }
        Ok(picture)
    }

    /// Verifies that the file is complete and has a reasonable number of scans. The lenient general decoder does not
    /// verify this.
    pub fn check_complete(&self) -> Result<(), DecodeError> {
        if has_end_marker(self.bytes, self.header.scan_start)? {
            Ok(())
        } else if self.header.supports_scaled_decoding {
            // Some cameras omit the end marker. Only decoding shows then whether pixels are missing.
            Ok(scan::decode::<1>(self.bytes, &self.header).map(|_| ())?)
        } else if self.has_all_scans() {
            self.check_last_scan()
        } else {
            Err(JpegError::Truncated.into())
        }
    }

    /// Whether the headers of the scans cover all bits of all coefficients. The data of the last scan may be cut off.
    fn has_all_scans(&self) -> bool {
        let mut missing: Vec<_> =
            self.header.components.iter().map(|it| (it.id, u64::MAX)).collect();
        for header in scan_headers(self.bytes) {
            if let [components @ .., first, last, shift] = header.get(1..).unwrap_or_default()
                && shift.is_multiple_of(16)
                && first <= last
                && *last < 64
            {
                let band = u64::MAX << first & u64::MAX >> (63 - last);
                for (id, coefficients) in &mut missing {
                    if components.iter().step_by(2).any(|component| component == id) {
                        *coefficients &= !band;
                    }
                }
            }
        }
        missing.iter().all(|(_, coefficients)| *coefficients == 0)
    }

    /// Verifies that the last scan of a file without an end marker is complete. Ones are added to the data. No Huffman
    /// code consists of ones only, so a decoder that needs more data than the file has fails at them.
    fn check_last_scan(&self) -> Result<(), DecodeError> {
        let data = self.bytes.strip_suffix(b"\xFF").unwrap_or(self.bytes);
        let probe = [data, &[0xFF, 0].repeat(64), &[0xFF, 0xD9]].concat();
        has_end_marker(&probe, self.header.scan_start)?;
        Jpeg::open(&probe)?.check_samples()
    }
}

/// Returns the segment after the first scan that states the height, and the height.
fn late_height(bytes: &[u8], scan_start: usize) -> Option<(Range<usize>, u16)> {
    let at = next_marker(bytes, scan_start)?;
    match segment(bytes, at) {
        Ok((NUMBER_OF_LINES, &[high, low], next)) => {
            Some((at..next, u16::from_be_bytes([high, low])))
        }
        _ => None,
    }
}

/// Returns the bodies of the headers of all scans, up to the first damaged segment.
fn scan_headers(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut at = 2;
    std::iter::from_fn(move || {
        loop {
            let (marker, body, next) = segment(bytes, at).ok()?;
            if marker == START_OF_SCAN {
                at = next_marker(bytes, next).unwrap_or(bytes.len());
                return Some(body);
            }
            at = next;
        }
    })
}

/// Walks from the entropy-coded data of the first scan to the end of the file. Returns whether the end marker exists.
pub fn has_end_marker(bytes: &[u8], mut at: usize) -> Result<bool, JpegError> {
    let mut scans = 1;
    while let Some(found) = next_marker(bytes, at) {
        let (marker, _, next) = match segment(bytes, found) {
            Err(JpegError::Truncated) => return Ok(false),
            segment => segment?,
        };
        match marker {
            0xD9 if scans > MAX_SCANS => return Err(JpegError::TooManyScans(scans)),
            0xD9 => return Ok(true),
            0xDA => scans += 1,
            _ => {}
        }
        at = next;
    }
    Ok(false)
}

/// Returns the position of the next marker that is neither stuffing nor a restart.
fn next_marker(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr(0xFF, bytes.get(at..)?)?;
        match bytes.get(at + 1)? {
            0x00 | 0xD0..=0xD7 => at += 2,
            0xFF => at += 1,
            _ => return Some(at),
        }
    }
}

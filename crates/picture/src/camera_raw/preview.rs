//! The largest JPEG in a raw file that can be decoded, and its orientation.

use image::metadata::Orientation;

use super::{cr3::Cr3, raw_format::RawFormat, tiff_previews};
use crate::{error::DecodeError, jpeg};

/// More segments before the pixels are not read: a hostile file can claim the same bytes for many pictures.
const MAX_SEGMENTS: usize = 1000;

pub struct RawPreview<'a> {
    pub jpeg: &'a [u8],
    /// That of the raw file, which takes precedence over that in the JPEG.
    pub orientation: Option<Orientation>,
}

impl<'a> RawPreview<'a> {
    pub fn find(bytes: &'a [u8], format: RawFormat) -> Result<Self, DecodeError> {
        let (jpegs, orientation) = match format {
            RawFormat::Raf => (raf_preview(bytes).into_iter().collect(), None),
            RawFormat::Cr3 => {
                let file = Cr3::read(bytes);
                (file.jpegs, file.fields.and_then(tiff_previews::orientation))
            }
            _ => (tiff_previews::jpegs(bytes), tiff_previews::orientation(bytes)),
        };
        let sized = jpegs.into_iter().filter_map(|jpeg| Some((pixels(jpeg)?, jpeg)));
        // Of equal ones the first.
        let largest = sized.rev().max_by_key(|(pixels, _)| *pixels);
        let (_, jpeg) = largest.ok_or_else(|| {
            let name = format.name();
            DecodeError(format!(
                "a {name} without a JPEG preview: convert it to JPEG with a raw converter"
            ))
        })?;
        Ok(Self { jpeg, orientation })
    }
}

/// The JPEG of a Fujifilm raw file: its position and its length are in the header.
pub fn raf_preview(bytes: &[u8]) -> Option<&[u8]> {
    let number = |at| {
        let bytes = bytes.get(at..)?.first_chunk()?;
        usize::try_from(u32::from_be_bytes(*bytes)).ok()
    };
    bytes.get(number(84)?..)?.get(..number(88)?)
}

/// The number of pixels of a JPEG that our decoders read; `None` for others: the data of the sensor are a lossless JPEG
/// in many raw files.
fn pixels(jpeg: &[u8]) -> Option<u64> {
    if !jpeg.starts_with(&[0xFF, 0xD8]) {
        return None;
    }
    let is_frame =
        |marker: u8| matches!(marker, 0xC0..=0xCF if !matches!(marker, 0xC4 | 0xC8 | 0xCC));
    let mut segments = jpeg::segments_before_scan(jpeg).take(MAX_SEGMENTS);
    let (marker, frame) = segments.find(|(marker, _)| is_frame(*marker))?;
    let [precision, height @ .., width_high, width_low]: [u8; 5] = *frame.first_chunk()?;
    let [height, width] = [height, [width_high, width_low]].map(u16::from_be_bytes);
    let is_decodable = precision == 8 && matches!(marker, 0xC0..=0xC2);
    is_decodable.then(|| u64::from(height) * u64::from(width))
}

//! Rotates pictures with an EXIF orientation upright: bounding boxes would select the wrong part in a
//! program that ignores the orientation.

use jpeg_encoder::{ColorType, Encoder};

use super::decode::{DecodeError, decode, is_rotated};

/// High, because features are computed from the result.
const QUALITY: u8 = 95;

/// The upright picture as a JPEG; `None` if it is already upright.
pub fn to_upright_jpeg(bytes: &[u8]) -> Result<Option<Vec<u8>>, DecodeError> {
    if !is_rotated(bytes)? {
        return Ok(None);
    }
    let pixels = decode(bytes, u32::MAX)?.pixels;
    let describe = |error: &dyn std::fmt::Display| DecodeError(format!("cannot encode: {error}"));
    let width = u16::try_from(pixels.width()).map_err(|error| describe(&error))?;
    let height = u16::try_from(pixels.height()).map_err(|error| describe(&error))?;
    let mut jpeg = Vec::new();
    Encoder::new(&mut jpeg, QUALITY)
        .encode(pixels.as_raw(), width, height, ColorType::Rgb)
        .map_err(|error| describe(&error))?;
    Ok(Some(jpeg))
}

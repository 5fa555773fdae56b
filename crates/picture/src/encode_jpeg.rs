//! Encodes pictures as JPEG. Pictures that some programs cannot open, or show in another orientation, are converted.

use image::RgbImage;
use jpeg_encoder::{ColorType, Encoder};

use crate::{
    decode::{decode, is_rotated},
    format::PictureFormat,
    limits::DecodeError,
};

pub fn encode_jpeg(picture: &RgbImage, quality: u8) -> Result<Vec<u8>, DecodeError> {
    let describe = |error: &dyn std::fmt::Display| DecodeError(format!("cannot encode: {error}"));
    let side = |pixels: u32| u16::try_from(pixels).map_err(|error| describe(&error));
    let (width, height) = (side(picture.width())?, side(picture.height())?);
    let mut jpeg = Vec::new();
    Encoder::new(&mut jpeg, quality)
        .encode(picture, width, height, ColorType::Rgb)
        .map_err(|error| describe(&error))?;
    Ok(jpeg)
}

/// The quality is high, because features are computed from the result.
const QUALITY: u8 = 95;

/// Returns the upright picture as a JPEG. In a program that ignores the orientation, bounding boxes would select the
/// wrong part. Returns `None` if the picture is already upright and in a format that every program reads.
pub fn to_common_jpeg(bytes: &[u8]) -> Result<Option<Vec<u8>>, DecodeError> {
    if PictureFormat::detect(bytes).is_some_and(PictureFormat::is_common) && !is_rotated(bytes)? {
        return Ok(None);
    }
    encode_jpeg(&decode(bytes, u32::MAX)?.pixels, QUALITY).map(Some)
}

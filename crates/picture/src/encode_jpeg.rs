//! Encodes pictures as JPEG.

use image::RgbImage;
use jpeg_encoder::{ColorType, Encoder};

use crate::error::DecodeError;

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

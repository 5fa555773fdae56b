//! Bytes to upright RGB pixels, within limits set before the first call.
//!
//! Only JPEG, PNG, WebP, GIF and BMP are opened, recognised by their first bytes and not by name.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
};

use image::{DynamicImage, ImageFormat, RgbImage, metadata::Orientation};

use super::{jpeg::Jpeg, raster::Raster};

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

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Decodes `bytes`. Where the format allows it cheaply the result is scaled down while decoding,
/// but its shorter side never below `enough` pixels (or the original's, if that is smaller).
/// Transparent parts are laid over mid-grey.
///
/// # Errors
/// A format outside the list, a size over the limits, or damaged bytes.
pub fn decode(bytes: &[u8], enough: u32) -> Result<Decoded, DecodeError> {
    decode_for(bytes, |_| enough)
}

/// Like [`decode`], with `enough` chosen from the size of the original, upright.
///
/// # Errors
/// As [`decode`].
pub fn decode_for(
    bytes: &[u8],
    enough: impl FnOnce((u32, u32)) -> u32,
) -> Result<Decoded, DecodeError> {
    guard(|| open(bytes, enough))
}

/// Whether this thread is inside a decoder, whose panic ends nothing but one picture: a panic
/// hook has then nothing to restore and nothing to say.
#[must_use]
pub fn is_guarded() -> bool {
    GUARDED.get()
}

/// Turns a panic of a decoder into an error of its picture.
fn guard<T>(decoder: impl FnOnce() -> Result<T, DecodeError>) -> Result<T, DecodeError> {
    let outer = GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(decoder));
    GUARDED.set(outer);
    result.unwrap_or_else(|_| Err(DecodeError("the decoder failed on this picture".to_owned())))
}

fn open(bytes: &[u8], enough: impl FnOnce((u32, u32)) -> u32) -> Result<Decoded, DecodeError> {
    let format = recognise(bytes)?;
    if format != ImageFormat::Jpeg {
        let mut raster = Raster::open(bytes, format)?;
        let orientation = raster.orientation();
        let original = upright(raster.size(), orientation);
        let enough = enough(original);
        return Ok(finish(raster.decode(enough)?, orientation, original));
    }
    let jpeg = Jpeg::open(bytes)?;
    admit(jpeg.size())?;
    let original = upright(jpeg.size(), jpeg.orientation());
    let enough = enough(original);
    let pixels = if let Some(scale) = jpeg.scale(enough) {
        jpeg.decode(scale)?
    } else {
        jpeg.check()?;
        Raster::open(bytes, format)?.decode(enough)?
    };
    Ok(finish(pixels, jpeg.orientation(), original))
}

fn finish(pixels: RgbImage, orientation: Orientation, original: (u32, u32)) -> Decoded {
    let mut picture = DynamicImage::ImageRgb8(pixels);
    picture.apply_orientation(orientation);
    Decoded {
        pixels: picture.into_rgb8(),
        original,
    }
}

/// The format by its first bytes.
fn recognise(bytes: &[u8]) -> Result<ImageFormat, DecodeError> {
    match bytes {
        [] => Err(DecodeError("an empty file".to_owned())),
        [0xFF, 0xD8, 0xFF, ..] => Ok(ImageFormat::Jpeg),
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Ok(ImageFormat::Png),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => Ok(ImageFormat::WebP),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Ok(ImageFormat::Gif),
        [b'B', b'M', ..] => Ok(ImageFormat::Bmp),
        _ => Err(DecodeError(
            "not a JPEG, PNG, WebP, GIF or BMP file".to_owned(),
        )),
    }
}

/// Refuses sizes over the limits, and empty ones.
pub(super) fn admit((width, height): (u32, u32)) -> Result<(), DecodeError> {
    let pixels = u64::from(width) * u64::from(height);
    let refuse = |why: &str| Err(DecodeError(format!("{width}x{height} pixels {why}")));
    if pixels == 0 {
        refuse("are no picture")
    } else if pixels > MAX_PIXELS {
        refuse("is over the limit of 100 million")
    } else if width.max(height) > MAX_SIDE {
        refuse("is over the limit of 32768 a side")
    } else {
        Ok(())
    }
}

fn upright((width, height): (u32, u32), orientation: Orientation) -> (u32, u32) {
    match orientation {
        Orientation::Rotate90
        | Orientation::Rotate270
        | Orientation::Rotate90FlipH
        | Orientation::Rotate270FlipH => (height, width),
        _ => (width, height),
    }
}

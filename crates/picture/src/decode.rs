//! Decodes pictures of the formats in [`PictureFormat`] to upright sRGB, within fixed limits.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
};

use image::{ColorType, DynamicImage, RgbImage, metadata::Orientation};

pub use crate::limits::DecodeError;
use crate::{
    camera_raw::RawPreview,
    cmyk::decode_cmyk_jpeg,
    format::PictureFormat,
    heif::{CodedPicture, find_ffmpeg, to_rgb},
    jpeg::Jpeg,
    jpeg_xl::JpegXl,
    limits::lock_memory,
    raster::{RasterDecoder, to_picture},
    tiff::Tiff,
    tiff_samples::divide_by_alpha,
};

#[derive(Clone, Debug)]
pub struct Decoded {
    /// The upright pixels. A scaled decode returns fewer pixels than the original has.
    pub pixels: RgbImage,
    /// Size of the original, upright (width, height).
    pub original: (u32, u32),
}

thread_local! {
    static IN_DECODER: Cell<bool> = const { Cell::new(false) };
}

/// Returns the `min_side` of a decode whose result is then scaled to `side` pixels and judged in detail. The blocks of a
/// JPEG leave traces in the pixels of a scaled decode. These traces disappear when 1.4 times the pixels are scaled down.
pub fn with_spare_pixels(side: u32) -> u32 {
    side.saturating_mul(7).div_ceil(5)
}

/// Decodes `bytes`. The result is scaled down if that is cheap, but its shorter side has at least `min_side` pixels, or
/// as many as the original. A JPEG of more than 100 million pixels has at most half its size. Transparent parts are
/// blended with medium gray.
pub fn decode(bytes: &[u8], min_side: u32) -> Result<Decoded, DecodeError> {
    decode_for(bytes, |_| min_side)
}

/// Like [`decode`], with `min_side` computed from the upright size of the original.
pub fn decode_for(
    bytes: &[u8],
    min_side: impl FnOnce((u32, u32)) -> u32,
) -> Result<Decoded, DecodeError> {
    decode_picture(|| {
        let OpenPicture { size, orientation, decode } = open(bytes)?;
        let original = upright_size(size, orientation);
        let mut picture = DynamicImage::ImageRgb8(decode(min_side(original))?);
        picture.apply_orientation(orientation);
        Ok(Decoded { pixels: picture.into_rgb8(), original })
    })
}

/// Whether the stored pixels are not upright. Reads only the header.
pub fn is_rotated(bytes: &[u8]) -> Result<bool, DecodeError> {
    orientation(bytes).map(|orientation| orientation != Orientation::NoTransforms)
}

/// Returns how the stored pixels have to be turned to be upright. Reads only the header.
pub fn orientation(bytes: &[u8]) -> Result<Orientation, DecodeError> {
    read_header(bytes).map(|(_, orientation)| orientation)
}

/// Returns the upright size of a picture (width, height). Reads only the header.
pub fn size(bytes: &[u8]) -> Result<(u32, u32), DecodeError> {
    read_header(bytes).map(|(stored, orientation)| upright_size(stored, orientation))
}

fn read_header(bytes: &[u8]) -> Result<((u32, u32), Orientation), DecodeError> {
    decode_picture(|| open(bytes).map(|picture| (picture.size, picture.orientation)))
}

/// Whether this thread is inside a decoder. A panic in a decoder only fails the picture, so the panic hook must not
/// restore the terminal or print anything.
pub fn is_in_decoder() -> bool {
    IN_DECODER.get()
}

/// Runs a decoder of bytes from outside, which may be a picture or another format. Returns `None` if the decoder
/// panicked.
pub fn catch_decoder_panic<T>(decoder: impl FnOnce() -> T) -> Option<T> {
    let outer = IN_DECODER.replace(true);
    let result = catch_unwind(AssertUnwindSafe(decoder));
    IN_DECODER.set(outer);
    result.ok()
}

fn decode_picture<T>(decoder: impl FnOnce() -> Result<T, DecodeError>) -> Result<T, DecodeError> {
    let failed = || Err(DecodeError("the decoder failed on this picture".to_owned()));
    catch_decoder_panic(decoder).unwrap_or_else(failed)
}

/// A picture whose header was read.
struct OpenPicture<'a> {
    /// Size of the stored pixels (width, height).
    size: (u32, u32),
    orientation: Orientation,
    /// Decodes the stored pixels. The shorter side has at least the given number of pixels, or as many as the original.
    decode: Box<dyn FnOnce(u32) -> Result<RgbImage, DecodeError> + 'a>,
}

fn open(bytes: &[u8]) -> Result<OpenPicture<'_>, DecodeError> {
    Ok(match detect_format(bytes)? {
        PictureFormat::Jpeg => open_jpeg(bytes, None)?,
        PictureFormat::Raw(format) => {
            let preview = RawPreview::find(bytes, format)?;
            open_jpeg(preview.jpeg, preview.orientation)?
        }
        format @ (PictureFormat::Avif | PictureFormat::Heif) => {
            let picture = CodedPicture::open(bytes, format.name())?;
            let (size, orientation) = (picture.size(), picture.orientation);
            let decode = move |min_side| decode_heif(&picture, format, min_side);
            OpenPicture { size, orientation, decode: Box::new(decode) }
        }
        PictureFormat::JpegXl => {
            let picture = JpegXl::open(bytes)?;
            let (size, orientation) = (picture.size(), Orientation::NoTransforms);
            OpenPicture { size, orientation, decode: Box::new(|min_side| picture.decode(min_side)) }
        }
        PictureFormat::Tiff => {
            let mut page = Tiff::open(bytes)?;
            let (size, orientation) = (page.size(), page.orientation());
            OpenPicture { size, orientation, decode: Box::new(|min_side| page.decode(min_side)) }
        }
        format => {
            let mut raster = RasterDecoder::open(bytes, format)?;
            let (size, orientation) = (raster.size(), raster.orientation());
            OpenPicture { size, orientation, decode: Box::new(|min_side| raster.decode(min_side)) }
        }
    })
}

/// The orientation stored in the JPEG applies if no other orientation is given.
fn open_jpeg(
    bytes: &[u8],
    orientation: Option<Orientation>,
) -> Result<OpenPicture<'_>, DecodeError> {
    let jpeg = Jpeg::open(bytes)?;
    jpeg.check_size()?;
    Ok(OpenPicture {
        size: jpeg.size(),
        orientation: orientation.unwrap_or(jpeg.orientation()),
        decode: Box::new(move |min_side| match jpeg.completed() {
            Some(completed) => decode_jpeg(&completed, &Jpeg::open(&completed)?, min_side),
            None => decode_jpeg(bytes, &jpeg, min_side),
        }),
    })
}

fn decode_jpeg(bytes: &[u8], jpeg: &Jpeg, min_side: u32) -> Result<RgbImage, DecodeError> {
    match jpeg.scale(min_side).map(|scale| jpeg.decode(scale)) {
        Some(Ok(pixels)) => Ok(pixels),
        None => decode_full_jpeg(bytes, jpeg, min_side),
        // The general decoders show what they can read of a damaged picture.
        Some(Err(error)) => decode_full_jpeg(bytes, jpeg, min_side).map_err(|_| error),
    }
}

fn decode_full_jpeg(bytes: &[u8], jpeg: &Jpeg, min_side: u32) -> Result<RgbImage, DecodeError> {
    jpeg.check_complete()?;
    let Some(repaired) = jpeg.repaired() else {
        return decode_by_layout(bytes, jpeg, min_side);
    };
    let jpeg = Jpeg::open(&repaired)?;
    match jpeg.scale(min_side) {
        Some(scale) => jpeg.decode(scale),
        None => decode_by_layout(&repaired, &jpeg, min_side),
    }
}

fn decode_by_layout(bytes: &[u8], jpeg: &Jpeg, min_side: u32) -> Result<RgbImage, DecodeError> {
    if jpeg.is_cmyk() {
        decode_cmyk_jpeg(bytes, jpeg, min_side)
    } else if !jpeg.has_common_layout() {
        jpeg.decode_uncommon(min_side)
    } else {
        RasterDecoder::open(bytes, PictureFormat::Jpeg)?.decode(min_side)
    }
}

/// Decodes an AVIF or HEIC picture with `ffmpeg`, if that is installed.
fn decode_heif(
    picture: &CodedPicture,
    format: PictureFormat,
    min_side: u32,
) -> Result<RgbImage, DecodeError> {
    let missing = || DecodeError(format.missing_program_reason().unwrap_or_default());
    let program = find_ffmpeg().ok_or_else(missing)?;
    let (width, height) = picture.coded_size;
    // The alpha channel is decoded like colors, and then combined with them.
    let bytes_per_pixel = if picture.alpha.is_some() { 10 } else { 3 };
    let _lock = lock_memory(bytes_per_pixel * u64::from(width) * u64::from(height))?;
    let (mut samples, mut color) =
        (to_rgb(picture, program, format.name())?.into_raw(), ColorType::Rgb8);
    if let Some(alpha) = &picture.alpha {
        let alpha = to_rgb(alpha, program, format.name())?;
        let pixels = samples.as_chunks().0.iter().zip(alpha.pixels());
        samples = pixels.flat_map(|(&[r, g, b], alpha)| [r, g, b, alpha.0[0]]).collect();
        color = ColorType::Rgba8;
        if picture.is_premultiplied {
            divide_by_alpha(&mut samples, 4);
        }
    }
    to_picture(samples, picture.size(), color, min_side, picture.source_colors().as_ref())
}

fn detect_format(bytes: &[u8]) -> Result<PictureFormat, DecodeError> {
    match PictureFormat::detect(bytes) {
        Some(format) => Ok(format),
        None if bytes.is_empty() => Err(DecodeError("an empty file".to_owned())),
        None => Err(DecodeError(format!("not a {} file", PictureFormat::DECODABLE))),
    }
}

fn upright_size((width, height): (u32, u32), orientation: Orientation) -> (u32, u32) {
    match orientation {
        Orientation::Rotate90
        | Orientation::Rotate270
        | Orientation::Rotate90FlipH
        | Orientation::Rotate270FlipH => (height, width),
        _ => (width, height),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_fails_one_picture_only() {
        let error = catch_decoder_panic::<()>(|| {
            assert!(is_in_decoder());
            panic!("inside a decoder")
        });
        assert!(error.is_none());
        assert!(!is_in_decoder());
    }
}

//! Decodes bytes to upright RGB pixels, within fixed limits.
//!
//! Only JPEG, PNG, WebP, GIF and BMP are decoded, detected by their first bytes and not by name.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
};

use image::{DynamicImage, ImageFormat, RgbImage, metadata::Orientation};

use super::{jpeg::Jpeg, raster::RasterDecoder};

/// The largest side of a picture, in pixels.
pub const MAX_SIDE: u32 = 32_768;
/// The most pixels of a picture.
pub const MAX_PIXELS: u64 = 100_000_000;

#[derive(Clone, Debug)]
pub struct Decoded {
    /// Upright pixels; fewer than the original after a scaled decode.
    pub pixels: RgbImage,
    /// Size of the original, upright (width, height).
    pub original: (u32, u32),
}

/// Why a picture could not be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError(pub String);

impl std::fmt::Display for DecodeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DecodeError {}

thread_local! {
    static IN_DECODER: Cell<bool> = const { Cell::new(false) };
}

/// Decodes `bytes`, scaled down if that is cheap, but with at least `min_side` pixels on the shorter
/// side (or that of the original). Transparent parts are blended with medium gray.
pub fn decode(bytes: &[u8], min_side: u32) -> Result<Decoded, DecodeError> {
    decode_for(bytes, |_| min_side)
}

/// Like [`decode`], with `min_side` computed from the upright size of the original.
pub fn decode_for(
    bytes: &[u8],
    min_side: impl FnOnce((u32, u32)) -> u32,
) -> Result<Decoded, DecodeError> {
    catch_decoder_panic(|| open(bytes, min_side))
}

/// Whether the picture is not stored upright. Reads only the header.
pub fn is_rotated(bytes: &[u8]) -> Result<bool, DecodeError> {
    read_header(bytes).map(|(_, orientation)| orientation != Orientation::NoTransforms)
}

/// The upright size of a picture (width, height). Reads only the header.
pub fn size(bytes: &[u8]) -> Result<(u32, u32), DecodeError> {
    read_header(bytes).map(|(stored, orientation)| upright_size(stored, orientation))
}

/// The size as stored, and the orientation.
fn read_header(bytes: &[u8]) -> Result<((u32, u32), Orientation), DecodeError> {
    catch_decoder_panic(|| match detect_format(bytes)? {
        ImageFormat::Jpeg => {
            let jpeg = Jpeg::open(bytes)?;
            check_size(jpeg.size())?;
            Ok((jpeg.size(), jpeg.orientation()))
        }
        format => {
            let mut raster = RasterDecoder::open(bytes, format)?;
            Ok((raster.size(), raster.orientation()))
        }
    })
}

/// Whether this thread is inside a decoder. Its panic only fails one picture, so that a panic hook
/// must not restore the terminal or print anything.
#[must_use]
pub fn is_in_decoder() -> bool {
    IN_DECODER.get()
}

/// Converts a panic of a decoder to an error.
fn catch_decoder_panic<T>(
    decoder: impl FnOnce() -> Result<T, DecodeError>,
) -> Result<T, DecodeError> {
    let outer = IN_DECODER.replace(true);
    let result = catch_unwind(AssertUnwindSafe(decoder));
    IN_DECODER.set(outer);
    result.unwrap_or_else(|_| Err(DecodeError("the decoder failed on this picture".to_owned())))
}

fn open(bytes: &[u8], min_side: impl FnOnce((u32, u32)) -> u32) -> Result<Decoded, DecodeError> {
    let format = detect_format(bytes)?;
    if format != ImageFormat::Jpeg {
        let mut raster = RasterDecoder::open(bytes, format)?;
        let orientation = raster.orientation();
        let original = upright_size(raster.size(), orientation);
        let min_side = min_side(original);
        return Ok(apply_orientation(raster.decode(min_side)?, orientation, original));
    }
    let jpeg = Jpeg::open(bytes)?;
    check_size(jpeg.size())?;
    let original = upright_size(jpeg.size(), jpeg.orientation());
    let min_side = min_side(original);
    let pixels = if let Some(scale) = jpeg.scale(min_side) {
        jpeg.decode(scale)?
    } else {
        jpeg.check_complete()?;
        RasterDecoder::open(bytes, format)?.decode(min_side)?
    };
    Ok(apply_orientation(pixels, jpeg.orientation(), original))
}

fn apply_orientation(pixels: RgbImage, orientation: Orientation, original: (u32, u32)) -> Decoded {
    let mut picture = DynamicImage::ImageRgb8(pixels);
    picture.apply_orientation(orientation);
    Decoded { pixels: picture.into_rgb8(), original }
}

fn detect_format(bytes: &[u8]) -> Result<ImageFormat, DecodeError> {
    match bytes {
        [] => Err(DecodeError("an empty file".to_owned())),
        [0xFF, 0xD8, 0xFF, ..] => Ok(ImageFormat::Jpeg),
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Ok(ImageFormat::Png),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Ok(ImageFormat::WebP),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Ok(ImageFormat::Gif),
        [b'B', b'M', ..] => Ok(ImageFormat::Bmp),
        _ => Err(DecodeError("not a JPEG, PNG, WebP, GIF or BMP file".to_owned())),
    }
}

/// Rejects empty pictures and sizes over the limits.
pub(super) fn check_size((width, height): (u32, u32)) -> Result<(), DecodeError> {
    let pixels = u64::from(width) * u64::from(height);
    let refuse = |why: &str| Err(DecodeError(format!("{width}x{height} pixels {why}")));
    if pixels == 0 {
        refuse("are not a picture")
    } else if pixels > MAX_PIXELS {
        refuse("is over the limit of 100 million")
    } else if width.max(height) > MAX_SIDE {
        refuse("is over the limit of 32768 a side")
    } else {
        Ok(())
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
    use std::io::Cursor;

    use image::{Frame, Rgba, RgbaImage, codecs::gif::GifEncoder};

    use super::*;

    fn encoded(picture: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        picture.into().write_to(&mut bytes, format).expect("encoded");
        bytes.into_inner()
    }

    fn chunk(name: [u8; 4], body: &[u8]) -> Vec<u8> {
        let mut chunk = u32::try_from(body.len()).expect("short").to_be_bytes().to_vec();
        chunk.extend(name);
        chunk.extend(body);
        let sum = crc32fast::hash(&chunk[4..]);
        chunk.extend(sum.to_be_bytes());
        chunk
    }

    fn low(number: u32) -> u8 {
        number.to_le_bytes()[0]
    }

    /// A gray PNG with only a header.
    fn png_header(width: u32, height: u32) -> Vec<u8> {
        let mut header = [width.to_be_bytes(), height.to_be_bytes()].concat();
        header.extend([8, 0, 0, 0, 0]);
        let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
        bytes.extend(chunk(*b"IHDR", &header));
        bytes.extend(chunk(*b"IDAT", b"\x78\x9c"));
        bytes
    }

    #[test]
    fn only_five_formats_by_their_first_bytes() {
        for other in ["<svg/>", "%PDF-1.7", "<html>", "II*\0", "\0\0\0\x1cftypavif", "P6 1 1"] {
            let error = decode(other.as_bytes(), 10).expect_err(other);
            assert_eq!(error.0, "not a JPEG, PNG, WebP, GIF or BMP file");
        }
        assert_eq!(decode(b"", 10).expect_err("empty").0, "an empty file");
        let picture = RgbImage::from_pixel(9, 7, image::Rgb([200, 30, 90]));
        for format in [ImageFormat::Png, ImageFormat::WebP, ImageFormat::Gif, ImageFormat::Bmp] {
            let decoded = decode(&encoded(picture.clone(), format), 100).expect("decoded");
            assert_eq!(decoded.original, (9, 7), "{format:?}");
            assert_eq!(decoded.pixels.get_pixel(4, 3).0, [200, 30, 90], "{format:?}");
        }
    }

    #[test]
    fn sizes_over_the_limits_are_named() {
        let error = decode(&png_header(20_000, 20_000), 10).expect_err("a bomb");
        assert_eq!(error.0, "20000x20000 pixels is over the limit of 100 million");
        let error = decode(&png_header(40_000, 2), 10).expect_err("too wide");
        assert_eq!(error.0, "40000x2 pixels is over the limit of 32768 a side");
        assert!(decode(&png_header(0, 5), 10).is_err());
    }

    #[test]
    fn a_cut_file_is_truncated() {
        let picture = RgbImage::from_fn(60, 50, |x, y| image::Rgb([low(x * y), low(x), 7]));
        for (format, name) in [(ImageFormat::Png, "PNG"), (ImageFormat::WebP, "WebP")] {
            let bytes = encoded(picture.clone(), format);
            let error = decode(&bytes[..bytes.len() / 2], 10).expect_err("cut");
            assert!(error.0.contains(name), "{error}");
        }
    }

    #[test]
    fn a_panic_fails_one_picture_only() {
        let error = catch_decoder_panic::<()>(|| {
            assert!(is_in_decoder());
            panic!("inside a decoder")
        });
        assert!(error.is_err());
        assert!(!is_in_decoder());
    }

    #[test]
    fn of_an_animation_the_first_frame() {
        let mut bytes = Vec::new();
        let frames = [[250, 0, 0, 255], [0, 0, 250, 255]]
            .map(|color| Frame::new(RgbaImage::from_pixel(8, 8, Rgba(color))));
        GifEncoder::new(&mut bytes).encode_frames(frames).expect("encoded");
        let decoded = decode(&bytes, 10).expect("decoded");
        assert_eq!(decoded.pixels.get_pixel(3, 3).0, [250, 0, 0]);
    }

    #[test]
    fn transparent_parts_are_blended_with_gray() {
        let clear = RgbaImage::from_pixel(40, 40, Rgba([255, 255, 255, 0]));
        let half = RgbaImage::from_pixel(40, 40, Rgba([255, 0, 128, 128]));
        for enough in [5, 40] {
            let decoded = decode(&encoded(clear.clone(), ImageFormat::Png), enough);
            assert_eq!(decoded.expect("decoded").pixels.get_pixel(1, 1).0, [128; 3]);
            let decoded = decode(&encoded(half.clone(), ImageFormat::Png), enough);
            assert_eq!(decoded.expect("decoded").pixels.get_pixel(1, 1).0, [192, 64, 128]);
        }
    }

    #[test]
    fn sixteen_bits_and_far_fewer_pixels() {
        let wide = image::ImageBuffer::from_fn(300, 100, |x, _| {
            image::Rgb([0x8000_u16, if x < 150 { 0 } else { 0xFFFF }, 0x40FF])
        });
        let decoded = decode(&encoded(wide, ImageFormat::Png), 10).expect("decoded");
        assert_eq!(decoded.original, (300, 100));
        assert_eq!(decoded.pixels.dimensions(), (30, 10));
        assert_eq!(decoded.pixels.get_pixel(2, 2).0, [0x80, 0, 0x40]);
        assert_eq!(decoded.pixels.get_pixel(27, 9).0, [0x80, 0xFF, 0x40]);
    }
}

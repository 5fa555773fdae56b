//! Fits pictures into cells and encodes them for the terminal, or as JPEG for other programs. The difference of two
//! pictures is drawn as the first picture, dimmed and gray, with the differences in red.

use std::sync::Arc;

use base64::{Engine, engine::general_purpose::STANDARD};
use image::{Rgb, RgbImage};
use jpeg_encoder::{ColorType, Encoder};

use crate::{
    decode::{Decoded, decode, decode_for, is_rotated},
    fit::{Canvas, Fit, Protocol, resize},
    format::PictureFormat,
    limits::DecodeError,
    sixel,
    source_colors::{CodedColors, SourceColors, to_srgb},
    view::Crop,
};
use tessera_model::Region;

/// At this quality, a tile has no visible blocks, and a sixth of the size of a PNG.
const ITERM_QUALITY: u8 = 88;

#[derive(Clone, Debug, PartialEq)]
pub struct Thumbnail {
    /// The number of covered cells (columns, rows), at most the size of the canvas.
    pub cells: (u16, u16),
    /// The upright size of the original, in pixels.
    pub original: (u32, u32),
    pub encoded: Encoded,
    /// In a difference of two whole pictures of the same size: which of their pixels differ at all.
    pub differing_pixels: Option<DifferingPixels>,
}

/// The pixels that differ between two pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DifferingPixels {
    pub count: u64,
    /// The largest difference of a color channel.
    pub largest: u8,
}

/// A picture encoded for a protocol. Cloning is cheap.
#[derive(Clone, Debug, PartialEq)]
pub enum Encoded {
    /// The pixels by rows, from top to bottom: `columns` x `2 * rows` of them.
    Pixels(Arc<[[u8; 3]]>),
    Kitty {
        /// The pixels by rows, in Base64.
        payload: Arc<str>,
        size: (u32, u32),
    },
    /// A string that draws the picture at the cursor (sixel or iTerm2).
    Sequence(Arc<str>),
}

#[derive(Clone, Debug)]
pub struct FittedPicture {
    pub fit: Fit,
    pub original: (u32, u32),
    pub picture: RgbImage,
    /// Whether the picture belongs to the full-size view, in which details are judged.
    pub is_zoomable: bool,
}

pub fn fit_picture(
    bytes: &[u8],
    crop: &Crop,
    canvas: Canvas,
) -> Result<FittedPicture, DecodeError> {
    let decoded = decode_for(bytes, |original| crop.min_decoded_side(original, canvas))?;
    fit_decoded(&decoded, crop, canvas)
}

fn fit_decoded(
    decoded: &Decoded,
    crop: &Crop,
    canvas: Canvas,
) -> Result<FittedPicture, DecodeError> {
    let fit = crop.fit(decoded.original, canvas);
    let mut picture = resize(&crop.apply(&decoded.pixels), fit.pixels)?;
    crop.draw_outlines(&mut picture, canvas.protocol);
    let is_zoomable = matches!(crop, Crop::Zoomed(..));
    Ok(FittedPicture { fit, original: decoded.original, picture, is_zoomable })
}

/// Like [`fit_picture`], but also encodes the picture for the protocol of the canvas.
pub fn thumbnail(bytes: &[u8], crop: &Crop, canvas: Canvas) -> Result<Thumbnail, DecodeError> {
    encode(fit_picture(bytes, crop, canvas)?, canvas)
}

/// Makes the thumbnail of a picture that is decoded already.
pub fn thumbnail_of(
    decoded: &Decoded,
    crop: &Crop,
    canvas: Canvas,
) -> Result<Thumbnail, DecodeError> {
    encode(fit_decoded(decoded, crop, canvas)?, canvas)
}

/// Encodes a fitted picture for the protocol of the canvas.
pub fn encode(fitted: FittedPicture, canvas: Canvas) -> Result<Thumbnail, DecodeError> {
    let FittedPicture { fit: Fit { cells, pixels }, original, picture, is_zoomable } = fitted;
    let encoded = match canvas.protocol {
        Protocol::None | Protocol::HalfBlock => Encoded::Pixels(picture.as_chunks::<3>().0.into()),
        // The pixels are not compressed, because zlib and PNG shrink a photograph by only 10 to 33 % and take 6 to 14
        // times as long.
        Protocol::Kitty => {
            Encoded::Kitty { payload: STANDARD.encode(&*picture).into(), size: pixels }
        }
        Protocol::Sixel if is_zoomable => {
            Encoded::Sequence(sixel::encode_with_adaptive_palette(&picture).into())
        }
        Protocol::Sixel => Encoded::Sequence(sixel::encode(&picture).into()),
        Protocol::Iterm => Encoded::Sequence(iterm_sequence(&picture, cells)?.into()),
    };
    Ok(Thumbnail { cells, original, encoded, differing_pixels: None })
}

fn iterm_sequence(picture: &RgbImage, (columns, rows): (u16, u16)) -> Result<String, DecodeError> {
    let jpeg = encode_jpeg(picture, ITERM_QUALITY)?;
    Ok(format!(
        "\x1b]1337;File=inline=1;size={};width={columns};height={rows};\
         preserveAspectRatio=0;doNotMoveCursor=1:{}\x07",
        jpeg.len(),
        STANDARD.encode(&jpeg)
    ))
}

/// The smallest difference of a color channel that is shown. Smaller differences come from the compression.
const MIN_DIFFERENCE: u8 = 16;
/// The amount of red that the smallest visible difference gets.
const MIN_RED: u8 = 96;

/// Draws the difference of two pictures within the crop. The second picture is scaled to the size of the first, so that
/// copies of different sizes can be compared.
pub fn difference(
    [one, other]: [&[u8]; 2],
    crop: &Crop,
    canvas: Canvas,
) -> Result<Thumbnail, DecodeError> {
    let mut fitted = fit_picture(one, crop, canvas)?;
    let fitted_other = fit_to(other, crop, fitted.fit)?;
    for (pixel, other) in fitted.picture.pixels_mut().zip(fitted_other.pixels()) {
        *pixel = difference_color(*pixel, *other);
    }
    let differing_pixels = match crop {
        Crop::Zoomed(Region::WHOLE, _) | Crop::Full => {
            count_differing_pixels([one, other], fitted.original)?
        }
        _ => None,
    };
    Ok(Thumbnail { differing_pixels, ..encode(fitted, canvas)? })
}

/// The most pixels of a picture whose pixels are counted, because both pictures are decoded at their full size.
const MAX_COUNTED_PIXELS: u64 = 32_000_000;

/// Counts the pixels that differ at all between two pictures, the first of which has this size. Returns `None` for
/// pictures of different sizes, and for very large ones.
fn count_differing_pixels(
    [one, other]: [&[u8]; 2],
    size: (u32, u32),
) -> Result<Option<DifferingPixels>, DecodeError> {
    if u64::from(size.0) * u64::from(size.1) > MAX_COUNTED_PIXELS {
        return Ok(None);
    }
    if one == other {
        return Ok(Some(DifferingPixels::default()));
    }
    let (one, other) = (decode(one, u32::MAX)?.pixels, decode(other, u32::MAX)?.pixels);
    if one.dimensions() != other.dimensions() {
        return Ok(None);
    }
    let differences = one.pixels().zip(other.pixels()).map(|(one, other)| largest(*one, *other));
    let differing = differences.filter(|difference| *difference > 0);
    Ok(Some(differing.fold(DifferingPixels::default(), |found, difference| DifferingPixels {
        count: found.count + 1,
        largest: found.largest.max(difference),
    })))
}

/// Returns the crop of a picture, scaled to the size of another picture.
fn fit_to(bytes: &[u8], crop: &Crop, fit: Fit) -> Result<RgbImage, DecodeError> {
    let decoded = decode_for(bytes, |original| crop.min_decoded_side_for(fit, original))?;
    resize(&crop.apply(&decoded.pixels), fit.pixels)
}

/// Returns the largest difference of a color channel.
fn largest(Rgb(one): Rgb<u8>, Rgb(other): Rgb<u8>) -> u8 {
    let channels = one.iter().zip(&other).map(|(one, other)| one.abs_diff(*other));
    channels.max().unwrap_or(0)
}

fn difference_color(one: Rgb<u8>, other: Rgb<u8>) -> Rgb<u8> {
    let mean = one.0.iter().map(|channel| u16::from(*channel)).sum::<u16>() / 3;
    let gray = u8::try_from(mean / 3).unwrap_or(u8::MAX);
    match largest(one, other) {
        0..MIN_DIFFERENCE => Rgb([gray; 3]),
        largest => Rgb([MIN_RED.saturating_add(largest), gray / 2, gray / 2]),
    }
}

/// Returns the number of the nearest color in the 6x6x6 cube or the gray ramp of the 256-color palette.
pub fn nearest_of_256(pixel: [u8; 3]) -> u8 {
    const CUBE: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let level = |sample: u8| match sample {
        0..48 => 0,
        48..115 => 1,
        _ => (sample - 35) / 40,
    };
    let levels = pixel.map(level);
    let cube = levels.map(|level| CUBE[usize::from(level)]);
    let mean = pixel.map(u16::from).iter().sum::<u16>() / 3;
    let step = (mean.saturating_sub(3) / 10).min(23) as u8;
    let gray = [8 + 10 * step; 3];
    if squared_distance(pixel, gray) < squared_distance(pixel, cube) {
        232 + step
    } else {
        16 + 36 * levels[0] + 6 * levels[1] + levels[2]
    }
}

/// Returns the squared distance between two colors.
pub fn squared_distance(a: [u8; 3], b: [u8; 3]) -> u32 {
    a.into_iter().zip(b).map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
}

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

/// Converts a JPEG whose colors are described by the numbers of ITU-T H.273 (primaries and transfer characteristics) to
/// sRGB.
pub fn coded_jpeg_to_srgb(
    bytes: &[u8],
    (primaries, transfer): (u8, u8),
    quality: u8,
) -> Result<Vec<u8>, DecodeError> {
    let mut picture = decode(bytes, u32::MAX)?.pixels;
    to_srgb(&mut picture, &SourceColors::Coded(CodedColors { primaries, transfer }));
    encode_jpeg(&picture, quality)
}

/// The quality is high, because features are computed from the result.
const COMMON_QUALITY: u8 = 95;

/// Returns the upright picture as a JPEG. In a program that ignores the orientation, bounding boxes would select the
/// wrong part. Returns `None` if the picture is already upright and in a format that every program reads.
pub fn to_common_jpeg(bytes: &[u8]) -> Result<Option<Vec<u8>>, DecodeError> {
    if PictureFormat::detect(bytes).is_some_and(PictureFormat::is_common) && !is_rotated(bytes)? {
        return Ok(None);
    }
    encode_jpeg(&decode(bytes, u32::MAX)?.pixels, COMMON_QUALITY).map(Some)
}

//! Fits pictures into cells and encodes them for the terminal. The difference of two pictures is shown as the first one,
//! dimmed and gray, with the differences in red.

use std::sync::Arc;

use base64::{Engine, engine::general_purpose::STANDARD};
use image::{Rgb, RgbImage};

use crate::{
    decode::{Decoded, decode_for},
    encode_jpeg::encode_jpeg,
    fit::{Canvas, Fit, Protocol},
    limits::DecodeError,
    resample::resize,
    sixel,
    view::Crop,
};

/// No visible blocks in a tile, at a sixth of the size of a PNG.
const ITERM_QUALITY: u8 = 88;

#[derive(Clone, Debug, PartialEq)]
pub struct Thumbnail {
    /// Covered cells (columns, rows); at most the canvas.
    pub cells: (u16, u16),
    /// Size of the original in pixels, upright.
    pub original: (u32, u32),
    pub encoded: Encoded,
}

/// The encoding for a protocol. Cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub enum Encoded {
    /// RGB rows from top to bottom, `columns` x `2 * rows` pixels.
    Pixels(Arc<[[u8; 3]]>),
    Kitty {
        /// Base64 of packed RGB rows.
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
    Ok(FittedPicture { fit, original: decoded.original, picture })
}

/// Like [`fit_picture`], and encodes it for the canvas's protocol.
pub fn thumbnail(bytes: &[u8], crop: &Crop, canvas: Canvas) -> Result<Thumbnail, DecodeError> {
    encode(fit_picture(bytes, crop, canvas)?, canvas)
}

/// The thumbnail of a picture that is decoded already.
pub fn thumbnail_of(
    decoded: &Decoded,
    crop: &Crop,
    canvas: Canvas,
) -> Result<Thumbnail, DecodeError> {
    encode(fit_decoded(decoded, crop, canvas)?, canvas)
}

/// Encodes a fitted picture for the canvas's protocol.
pub fn encode(fitted: FittedPicture, canvas: Canvas) -> Result<Thumbnail, DecodeError> {
    let FittedPicture { fit: Fit { cells, pixels }, original, picture } = fitted;
    let encoded = match canvas.protocol {
        Protocol::None | Protocol::HalfBlock => Encoded::Pixels(picture.as_chunks::<3>().0.into()),
        // Neither zlib nor PNG is worth it: they shrink a photograph by 10 to 33 % and take 6 to 14
        // times as long.
        Protocol::Kitty => {
            Encoded::Kitty { payload: STANDARD.encode(&*picture).into(), size: pixels }
        }
        Protocol::Sixel => Encoded::Sequence(sixel::encode(&picture).into()),
        Protocol::Iterm => Encoded::Sequence(iterm_sequence(&picture, cells)?.into()),
    };
    Ok(Thumbnail { cells, original, encoded })
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

/// Smaller differences of a color channel come from the compression.
const MIN_DIFFERENCE: u8 = 16;
/// The red of the smallest difference that is shown.
const MIN_RED: u8 = 96;

/// Draws the difference of two pictures within the crop. The second one is scaled to the size of the
/// first, so that copies of another size can be compared.
pub fn difference(
    [one, other]: [&[u8]; 2],
    crop: &Crop,
    canvas: Canvas,
) -> Result<Thumbnail, DecodeError> {
    let mut fitted = fit_picture(one, crop, canvas)?;
    let other = fit_to(other, crop, fitted.fit)?;
    for (pixel, other) in fitted.picture.pixels_mut().zip(other.pixels()) {
        *pixel = difference_color(*pixel, *other);
    }
    encode(fitted, canvas)
}

/// The crop of a picture at the size of another one.
fn fit_to(bytes: &[u8], crop: &Crop, fit: Fit) -> Result<RgbImage, DecodeError> {
    let decoded =
        decode_for(bytes, |original| fit.min_decoded_side(crop.size_in(original), original))?;
    resize(&crop.apply(&decoded.pixels), fit.pixels)
}

fn difference_color(Rgb(one): Rgb<u8>, Rgb(other): Rgb<u8>) -> Rgb<u8> {
    let mean = one.iter().map(|channel| u16::from(*channel)).sum::<u16>() / 3;
    let gray = u8::try_from(mean / 3).unwrap_or(u8::MAX);
    let channels = one.iter().zip(&other).map(|(one, other)| one.abs_diff(*other));
    match channels.max().unwrap_or(0) {
        0..MIN_DIFFERENCE => Rgb([gray; 3]),
        largest => Rgb([MIN_RED.saturating_add(largest), gray / 2, gray / 2]),
    }
}

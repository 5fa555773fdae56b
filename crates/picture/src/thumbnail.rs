//! Fits pictures into cells, and encodes them for the terminal.

use std::sync::Arc;

use base64::{Engine, engine::general_purpose::STANDARD};
use image::RgbImage;

use crate::{
    canvas::{Canvas, Protocol},
    decode::{Decoded, decode_for},
    encode_jpeg::encode_jpeg,
    error::DecodeError,
    fit::{Fit, resize},
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

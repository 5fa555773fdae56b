//! Pictures for a terminal: decoded with limits, fitted into cells, and encoded for its protocol.
//!
//! A [`Thumbnail`] is made for exactly one [`Canvas`].

mod crop;
pub mod decode;
pub mod fit;
mod half_block;
mod iterm;
mod jpeg;
mod kitty;
mod orientation;
mod raster;
mod sixel;
mod view;

use std::sync::Arc;

use decode::DecodeError;
use fit::Fit;
use image::RgbImage;
pub use orientation::to_upright_jpeg;
pub use view::{Crop, PictureSubject, PictureView};

/// How the terminal draws pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Protocol {
    None,
    /// Two pixels per cell, as text.
    #[default]
    HalfBlock,
    /// Kitty graphics with Unicode placeholders.
    Kitty,
    Sixel,
    /// iTerm2 inline images.
    Iterm,
}

/// The area for a picture, and the protocol. Equal canvases have equal encodings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Canvas {
    /// Width in cells, at least 1.
    pub columns: u16,
    /// Height in cells, at least 1.
    pub rows: u16,
    /// Size of one cell in pixels (width, height).
    pub cell: (u16, u16),
    pub protocol: Protocol,
}

/// A picture fitted and encoded for one canvas.
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
        /// Pixels (width, height).
        size: (u32, u32),
    },
    /// A string that draws the picture at the cursor (sixel or iTerm2).
    Sequence(Arc<str>),
}

/// A picture scaled for a canvas, before it is encoded.
#[derive(Clone, Debug)]
pub struct FittedPicture {
    pub fit: Fit,
    /// Size of the original in pixels, upright.
    pub original: (u32, u32),
    pub picture: RgbImage,
}

/// Decodes a picture and fits the cropped picture into `canvas`.
pub fn fit_picture(bytes: &[u8], part: Crop, canvas: Canvas) -> Result<FittedPicture, DecodeError> {
    let fit = |original| Fit::new(part.size_in(original), canvas);
    let decoded = decode::decode_for(bytes, |original| {
        fit(original).min_decoded_side(part.size_in(original), original)
    })?;
    let fit = fit(decoded.original);
    let mut rgb = fit::resize(&part.apply(&decoded.pixels), fit.pixels)?;
    part.draw_highlight(&mut rgb, fit.pixels, canvas.protocol);
    let picture = RgbImage::from_raw(fit.pixels.0, fit.pixels.1, rgb)
        .ok_or_else(|| DecodeError("the resampler gave too few pixels".to_owned()))?;
    Ok(FittedPicture { fit, original: decoded.original, picture })
}

/// Like [`fit_picture`], and encodes it for the canvas's protocol.
pub fn thumbnail(bytes: &[u8], part: Crop, canvas: Canvas) -> Result<Thumbnail, DecodeError> {
    let FittedPicture { fit: Fit { cells, pixels }, original, picture } =
        fit_picture(bytes, part, canvas)?;
    let rgb = picture.as_raw();
    let encoded = match canvas.protocol {
        Protocol::None | Protocol::HalfBlock => half_block::encode(rgb),
        Protocol::Kitty => kitty::encode(rgb, pixels),
        Protocol::Sixel => sixel::encode(rgb, pixels),
        Protocol::Iterm => iterm::encode(rgb, pixels, cells)?,
    };
    Ok(Thumbnail { cells, original, encoded })
}

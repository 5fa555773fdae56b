//! Pixels for a terminal: decode with limits, fit into cells, encode for what the terminal draws.
//!
//! The worker makes a [`Thumbnail`] for exactly one [`Canvas`]; the drawing layer puts it on the
//! screen; in between nobody looks inside.

pub mod decode;
pub mod fit;
mod half_block;
mod iterm;
mod jpeg;
mod kitty;
mod raster;
mod sixel;

use std::sync::Arc;

use decode::DecodeError;
use fit::Fit;

/// How the terminal draws pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Protocol {
    /// No pictures at all.
    None,
    /// Two pixels a cell, in ordinary text.
    #[default]
    HalfBlock,
    /// Kitty graphics by unicode placeholders.
    Kitty,
    /// Sixel graphics.
    Sixel,
    /// iTerm2 inline pictures.
    Iterm,
}

/// The area a picture must fit, and how it will be drawn. Equal canvases need equal encodings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Canvas {
    /// Width in cells, at least 1.
    pub columns: u16,
    /// Height in cells, at least 1.
    pub rows: u16,
    /// Size of one cell in pixels (width, height).
    pub cell: (u16, u16),
    /// How it will be drawn.
    pub protocol: Protocol,
}

/// A picture fitted and encoded for one canvas.
#[derive(Clone, Debug, PartialEq)]
pub struct Thumbnail {
    /// Cells really covered (columns, rows); at most the canvas.
    pub cells: (u16, u16),
    /// Size of the original in pixels, upright.
    pub original: (u32, u32),
    /// What the drawing layer needs.
    pub encoded: Encoded,
}

/// The encoding, by protocol. Cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub enum Encoded {
    /// RGB rows from top to bottom, `columns` x `2 * rows` pixels.
    Pixels(Arc<[[u8; 3]]>),
    /// RGB pixels in base64 with their size, to be sent once under an id of the drawing layer.
    Kitty {
        /// Base64 of packed RGB rows.
        payload: Arc<str>,
        /// Pixels (width, height).
        size: (u32, u32),
    },
    /// One string that draws the picture at the cursor (sixel or iTerm2).
    Sequence(Arc<str>),
}

/// Decodes a picture, fits it into `canvas` and encodes it for the canvas's protocol.
///
/// # Errors
/// What [`decode::decode`] refuses.
pub fn thumbnail(bytes: &[u8], canvas: Canvas) -> Result<Thumbnail, DecodeError> {
    let decoded = decode::decode_for(bytes, |original| {
        Fit::new(original, canvas).enough(original)
    })?;
    let Fit { cells, pixels } = Fit::new(decoded.original, canvas);
    let rgb = fit::resize(&decoded.pixels, pixels)?;
    let encoded = match canvas.protocol {
        Protocol::None | Protocol::HalfBlock => half_block::encode(&rgb),
        Protocol::Kitty => kitty::encode(&rgb, pixels),
        Protocol::Sixel => sixel::encode(&rgb, pixels),
        Protocol::Iterm => iterm::encode(&rgb, pixels, cells)?,
    };
    Ok(Thumbnail {
        cells,
        original: decoded.original,
        encoded,
    })
}

//! iTerm2 inline images: a JPEG in base64 with its size in cells.

use base64::{Engine, engine::general_purpose::STANDARD};
use jpeg_encoder::{ColorType, Encoder};

use super::{Encoded, decode::DecodeError};

/// No visible blocks in a tile, at a sixth of the size of a PNG.
const QUALITY: u8 = 88;

/// Encodes packed RGB rows of `size` pixels for an area of `cells` (columns, rows).
pub fn encode(rgb: &[u8], size: (u32, u32), cells: (u16, u16)) -> Result<Encoded, DecodeError> {
    let describe = |error: &dyn std::fmt::Display| DecodeError(format!("cannot encode: {error}"));
    let width = u16::try_from(size.0).map_err(|error| describe(&error))?;
    let height = u16::try_from(size.1).map_err(|error| describe(&error))?;
    let mut jpeg = Vec::new();
    Encoder::new(&mut jpeg, QUALITY)
        .encode(rgb, width, height, ColorType::Rgb)
        .map_err(|error| describe(&error))?;
    let (columns, rows) = cells;
    let sequence = format!(
        "\x1b]1337;File=inline=1;size={};width={columns};height={rows};\
         preserveAspectRatio=0;doNotMoveCursor=1:{}\x07",
        jpeg.len(),
        STANDARD.encode(&jpeg)
    );
    Ok(Encoded::Sequence(sequence.into()))
}

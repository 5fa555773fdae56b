//! Half-blocks: two pixels per cell, drawn by the drawing layer.

use super::Encoded;

pub fn encode(rgb: &[u8]) -> Encoded {
    Encoded::Pixels(rgb.as_chunks::<3>().0.into())
}

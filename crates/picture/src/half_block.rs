//! Two pixels a cell: the encoding is the pixels themselves, painted by the drawing layer.

use super::Encoded;

/// Keeps packed RGB rows as pixels.
#[must_use]
pub fn encode(rgb: &[u8]) -> Encoded {
    Encoded::Pixels(rgb.as_chunks::<3>().0.into())
}

//! Completes PNG files without an end. Some programs and broken downloads skip the last chunk, or cut a text behind
//! the pixels. The decoder refuses such files, although all pixels are there.

use std::borrow::Cow;

const SIGNATURE_LENGTH: usize = 8;
/// The last chunk: its length, its name, and its checksum.
const END: [u8; 12] = [0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xAE, 0x42, 0x60, 0x82];

/// Returns the file. If it has pixels but no end, returns a copy that ends after its last complete chunk.
pub fn with_end(bytes: &[u8]) -> Cow<'_, [u8]> {
    if bytes.ends_with(&END) {
        return Cow::Borrowed(bytes);
    }
    let (mut at, mut has_pixels) = (SIGNATURE_LENGTH, false);
    while let Some((name, next)) = chunk(bytes, at) {
        if name == END[4..8] {
            return Cow::Borrowed(bytes);
        }
        has_pixels |= &name == b"IDAT";
        at = next;
    }
    match bytes.get(..at) {
        Some(complete) if has_pixels => Cow::Owned([complete, &END].concat()),
        _ => Cow::Borrowed(bytes),
    }
}

/// Returns the name of the complete chunk at `at`, and the position of the next one.
fn chunk(bytes: &[u8], at: usize) -> Option<([u8; 4], usize)> {
    let (length, rest) = bytes.get(at..)?.split_first_chunk()?;
    let end =
        at.checked_add(usize::try_from(u32::from_be_bytes(*length)).ok()?)?.checked_add(12)?;
    (end <= bytes.len()).then_some((*rest.first_chunk()?, end))
}

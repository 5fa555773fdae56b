//! Finds the largest picture in an ICO. The crate that decodes ICO prefers a small picture with many colors, and refuses
//! a PNG without alpha.

use std::borrow::Cow;

const HEADER_LENGTH: usize = 6;
const ENTRY_LENGTH: usize = 16;

/// Returns the largest picture: a PNG, or an ICO with only this picture. Returns `None` if the file is damaged.
pub fn largest_picture(bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
    let (header, rest) = bytes.split_first_chunk::<HEADER_LENGTH>()?;
    let count = usize::from(u16::from_le_bytes([header[4], header[5]]));
    let entries = rest.as_chunks::<ENTRY_LENGTH>().0;
    let entry = entries.get(..count)?.iter().max_by_key(|entry| {
        // A side of 256 pixels is stored as 0.
        let side = |stored: u8| if stored == 0 { 256 } else { u32::from(stored) };
        (side(entry[0]) * side(entry[1]), u16::from_le_bytes([entry[6], entry[7]]))
    })?;
    let number = |at: usize| {
        let number = entry.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))?;
        usize::try_from(number).ok()
    };
    let picture = bytes.get(number(12)?..)?.get(..number(8)?)?;
    if picture.starts_with(b"\x89PNG") {
        return Some(Cow::Borrowed(picture));
    }
    let offset = u32::try_from(HEADER_LENGTH + ENTRY_LENGTH).ok()?.to_le_bytes();
    Some(Cow::Owned([&header[..4], &[1, 0], &entry[..12], &offset, picture].concat()))
}

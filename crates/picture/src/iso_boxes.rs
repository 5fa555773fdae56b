//! Reads the boxes of ISO base media files (ISO/IEC 14496-12). JPEG XL, HEIC, AVIF and CR3 files consist of such boxes.

/// Boxes beyond this number in a row are not read. A photograph in tiles has some hundreds.
const MAX_BOXES: usize = 2000;

/// Returns the kind and the body of the first box, and the bytes after the box. The last box may be truncated.
pub fn split_box(bytes: &[u8]) -> Option<([u8; 4], &[u8], &[u8])> {
    let (length, after) = bytes.split_first_chunk()?;
    let (kind, after) = after.split_first_chunk()?;
    let (body, length) = match u32::from_be_bytes(*length) {
        // Length 0 means that the box extends to the end of the file.
        0 => (after, after.len()),
        1 => {
            let (length, after) = after.split_first_chunk()?;
            (after, usize::try_from(u64::from_be_bytes(*length)).ok()?.checked_sub(16)?)
        }
        length => (after, usize::try_from(length).ok()?.checked_sub(8)?),
    };
    let (body, after) = body.split_at(length.min(body.len()));
    Some((*kind, body, after))
}

/// Returns the kinds and bodies of the boxes in a row, up to the first damaged box.
pub fn boxes(mut bytes: &[u8]) -> impl Iterator<Item = ([u8; 4], &[u8])> {
    let next = move || {
        let (kind, body, after) = split_box(bytes)?;
        bytes = after;
        Some((kind, body))
    };
    std::iter::from_fn(next).take(MAX_BOXES)
}

/// Returns the body of the first box of a kind.
pub fn find_box(bytes: &[u8], kind: [u8; 4]) -> Option<&[u8]> {
    boxes(bytes).find(|(found, _)| *found == kind).map(|(_, body)| body)
}

/// Reads a number of two, four or eight bytes at `at`.
pub fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..)?.first_chunk::<N>()?;
    Some(bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

/// Returns the TIFF structure in an Exif box or item, which begins with the offset of the structure.
pub fn exif_structure(body: &[u8]) -> Option<&[u8]> {
    let (offset, after) = body.split_first_chunk()?;
    after.get(usize::try_from(u32::from_be_bytes(*offset)).ok()?..)
}

//! Recognizes the animations among AVIF and HEIC files. Their pictures are the samples of a track, as in a video.

use crate::iso_boxes::{boxes, find_box, number};

/// Whether a file in the container of MP4 has a track with several pictures.
pub fn is_image_sequence(bytes: &[u8]) -> bool {
    let Some(movie) = find_box(bytes, *b"moov") else { return false };
    boxes(movie).any(|(kind, track)| {
        &kind == b"trak" && picture_count(track).is_some_and(|pictures| pictures > 1)
    })
}

fn picture_count(track: &[u8]) -> Option<u64> {
    let media = find_box(track, *b"mdia")?;
    let handler = find_box(media, *b"hdlr")?.get(8..12)?;
    let has_pictures = [&b"pict"[..], b"vide"].contains(&handler);
    let table = find_box(find_box(media, *b"minf")?, *b"stbl")?;
    // The table of sizes has a version, the size of all samples, and the number of samples.
    has_pictures.then(|| number::<4>(find_box(table, *b"stsz")?, 8)).flatten()
}

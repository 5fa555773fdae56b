//! Animated AVIF and HEIC. A file has a track for the pictures, and may have further tracks for their transparency and
//! their depth. How a picture is shown is stored as for a single picture, but in the description of the track.

use image::metadata::Orientation;

use super::items::{ItemProperties, VisiblePart};
use crate::iso_boxes::{boxes, find_box, number};

/// The bytes of the description of a picture before its boxes, and the positions of width and height among them.
const DESCRIPTION_HEADER: usize = 78;
const SIDES: [usize; 2] = [24, 26];

/// How the pictures of an animation are shown, which `ffmpeg` does not do itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageSequence {
    /// The part of each picture that is shown, unless it is the whole picture.
    pub part: Option<VisiblePart>,
    /// The orientation of this part.
    pub orientation: Orientation,
    /// The number of the track with the transparency, counted from 0.
    pub alpha_track: Option<usize>,
}

impl ImageSequence {
    /// Returns `None` if the file has no track with several pictures.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let movie = find_box(bytes, *b"moov")?;
        let tracks = || boxes(movie).filter(|(kind, _)| kind == b"trak").map(|(_, track)| track);
        let shown = tracks().find(|track| picture_count(track).is_some_and(|count| count > 1))?;
        let is_alpha = |track| description(track).is_some_and(|(_, read)| read.is_alpha);
        let alpha_track = tracks().position(is_alpha);
        let whole = Self { part: None, orientation: Orientation::NoTransforms, alpha_track };
        let Some((size, read)) = description(shown) else { return Some(whole) };
        let part = VisiblePart::new(size, read.aperture);
        let orientation = read.orientation.unwrap_or(whole.orientation);
        Some(Self { part: (part.size != size).then_some(part), orientation, ..whole })
    }
}

fn table(track: &[u8]) -> Option<&[u8]> {
    find_box(find_box(find_box(track, *b"mdia")?, *b"minf")?, *b"stbl")
}

fn picture_count(track: &[u8]) -> Option<u64> {
    let handler = find_box(find_box(track, *b"mdia")?, *b"hdlr")?.get(8..12)?;
    let has_pictures = [&b"pict"[..], b"vide"].contains(&handler);
    // The table of sizes has a version, the size of all samples, and the number of samples.
    has_pictures.then(|| number::<4>(find_box(table(track)?, *b"stsz")?, 8)).flatten()
}

/// Returns the size and the properties of the pictures of a track.
fn description(track: &[u8]) -> Option<((u32, u32), ItemProperties<'_>)> {
    // The first description follows a version and the number of descriptions.
    let (_, first) = boxes(find_box(table(track)?, *b"stsd")?.get(8..)?).next()?;
    let [width, height] =
        SIDES.map(|at| number::<2>(first, at).and_then(|side| u32::try_from(side).ok()));
    let mut properties = ItemProperties::default();
    for (kind, body) in boxes(first.get(DESCRIPTION_HEADER..)?) {
        properties.add(kind, body);
    }
    Some(((width?, height?), properties))
}

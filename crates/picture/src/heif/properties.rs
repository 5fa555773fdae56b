//! What a file says about an item: size, orientation, colors, and the configuration of the decoder.

use image::metadata::Orientation;

use crate::{
    coded_colors::{CodedColors, UNSPECIFIED},
    iso_boxes::{boxes, find_box, number},
};

/// The names of the kind of auxiliary pictures that contain alpha.
const ALPHA: [&[u8]; 2] =
    [b"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0", b"urn:mpeg:hevc:2015:auxid:1\0"];
/// More properties are not read.
const MAX_PROPERTIES: usize = 200;

#[derive(Default)]
pub struct ItemProperties<'a> {
    /// Before it is turned.
    pub size: Option<(u32, u32)>,
    pub orientation: Option<Orientation>,
    pub color_profile: Option<&'a [u8]>,
    pub coded_colors: Option<CodedColors>,
    /// The matrix of YCbCr by ITU-T H.273, and whether samples have the full range.
    pub color_matrix: Option<(u64, bool)>,
    /// Parameter sets of HEVC, or a sequence header of AV1.
    pub hevc: Option<&'a [u8]>,
    pub av1: Option<&'a [u8]>,
    /// Whether its samples are the alpha of another item.
    pub is_alpha: bool,
    /// Whether only a part is shown, which is not supported.
    pub is_cropped: bool,
}

impl<'a> ItemProperties<'a> {
    /// Reads those of an item from the box of all properties.
    pub fn read(properties: &'a [u8], item: u64) -> Option<Self> {
        let all: Vec<_> = boxes(find_box(properties, *b"ipco")?).take(MAX_PROPERTIES).collect();
        let mut read = Self::default();
        for index in indices(find_box(properties, *b"ipma")?, item)? {
            if let Some((kind, body)) = index.checked_sub(1).and_then(|index| all.get(index)) {
                read.add(*kind, body);
            }
        }
        Some(read)
    }

    fn add(&mut self, kind: [u8; 4], body: &'a [u8]) {
        let side = |at| number::<4>(body, at).and_then(|side| u32::try_from(side).ok());
        match (&kind, body) {
            (b"ispe", _) => self.size = side(4).zip(side(8)),
            (b"hvcC", _) => self.hevc = Some(body),
            (b"av1C", _) => self.av1 = Some(body),
            (b"auxC", [_, _, _, _, name @ ..]) => {
                self.is_alpha = ALPHA.iter().any(|alpha| name.starts_with(alpha));
            }
            (b"clap", _) => self.is_cropped = true,
            (b"irot", [turns, ..]) => self.turn(match turns & 3 {
                0 => Orientation::NoTransforms,
                1 => Orientation::Rotate270,
                2 => Orientation::Rotate180,
                _ => Orientation::Rotate90,
            }),
            // Top and bottom are exchanged, or left and right.
            (b"imir", [axis, ..]) => self.turn(if axis & 1 == 0 {
                Orientation::FlipVertical
            } else {
                Orientation::FlipHorizontal
            }),
            (b"colr", [b'n', b'c', b'l', b'x', coded @ .., range]) => {
                let [primaries, transfer, matrix] =
                    [0, 2, 4].map(|at| number::<2>(coded, at).unwrap_or(UNSPECIFIED));
                self.coded_colors = CodedColors::new(primaries, transfer);
                self.color_matrix = Some((matrix, range >> 7 == 1));
            }
            (b"colr", [b'p', b'r', b'o', b'f', profile @ ..]) => {
                self.color_profile = Some(profile);
            }
            _ => {}
        }
    }

    /// Adds a transform after the others.
    fn turn(&mut self, next: Orientation) {
        let before = self.orientation.unwrap_or(Orientation::NoTransforms);
        self.orientation = Some(composed(before, next));
    }
}

/// The orientation that has the effect of one after the other.
fn composed(first: Orientation, second: Orientation) -> Orientation {
    // Two pixels that no orientation maps to each other show the effect: the corner, and that beside it.
    let effect = |orientations: &[Orientation]| {
        let mut picture = image::DynamicImage::new_luma8(3, 3);
        if let Some(pixels) = picture.as_mut_luma8() {
            pixels.put_pixel(0, 0, image::Luma([2]));
            pixels.put_pixel(1, 0, image::Luma([1]));
        }
        for &orientation in orientations {
            picture.apply_orientation(orientation);
        }
        picture
    };
    let wanted = effect(&[first, second]);
    let all = (1..=8).filter_map(Orientation::from_exif);
    all.into_iter().find(|&one| effect(&[one]) == wanted).unwrap_or(Orientation::NoTransforms)
}

/// The numbers of the properties of an item, in the order in which they apply, from 1.
fn indices(associations: &[u8], item: u64) -> Option<Vec<usize>> {
    let is_wide = associations.get(3)? & 1 == 1;
    let id_size = if associations.first()? == &0 { 2 } else { 4 };
    let mut at = 8;
    for _ in 0..number::<4>(associations, 4)? {
        let id = if id_size == 2 {
            number::<2>(associations, at)
        } else {
            number::<4>(associations, at)
        };
        let count = usize::from(*associations.get(at + id_size)?);
        let size = if is_wide { 2 } else { 1 };
        let list = associations.get(at + id_size + 1..)?.get(..size * count)?;
        if id? == item {
            // The first bit says whether a reader must understand it.
            return Some(
                list.chunks(size)
                    .map(|index| match index {
                        [high, low] => usize::from(u16::from_be_bytes([high & 0x7F, *low])),
                        other => usize::from(other[0] & 0x7F),
                    })
                    .collect(),
            );
        }
        at += id_size + 1 + size * count;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_and_a_mirror_are_one_orientation() {
        use Orientation::{FlipVertical, NoTransforms, Rotate90, Rotate270, Rotate270FlipH};
        assert_eq!(composed(NoTransforms, Rotate90), Rotate90);
        assert_eq!(composed(Rotate90, Rotate270), NoTransforms);
        assert_eq!(composed(Rotate90, FlipVertical), Rotate270FlipH);
    }
}

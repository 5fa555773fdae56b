//! The items of an AVIF or HEIC file (ISO/IEC 14496-12, section 8.11): the type of an item, the location of its bytes,
//! its references to other items, and its properties such as size, orientation, colors, and the part of the
//! picture that is shown (its clean aperture).

use crate::{
    iso_boxes::{boxes, find_box, number},
    source_colors::{CodedColors, UNSPECIFIED},
};
use image::metadata::Orientation;

/// Items beyond this number are not read. A photograph in tiles has about a hundred items.
const MAX_ITEMS: usize = 2000;
/// An item in more parts than this is refused.
const MAX_EXTENTS: u64 = 64;

#[derive(Clone, Copy)]
pub struct ItemTable<'a> {
    file: &'a [u8],
    meta: &'a [u8],
    pub primary: u64,
}

/// Reads numbers one after the other.
struct Numbers<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Numbers<'_> {
    /// Reads a number of `size` bytes, which must be 0, 1, 2, 4 or 8.
    fn next(&mut self, size: usize) -> Option<u64> {
        let number = match size {
            0 => 0,
            1 => u64::from(*self.bytes.get(self.at)?),
            2 => number::<2>(self.bytes, self.at)?,
            4 => number::<4>(self.bytes, self.at)?,
            8 => number::<8>(self.bytes, self.at)?,
            _ => return None,
        };
        self.at += size;
        Some(number)
    }
}

impl<'a> ItemTable<'a> {
    pub fn open(file: &'a [u8]) -> Option<Self> {
        // The boxes follow the version and the flags.
        let meta = find_box(file, *b"meta")?.get(4..)?;
        let primary = find_box(meta, *b"pitm")?;
        let mut numbers = Numbers { bytes: primary, at: 4 };
        let primary = numbers.next(if primary.first()? == &0 { 2 } else { 4 })?;
        Some(Self { file, meta, primary })
    }

    /// Returns the box that contains all properties, and the lists that assign properties to items.
    pub fn properties(&self) -> Option<&'a [u8]> {
        find_box(self.meta, *b"iprp")
    }

    /// Returns the type of an item.
    pub fn kind(&self, item: u64) -> Option<[u8; 4]> {
        self.infos()?.find(|(id, ..)| *id == item).map(|(_, kind, _)| kind)
    }

    /// Returns the parts of the Exif block and of the XMP packet.
    pub fn metadata(&self) -> [Option<Vec<&'a [u8]>>; 2] {
        let parts = |is_wanted: fn(&[u8; 4], &[u8]) -> bool| {
            let (item, ..) = self.infos()?.find(|(_, kind, names)| is_wanted(kind, names))?;
            self.contents(&[item])?.pop()
        };
        [
            parts(|kind, _| kind == b"Exif"),
            parts(|kind, names| {
                let mut names = names.split(|&byte| byte == 0).skip(1);
                // The names are those of the item, of its media type, and of its compression.
                kind == b"mime"
                    && names.next() == Some(b"application/rdf+xml")
                    && names.next().is_none_or(<[u8]>::is_empty)
            }),
        ]
    }

    /// Returns the numbers and types of the items, and the names that follow the type.
    fn infos(&self) -> Option<impl Iterator<Item = (u64, [u8; 4], &'a [u8])>> {
        let infos = find_box(self.meta, *b"iinf")?;
        let start = if infos.first()? == &0 { 6 } else { 8 };
        Some(boxes(infos.get(start..)?).take(MAX_ITEMS).filter_map(|(_, info)| {
            let id_size = match info.first()? {
                2 => 2,
                3 => 4,
                _ => return None,
            };
            let mut numbers = Numbers { bytes: info, at: 4 };
            let item = numbers.next(id_size)?;
            // The type follows the two-byte index of protection.
            let (kind, names) = info.get(numbers.at + 2..)?.split_first_chunk()?;
            Some((item, *kind, names))
        }))
    }

    /// Returns the items of which an item is composed.
    pub fn tiles(&self, item: u64) -> Option<Vec<u64>> {
        let mut derived = self.references(*b"dimg")?;
        derived.find_map(|(from, to)| (from == item).then_some(to))
    }

    /// Returns the items that add something to an item, such as its alpha channel.
    pub fn auxiliaries(&self, item: u64) -> Vec<u64> {
        let references = self.references(*b"auxl").into_iter().flatten();
        references.filter(|(_, to)| to.contains(&item)).map(|(from, _)| from).collect()
    }

    /// Whether the colors of an item are multiplied already with the alpha channel in another item.
    pub fn is_premultiplied(&self, item: u64, alpha: u64) -> bool {
        let mut references = self.references(*b"prem").into_iter().flatten();
        references.any(|(from, to)| from == item && to.contains(&alpha))
    }

    /// Returns the references of a kind, as pairs of the referring item and the items that it refers to.
    fn references(&self, kind: [u8; 4]) -> Option<impl Iterator<Item = (u64, Vec<u64>)>> {
        let references = find_box(self.meta, *b"iref")?;
        let id_size = if references.first()? == &0 { 2 } else { 4 };
        let of_kind = boxes(references.get(4..)?).filter(move |(found, _)| *found == kind);
        Some(of_kind.filter_map(move |(_, body)| {
            let mut numbers = Numbers { bytes: body, at: 0 };
            let from = numbers.next(id_size)?;
            let count = numbers.next(2)?;
            let to: Option<Vec<_>> = (0..count).map(|_| numbers.next(id_size)).collect();
            Some((from, to?))
        }))
    }

    /// Returns the bytes of several items, in the given order.
    pub fn contents(&self, items: &[u64]) -> Option<Vec<Vec<&'a [u8]>>> {
        let locations = find_box(self.meta, *b"iloc")?;
        let version = *locations.first()?;
        let [offset_size, length_size, base_size, index_size] = [(4, 4), (4, 0), (5, 4), (5, 0)]
            .map(|(at, shift)| locations.get(at).map(|byte| usize::from(byte >> shift & 15)));
        let index_size = if version == 0 { 0 } else { index_size? };
        let id_size = if version < 2 { 2 } else { 4 };
        let mut numbers = Numbers { bytes: locations, at: 6 };
        let mut contents = vec![None; items.len()];
        for _ in 0..numbers.next(id_size)?.min(MAX_ITEMS as u64) {
            let item = numbers.next(id_size)?;
            let is_inside = version > 0 && numbers.next(2)? & 15 == 1;
            let source = if is_inside { find_box(self.meta, *b"idat")? } else { self.file };
            numbers.next(2)?;
            let base = numbers.next(base_size?)?;
            let mut parts = Vec::new();
            let extents = numbers.next(2)?;
            (extents <= MAX_EXTENTS).then_some(())?;
            for _ in 0..extents {
                numbers.next(index_size)?;
                let start = base.checked_add(numbers.next(offset_size?)?)?;
                let length = numbers.next(length_size?)?;
                let [start, length] = [start, length].map(|number| usize::try_from(number).ok());
                parts.push(source.get(start?..)?.get(..length?)?);
            }
            if let Some(at) = items.iter().position(|&wanted| wanted == item) {
                contents[at] = Some(parts);
            }
        }
        contents.into_iter().collect()
    }
}

/// The names of the auxiliary type for alpha channels.
const ALPHA: [&[u8]; 2] =
    [b"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0", b"urn:mpeg:hevc:2015:auxid:1\0"];
/// Properties beyond this number are not read.
const MAX_PROPERTIES: usize = 200;

#[derive(Default)]
pub struct ItemProperties<'a> {
    /// The size before the picture is rotated.
    pub size: Option<(u32, u32)>,
    pub orientation: Option<Orientation>,
    pub color_profile: Option<&'a [u8]>,
    pub coded_colors: Option<CodedColors>,
    /// The matrix of YCbCr by ITU-T H.273, and whether the samples use the full range.
    pub color_matrix: Option<(u64, bool)>,
    /// The parameter sets of HEVC. The field `av1` is the sequence header of AV1.
    pub hevc: Option<&'a [u8]>,
    pub av1: Option<&'a [u8]>,
    /// Whether the samples of the item are the alpha channel of another item.
    pub is_alpha: bool,
    /// The part of the picture that is shown.
    pub aperture: Option<CleanAperture>,
}

impl<'a> ItemProperties<'a> {
    /// Reads the properties of an item from the box of all properties.
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

    pub fn add(&mut self, kind: [u8; 4], body: &'a [u8]) {
        let side = |at| number::<4>(body, at).and_then(|side| u32::try_from(side).ok());
        match (&kind, body) {
            (b"ispe", _) => self.size = side(4).zip(side(8)),
            (b"hvcC", _) => self.hevc = Some(body),
            (b"av1C", _) => self.av1 = Some(body),
            // The first kind is that of an item, and the second one that of a track.
            (b"auxC" | b"auxi", [_, _, _, _, name @ ..]) => {
                self.is_alpha = ALPHA.iter().any(|alpha| name.starts_with(alpha));
            }
            (b"clap", _) => self.aperture = CleanAperture::read(body),
            (b"irot", [turns, ..]) => self.turn(match turns & 3 {
                0 => Orientation::NoTransforms,
                1 => Orientation::Rotate270,
                2 => Orientation::Rotate180,
                _ => Orientation::Rotate90,
            }),
            // Axis 0 exchanges top and bottom, axis 1 exchanges left and right.
            (b"imir", [axis, ..]) => self.turn(if axis & 1 == 0 {
                Orientation::FlipVertical
            } else {
                Orientation::FlipHorizontal
            }),
            (b"colr", [b'n', b'c', b'l', b'x', coded @ .., range]) => {
                let [primaries, transfer, matrix] =
                    [0, 2, 4].map(|at| number::<2>(coded, at).unwrap_or(UNSPECIFIED));
                // This matrix is derived from the primaries. Only the one of BT.2020 is far from that of BT.709.
                let matrix = match (matrix, primaries) {
                    (12, 9) => 9,
                    (12, _) => 1,
                    _ => matrix,
                };
                self.coded_colors = CodedColors::new(primaries, transfer);
                self.color_matrix = Some((matrix, range >> 7 == 1));
            }
            // The second kind is restricted to matrices, and needs no other treatment.
            (
                b"colr",
                [b'p', b'r', b'o', b'f', profile @ ..] | [b'r', b'I', b'C', b'C', profile @ ..],
            ) => self.color_profile = Some(profile),
            _ => {}
        }
    }

    /// Adds a transform that follows the transforms added so far.
    fn turn(&mut self, next: Orientation) {
        let before = self.orientation.unwrap_or(Orientation::NoTransforms);
        self.orientation = Some(composed(before, next));
    }
}

/// Returns the orientation that has the same effect as `first` followed by `second`.
fn composed(first: Orientation, second: Orientation) -> Orientation {
    // Two pixels reveal the effect, because no orientation maps one to the other: the corner, and the pixel next to it.
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

/// Returns the indices of the properties of an item in the order in which they apply. Indices are counted from 1.
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
            // The first bit of an index says whether a reader must understand the property.
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

/// The size of a part of a picture, and the distance of its center from the center of the picture, horizontally and
/// vertically (ISO/IEC 14496-12, section 12.1.4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CleanAperture {
    size: [f64; 2],
    distance: [f64; 2],
}

/// A part of a picture in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VisiblePart {
    pub left: u32,
    pub top: u32,
    pub size: (u32, u32),
}

impl CleanAperture {
    /// Reads four fractions of two numbers each.
    pub fn read(body: &[u8]) -> Option<Self> {
        let numbers = body.as_chunks::<4>().0;
        let number = |at: usize| Some(f64::from(i32::from_be_bytes(*numbers.get(at)?)));
        let fraction = |at: usize| {
            let (numerator, denominator) = (number(at)?, number(at + 1)?);
            (denominator > 0.0).then_some(numerator / denominator)
        };
        Some(Self { size: [fraction(0)?, fraction(2)?], distance: [fraction(4)?, fraction(6)?] })
    }

    /// Returns `None` if the part is not inside a picture of this size. Viewers then show the whole picture.
    fn part_of(self, size: (u32, u32)) -> Option<VisiblePart> {
        let (left, width) = part_of_side(self.size[0], self.distance[0], size.0)?;
        let (top, height) = part_of_side(self.size[1], self.distance[1], size.1)?;
        Some(VisiblePart { left, top, size: (width, height) })
    }
}

impl VisiblePart {
    pub fn new(size: (u32, u32), aperture: Option<CleanAperture>) -> Self {
        let part = aperture.and_then(|aperture| aperture.part_of(size));
        part.unwrap_or(Self { left: 0, top: 0, size })
    }
}

/// Returns the start and the length of a part of a side.
fn part_of_side(length: f64, distance: f64, whole: u32) -> Option<(u32, u32)> {
    let start = (distance + (f64::from(whole) - length) / 2.0).round();
    let length = length.round();
    let is_inside = start >= 0.0 && length >= 1.0 && start + length <= f64::from(whole);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "inside a side")]
    let part = is_inside.then_some((start as u32, length as u32));
    part
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

    #[test]
    fn premultiplied_colors_refer_to_their_alpha() {
        let part = |kind: &[u8; 4], body: &[u8]| {
            let length = u32::try_from(body.len() + 8).unwrap().to_be_bytes();
            [&length[..], kind, body].concat()
        };
        let references = [&[0; 4][..], &part(b"prem", &[0, 1, 0, 1, 0, 2])].concat();
        let boxes = [part(b"pitm", &[0, 0, 0, 0, 0, 1]), part(b"iref", &references)].concat();
        let file = part(b"meta", &[&[0; 4][..], &boxes].concat());
        let table = ItemTable::open(&file).unwrap();
        assert!(table.is_premultiplied(1, 2));
        assert!(!table.is_premultiplied(1, 3) && !table.is_premultiplied(2, 1));
    }

    #[test]
    fn a_profile_may_be_restricted() {
        for kind in [b"prof", b"rICC"] {
            let body = [&kind[..], b"profile"].concat();
            let mut read = ItemProperties::default();
            read.add(*b"colr", &body);
            assert_eq!(read.color_profile, Some(&b"profile"[..]));
        }
    }

    #[test]
    fn a_matrix_may_be_derived_from_the_primaries() {
        for (primaries, matrix, found) in [(1, 12, 1), (12, 12, 1), (9, 12, 9), (9, 6, 6)] {
            let body = [&b"nclx"[..], &[0, primaries, 0, 13, 0, matrix, 0x80]].concat();
            let mut read = ItemProperties::default();
            read.add(*b"colr", &body);
            assert_eq!(read.color_matrix, Some((found, true)), "{primaries}, {matrix}");
        }
    }

    fn part(numbers: [i32; 8]) -> VisiblePart {
        let body = numbers.map(i32::to_be_bytes).concat();
        VisiblePart::new((320, 240), CleanAperture::read(&body))
    }

    #[test]
    fn a_part_is_placed_by_its_center() {
        let middle = VisiblePart { left: 80, top: 60, size: (160, 120) };
        assert_eq!(part([160, 1, 120, 1, 0, 1, 0, 1]), middle);
        assert_eq!(part([320, 2, 240, 2, 0, 1, 0, 1]), middle);
        let corner = VisiblePart { left: 0, top: 120, size: (160, 120) };
        assert_eq!(part([160, 1, 120, 1, -80, 1, 60, 1]), corner);
        let odd = VisiblePart { left: 1, top: 0, size: (319, 240) };
        assert_eq!(part([319, 1, 240, 1, 1, 2, 0, 1]), odd);
    }

    #[test]
    fn an_invalid_part_shows_the_whole_picture() {
        let whole = VisiblePart { left: 0, top: 0, size: (320, 240) };
        for numbers in [
            [160, 0, 120, 1, 0, 1, 0, 1],
            [0, 1, 120, 1, 0, 1, 0, 1],
            [160, 1, 120, 1, 81, 1, 0, 1],
            [400, 1, 120, 1, 0, 1, 0, 1],
            [i32::MIN, 1, 120, 1, i32::MAX, 1, 0, -1],
        ] {
            assert_eq!(part(numbers), whole, "{numbers:?}");
        }
        assert_eq!(CleanAperture::read(&[0; 20]), None);
    }
}

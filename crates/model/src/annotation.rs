//! What an annotation file says about an object beside its label and box: its score, polygons, mask and keypoints. The
//! fields have the form of COCO. Annotations come from outside, so [`Annotation::checked`] bounds their size.

use serde::{Deserialize, Serialize};

use crate::{Region, region::Vec2};

/// The maximum number of coordinates in the polygons of an object, and in its keypoints.
const MAX_COORDINATES: usize = 16_384;
/// The maximum length of the run lengths of a mask, in bytes.
const MAX_MASK_BYTES: usize = 64 << 10;
/// The largest coordinate, which is far outside every picture.
const MAX_COORDINATE: f64 = 1e7;
/// Coordinates are kept in thousandths of a pixel.
const STEPS_PER_PIXEL: f64 = 1_000.0;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Annotation {
    /// The confidence of the model that found the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The outlines of the parts of the object. Each outline is `[x, y, x, y, …]`.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    pub polygons: Vec<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mask: Option<Mask>,
    /// The keypoints as `[x, y, visibility, …]`. The visibility is 0 (not labeled), 1 (hidden) or 2 (visible).
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    pub keypoints: Vec<f64>,
    /// Whether the object is a group of objects, `iscrowd` in COCO.
    #[serde(skip_serializing_if = "is_false", deserialize_with = "null_as_default")]
    pub is_crowd: bool,
}

/// The pixels of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mask {
    /// Height and width of the picture.
    pub size: [u32; 2],
    /// The lengths of the runs of pixels, column by column, in the compressed form of the COCO API.
    pub counts: String,
}

/// An object of a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct LabeledRegion {
    pub label: String,
    pub region: Region,
    /// The annotation, in pixels of the upright picture.
    pub annotation: Annotation,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// Reads `null`, which columns of tables contain where a row has no value.
fn null_as_default<'de, D: serde::Deserializer<'de>, T: Default + Deserialize<'de>>(
    value: D,
) -> Result<T, D::Error> {
    Option::deserialize(value).map(Option::unwrap_or_default)
}

impl Annotation {
    /// The names of the fields in tables.
    pub const FIELDS: [&str; 5] = ["score", "polygons", "mask", "keypoints", "is_crowd"];

    /// Returns the annotation of an outline. Fewer than three points are no outline.
    pub fn outline(points: Vec<[f64; 2]>) -> Self {
        let outline = Some(points.into_flattened()).filter(|outline| outline.len() >= 6);
        Self { polygons: outline.into_iter().collect(), ..Self::default() }
    }

    /// Adds what another annotation of the same object says, unless it is known.
    pub fn add_missing(&mut self, other: &Self) {
        self.score = self.score.or(other.score);
        if self.polygons.is_empty() {
            self.polygons.clone_from(&other.polygons);
        }
        if self.mask.is_none() {
            self.mask.clone_from(&other.mask);
        }
        if self.keypoints.is_empty() {
            self.keypoints.clone_from(&other.keypoints);
        }
    }

    /// Whether a list of coordinates is an outline of at least three points.
    pub fn is_outline(list: &[f64]) -> bool {
        list.len() >= 6 && list.len().is_multiple_of(2) && are_coordinates(list)
    }

    /// Returns the annotation if it is well-formed and not too large, and otherwise an empty one. Polygons that are not
    /// outlines are left out on their own. The error says what is wrong with the object.
    pub fn checked(mut self) -> (Self, Result<(), &'static str>) {
        let count = self.polygons.len();
        self.polygons.retain(|polygon| Self::is_outline(polygon));
        let end = match self.polygons.len() {
            kept if kept < count => {
                Err("one of its polygons is not a list of at least three points")
            }
            _ => Ok(()),
        };
        match self.check() {
            Ok(()) => (self, end),
            Err(why) => (Self::default(), Err(why)),
        }
    }

    fn check(&self) -> Result<(), &'static str> {
        let visibilities = || self.keypoints.iter().skip(2).step_by(3);
        if self.score.is_some_and(|score| !score.is_finite()) {
            Err("its score is not a number")
        } else if !self.keypoints.len().is_multiple_of(3)
            || !are_coordinates(&self.keypoints)
            || !visibilities().all(|it| [0.0, 1.0, 2.0].contains(it))
        {
            Err("its keypoints are not a list of x, y and a visibility of 0, 1 or 2")
        } else if self.polygons.iter().map(Vec::len).sum::<usize>() > MAX_COORDINATES
            || self.keypoints.len() > MAX_COORDINATES
        {
            Err("its polygons or keypoints have more than 16,384 numbers, so only its box is kept")
        } else if self.mask.as_ref().is_some_and(|mask| mask.counts.len() > MAX_MASK_BYTES) {
            Err("its mask is larger than 64 KiB, so only its box is kept")
        } else if self.mask.as_ref().is_some_and(|mask| mask.runs().is_none()) {
            Err("its mask is damaged or has more pixels than its picture, so only its box is kept")
        } else {
            Ok(())
        }
    }

    /// Multiplies all coordinates, except those of the mask, which has a size of its own.
    #[must_use]
    pub fn scaled(self, across: f64, down: f64) -> Self {
        self.moved(|(x, y)| (x * across, y * down))
    }

    /// Moves all coordinates, except those of the mask, and those of keypoints that are not labeled.
    #[must_use]
    pub fn moved(mut self, place: impl Fn(Vec2) -> Vec2) -> Self {
        for [x, y] in self.polygons.iter_mut().flat_map(|outline| outline.as_chunks_mut().0) {
            (*x, *y) = place((*x, *y));
        }
        for [x, y, _] in self.keypoints.as_chunks_mut().0 {
            if (*x, *y) != (0.0, 0.0) {
                (*x, *y) = place((*x, *y));
            }
        }
        self
    }

    /// Rounds coordinates in pixels to thousandths, so that equal annotations stay equal when they are written and
    /// read.
    #[must_use]
    pub fn rounded(mut self) -> Self {
        let numbers = self.polygons.iter_mut().flatten().chain(&mut self.keypoints);
        numbers.for_each(|number| *number = round_pixels(*number));
        self
    }
}

fn are_coordinates(list: &[f64]) -> bool {
    list.iter().all(|number| number.abs() <= MAX_COORDINATE)
}

/// Rounds a coordinate in pixels to thousandths.
pub fn round_pixels(number: f64) -> f64 {
    // Adding zero normalizes -0.0.
    (number * STEPS_PER_PIXEL).round() / STEPS_PER_PIXEL + 0.0
}

impl Mask {
    /// Encodes run lengths of pixels, column by column. The first run is outside the object.
    pub fn from_runs(size: [u32; 2], runs: &[u64]) -> Self {
        let mut counts = String::new();
        for (position, &length) in runs.iter().enumerate() {
            let before = if position > 2 { runs[position - 2] } else { 0 };
            push_number(&mut counts, length.cast_signed().wrapping_sub(before.cast_signed()));
        }
        Self { size, counts }
    }

    /// Encodes a part of a picture of this height and width. `pixels` are the rows of the part, whose first pixel is at
    /// `left` and `top`. Pixels outside the picture are left out.
    ///
    /// # Panics
    /// `part_width` is 0.
    pub fn of_part(
        size: [u32; 2],
        [left, top]: [u32; 2],
        part_width: usize,
        pixels: &[bool],
    ) -> Self {
        let [height, width] = size.map(u64::from);
        let (left, top) = (u64::from(left), u64::from(top));
        let rows = pixels.chunks(part_width);
        let positions = (left..width).zip(0..part_width).flat_map(|(x, column)| {
            let column = rows.clone().map(move |row| row.get(column) == Some(&true));
            let inside = (top..height).zip(column).filter(|(_, is_inside)| *is_inside);
            inside.map(move |(y, _)| x * height + y)
        });
        Self::from_positions(size, positions)
    }

    /// Encodes pixels, which are numbered column by column, in their order.
    fn from_positions(size: [u32; 2], positions: impl Iterator<Item = u64>) -> Self {
        let [height, width] = size.map(u64::from);
        let mut spans: Vec<(u64, u64)> = Vec::new();
        for position in positions {
            match spans.last_mut() {
                Some((_, end)) if *end == position => *end += 1,
                _ => spans.push((position, position + 1)),
            }
        }
        let (mut runs, mut before) = (Vec::new(), 0);
        for (start, end) in spans {
            runs.extend([start - before, end - start]);
            before = end;
        }
        if before < height * width {
            runs.push(height * width - before);
        }
        Self::from_runs(size, &runs)
    }

    /// Turns the mask into a picture of this height and width. `turn` moves points in fractions of both pictures.
    /// Returns `None` if the mask is damaged, has more than `max_area` pixels, or gets run lengths that are too long.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "coordinates in a picture"
    )]
    #[must_use]
    pub fn turned(
        &self,
        size: [u32; 2],
        max_area: u64,
        turn: impl Fn(Vec2) -> Vec2,
    ) -> Option<Self> {
        let ([height, width], [new_height, new_width]) =
            (self.size.map(u64::from), size.map(u64::from));
        let center = |pixel: u64, side: u64| (pixel as f64 + 0.5) / side as f64;
        let pixel = |center: f64, side: u64| (center * side as f64) as u64;
        let place = |position: u64| {
            let (x, y) =
                turn((center(position / height, width), center(position % height, height)));
            pixel(x, new_width) * new_height + pixel(y, new_height)
        };
        let runs = self.runs()?;
        if self.area() > max_area {
            return None;
        }
        let (mut positions, mut start) = (Vec::new(), 0);
        positions.reserve_exact(usize::try_from(self.area()).ok()?);
        for (number, run) in runs.into_iter().enumerate() {
            if number % 2 == 1 {
                positions.extend((start..start + run).map(place));
            }
            start += run;
        }
        positions.sort_unstable();
        // Pixels may meet in a smaller picture.
        positions.dedup();
        let mask = Self::from_positions(size, positions.into_iter());
        (mask.counts.len() <= MAX_MASK_BYTES).then_some(mask)
    }

    /// Whether runs do not go beyond a picture of this height and width.
    pub fn are_inside(size: [u32; 2], runs: &[u64]) -> bool {
        let pixels = runs.iter().try_fold(0_u64, |sum, run| sum.checked_add(*run));
        pixels.is_some_and(|pixels| pixels <= u64::from(size[0]) * u64::from(size[1]))
    }

    /// Decodes the run lengths. Returns `None` if the text is damaged or goes beyond the picture. A length is written in
    /// groups of five bits, the lowest group first, with one character (from code 48 on) per group. From the fourth length
    /// on, the number is the difference from the length two positions before.
    pub fn runs(&self) -> Option<Vec<u64>> {
        let mut lengths: Vec<i64> = Vec::new();
        let mut bytes = self.counts.bytes().map(|byte| byte.wrapping_sub(48)).peekable();
        while bytes.peek().is_some() {
            let (mut number, mut shift) = (0_i64, 0);
            loop {
                let group = bytes.next().filter(|&group| group < 64)?;
                // No picture has a run of this length.
                if shift > 50 {
                    return None;
                }
                number |= i64::from(group & 0x1F) << shift;
                shift += 5;
                if group & 0x20 == 0 {
                    if group & 0x10 != 0 {
                        number |= -1 << shift;
                    }
                    break;
                }
            }
            if let [.., before, _] = lengths[..]
                && lengths.len() > 2
            {
                number = number.checked_add(before)?;
            }
            lengths.push(number);
        }
        let lengths = lengths.into_iter().map(|length| u64::try_from(length).ok());
        lengths.collect::<Option<Vec<_>>>().filter(|runs| Self::are_inside(self.size, runs))
    }

    /// Returns the number of pixels of the object.
    pub fn area(&self) -> u64 {
        self.runs().unwrap_or_default().iter().skip(1).step_by(2).sum()
    }
}

fn push_number(text: &mut String, mut number: i64) {
    loop {
        #[expect(clippy::cast_sign_loss, reason = "five bits")]
        let group = (number & 0x1F) as u8;
        number >>= 5;
        let is_last = number == if group & 0x10 == 0 { 0 } else { -1 };
        text.push(char::from(48 + group + if is_last { 0 } else { 0x20 }));
        if is_last {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn run_lengths_are_read_as_written(runs in prop::collection::vec(0_u64..100_000, 0..40)) {
            prop_assert_eq!(Mask::from_runs([2_000, 2_000], &runs).runs(), Some(runs));
        }
    }

    #[test]
    fn the_rows_of_a_part_become_the_columns_of_a_picture() {
        // The part is 3 pixels wide, and its last column is outside the picture, which is 4 wide and 3 high.
        let part = [false, true, true, true, true, true];
        let mask = Mask::of_part([3, 4], [2, 1], 3, &part);
        assert_eq!(mask.runs(), Some(vec![8, 1, 1, 2]), "columns 2 and 3, from row 1 on");
        assert_eq!(mask.area(), 3);
        assert_eq!(Mask::of_part([3, 4], [9, 9], 3, &part).runs(), Some(vec![12]));
    }

    #[test]
    fn malformed_and_large_annotations_are_refused() {
        let polygons =
            |polygon: Vec<f64>| Annotation { polygons: vec![polygon], ..Annotation::default() };
        let keypoints = |keypoints: Vec<f64>| Annotation { keypoints, ..Annotation::default() };
        let mask = Some(Mask { size: [1, 1], counts: "0".repeat(1 << 17) });
        let runs = [0, 1 << 53].repeat(3_000);
        let endless =
            Annotation { mask: Some(Mask::from_runs([9, 9], &runs)), ..Annotation::default() };
        for (annotation, expected) in [
            (polygons(vec![0.0; 4]), "one of its polygons is not"),
            (polygons(vec![f64::NAN; 6]), "one of its polygons is not"),
            (polygons(vec![0.0; 20_000]), "its polygons or keypoints have more than"),
            (keypoints(vec![1.0, 2.0, 3.0]), "its keypoints are not"),
            (keypoints(vec![1.0, 2.0]), "its keypoints are not"),
            (Annotation { score: Some(f64::INFINITY), ..Annotation::default() }, "its score is"),
            (Annotation { mask, ..Annotation::default() }, "its mask is larger"),
            (endless, "its mask is damaged or has more pixels than its picture"),
        ] {
            let why = annotation.checked().1.unwrap_err();
            assert!(why.starts_with(expected), "{why}");
        }
    }

    #[test]
    fn pixels_that_meet_when_a_mask_is_turned_count_once() {
        let turned = Mask::from_runs([2, 2], &[0, 4]).turned([2, 2], 4, |(_, y)| (0.0, y)).unwrap();
        assert_eq!(turned.runs(), Some(vec![0, 2, 2]));
    }

    #[test]
    fn masks_have_the_form_of_the_coco_api() {
        // The counts of pycocotools for a mask of 3x4 pixels.
        let mask = Mask::from_runs([3, 4], &[4, 2, 1, 2, 3]);
        assert_eq!(mask.counts, "42102");
        assert_eq!(mask.area(), 4);
    }
}

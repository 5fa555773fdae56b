//! What an annotation file says about an object beside its label and box: its score, polygons, mask and keypoints. The
//! fields have the form of COCO. Annotations come from outside, so [`Annotation::checked`] bounds their size.

use serde::{Deserialize, Serialize};

use crate::{Mask, Region, mask::MAX_MASK_BYTES, region::Vec2};

/// The maximum number of coordinates in the polygons of an object, and in its keypoints.
const MAX_COORDINATES: usize = 16_384;
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
    /// outlines are omitted on their own. The error says what is wrong with the object.
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

#[cfg(test)]
mod tests {
    use super::*;

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
}

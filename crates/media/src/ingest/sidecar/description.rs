//! The description of a media item in sidecars: trimmed texts of bounded length, unique names, and objects. All limits
//! for descriptions are defined here.

use std::mem;

use super::{
    bounding_box::{BoundingBox, MAX_ROUNDING, MAX_ROUNDING_OF_FILES},
    stated_size::StatedSize,
};
use crate::ingest::embedded_text::rating_label;
use tessera_model::{Annotation, LabeledRegion, composed, is_metadata_label, vql::ExtraColumns};

/// Maximum length of a caption, in characters.
const MAX_CAPTION_CHARS: usize = 16_384;
/// Maximum length of a label or tag, in characters.
const MAX_NAME_CHARS: usize = 128;
/// Maximum number of labels, of metadata labels, and of tags, per media item.
const MAX_NAMES: usize = 256;
/// Why a shape is not an object.
pub(super) const POINT_OR_LINE: &str =
    "a point or line marks no part of the picture, so it is not read";
/// The label of objects that have boxes and no names, such as the faces of a dataset of faces.
pub(super) const UNNAMED: &str = "object";
/// Maximum number of objects per media item.
pub(crate) const MAX_OBJECTS: usize = 4_096;
pub(super) const TOO_MANY_OBJECTS: &str = "only the first 4,096 objects of a picture are kept";

#[derive(Clone, Debug, Default, PartialEq)]
pub struct MediaDescription {
    /// The caption, which has 1-16,384 characters.
    pub caption: Option<String>,
    /// At most 256 labels and 256 metadata labels of 1-128 characters each, in order of appearance.
    pub labels: Vec<String>,
    /// User tags, with the same limits as labels.
    pub tags: Vec<String>,
    /// The objects, of which there are at most 4,096.
    pub objects: Vec<LabeledBox>,
    /// The size of the picture whose pixels the boxes count.
    pub stated_size: Option<StatedSize>,
    /// Columns that have no other meaning, with bounded names and texts.
    pub extra_columns: ExtraColumns,
}

/// Something about each part of a description that comes from one sidecar.
#[derive(Debug, Default)]
pub(super) struct Parts<T> {
    pub caption: T,
    pub labels: T,
    pub objects: T,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LabeledBox {
    /// The label, which has 1-128 characters.
    pub label: String,
    pub bounding_box: BoundingBox,
    /// The annotation, in the unit of the box.
    pub annotation: Annotation,
}

impl LabeledBox {
    pub(super) fn is_in_pixels(&self) -> bool {
        matches!(self.bounding_box, BoundingBox::Pixels { .. })
    }

    /// Adds a part with these outlines, in the unit of the box. The error says why the outlines are omitted.
    pub(super) fn add_part(
        &mut self,
        part: BoundingBox,
        outlines: Vec<Vec<f64>>,
    ) -> Result<(), &'static str> {
        self.bounding_box = self.bounding_box.with(part);
        if self.annotation.polygons.is_empty() {
            // The outlines of earlier parts were too large to be kept.
            return Ok(());
        }
        self.annotation.polygons.extend(outlines);
        let (annotation, end) = mem::take(&mut self.annotation).checked();
        self.annotation = annotation;
        end
    }

    /// Returns the object in a picture of this size. Returns `None` if its box is outside the picture.
    pub fn in_picture(&self, width: u32, height: u32) -> Option<LabeledRegion> {
        let region = self.bounding_box.to_region(width, height)?;
        let annotation = self.annotation.clone();
        let annotation = match self.bounding_box {
            BoundingBox::Normalized(_) => annotation.scaled(width.into(), height.into()),
            BoundingBox::Pixels { .. } => annotation,
        };
        Some(LabeledRegion { label: self.label.clone(), region, annotation: annotation.rounded() })
    }
}

impl MediaDescription {
    /// Adds everything that is missing here from a description of lower precedence. Tags are merged.
    pub fn merge_missing(&mut self, lower: Self) {
        self.caption = self.caption.take().or(lower.caption);
        if self.labels.is_empty() {
            self.labels = lower.labels;
        }
        if self.objects.is_empty() {
            (self.objects, self.stated_size) = (lower.objects, lower.stated_size);
        }
        for (name, value) in lower.extra_columns {
            self.extra_columns.entry(name).or_insert(value);
        }
        lower.tags.iter().for_each(|tag| push_name(&mut self.tags, tag));
    }

    /// Adds a description of lower precedence like [`MediaDescription::merge_missing`]. If both descriptions have a
    /// part, the part is extended if `extends` says so. Otherwise, it stays as it is. Rows of the same file share the
    /// size of the picture. Returns which parts of the lower description differ but are not used, and the number of
    /// objects above the limit.
    pub(super) fn merge(
        &mut self,
        mut lower: Self,
        extends: &Parts<bool>,
        is_of_same_file: bool,
    ) -> (Parts<bool>, usize) {
        let (mut unused, mut further) = (Parts::default(), 0);
        if let (Some(known), Some(text)) = (&self.caption, &lower.caption)
            && !known.contains(text.as_str())
        {
            unused.caption = !extends.caption;
            if extends.caption {
                push_caption(&mut self.caption, text);
            }
        }
        if !self.labels.is_empty() {
            unused.labels =
                !extends.labels && lower.labels.iter().any(|name| !self.labels.contains(name));
            if extends.labels {
                lower.labels.iter().for_each(|name| push_name(&mut self.labels, name));
            }
        }
        if !self.objects.is_empty() {
            if is_of_same_file && self.is_in_pixels() && lower.is_in_pixels() {
                // The size may be only in one of the rows.
                let own = self.stated_size;
                self.stated_size = own.or(lower.stated_size);
                lower.stated_size = lower.stated_size.or(own);
            }
            if extends.objects && self.has_unit_of(&lower) {
                let rounding = if is_of_same_file { MAX_ROUNDING } else { MAX_ROUNDING_OF_FILES };
                further = self.extend_objects(&lower.objects, rounding);
            } else {
                let is_known = |object: &LabeledBox| {
                    self.objects.iter().any(|known| known.label == object.label)
                };
                unused.objects =
                    lower.objects.len() > self.objects.len() || !lower.objects.iter().all(is_known);
            }
        }
        self.merge_missing(lower);
        (unused, further)
    }

    /// The parts that are not empty.
    pub(super) fn stated_parts(&self) -> Parts<bool> {
        Parts {
            caption: self.caption.is_some(),
            labels: !self.labels.is_empty(),
            objects: !self.objects.is_empty(),
        }
    }

    /// Whether an object has the confidence of a model.
    pub(super) fn has_scores(&self) -> bool {
        self.objects.iter().any(|object| object.annotation.score.is_some())
    }

    /// Whether the boxes of both descriptions count the same pixels, or are fractions.
    fn has_unit_of(&self, other: &Self) -> bool {
        self.is_in_pixels() == other.is_in_pixels() && self.stated_size == other.stated_size
    }

    fn is_in_pixels(&self) -> bool {
        self.objects.first().is_some_and(LabeledBox::is_in_pixels)
    }

    /// Adds objects. An object with the same label and box adds only what is not yet known of it, such as keypoints.
    /// Returns the number of objects above the limit.
    fn extend_objects(&mut self, others: &[LabeledBox], rounding: f64) -> usize {
        let mut further = 0;
        for other in others {
            let is_same = |known: &&mut LabeledBox| {
                known.bounding_box.is_almost(other.bounding_box, rounding)
                    && known.label == other.label
            };
            if let Some(known) = self.objects.iter_mut().find(is_same) {
                known.annotation.add_missing(&other.annotation);
            } else if self.objects.len() < MAX_OBJECTS {
                self.objects.push(other.clone());
            } else {
                further += 1;
            }
        }
        further
    }

    /// Adds an object with an annotation in the unit of its box. The error says why the object or its annotation is
    /// omitted.
    pub(crate) fn push_annotated(
        &mut self,
        label: String,
        bounding_box: BoundingBox,
        annotation: Annotation,
    ) -> Result<(), &'static str> {
        let (annotation, end) = annotation.checked();
        if self.objects.len() >= MAX_OBJECTS {
            return Err(TOO_MANY_OBJECTS);
        }
        self.objects.push(LabeledBox { label, bounding_box, annotation });
        end
    }

    pub(crate) fn push_caption(&mut self, text: &str) {
        push_caption(&mut self.caption, text);
    }

    /// Adds the rating of a row of an export as a label, as ratings in pictures are read. It replaces the rating among
    /// the labels, which is that of the picture.
    pub(crate) fn push_rating(&mut self, stars: Option<f64>) {
        if let Some(label) = stars.and_then(rating_label) {
            self.labels.retain(|name| !(name.starts_with("rating:") && is_metadata_label(name)));
            push_name(&mut self.labels, &label);
        }
    }

    /// Says which limits the texts reach, because more than that is not kept.
    pub(super) fn reached_limits(&self) -> impl Iterator<Item = &'static str> {
        let has_chars = |text: &String, count: usize| {
            text.len() >= count && text.chars().nth(count - 1).is_some()
        };
        let has_long_caption =
            self.caption.as_ref().is_some_and(|caption| has_chars(caption, MAX_CAPTION_CHARS));
        let has_long_name =
            self.labels.iter().chain(&self.tags).any(|name| has_chars(name, MAX_NAME_CHARS));
        let has_many_names = self.labels.len().max(self.tags.len()) >= MAX_NAMES;
        [
            (
                has_long_caption,
                "a caption has 16,384 characters or more, of which the first 16,384 are kept",
            ),
            (
                has_long_name,
                "a label or tag has 128 characters or more, of which the first 128 are kept",
            ),
            (
                has_many_names,
                "a picture has 256 labels or tags or more, of which the first 256 are kept",
            ),
        ]
        .into_iter()
        .filter_map(|(is_reached, why)| is_reached.then_some(why))
    }
}

/// Adds a text to a caption, with a space between them.
pub(crate) fn push_caption(caption: &mut Option<String>, text: &str) {
    // A caption that has room only for a separating space is full.
    let full = |caption: &String| {
        caption.len() + 1 >= MAX_CAPTION_CHARS && caption.chars().count() + 1 >= MAX_CAPTION_CHARS
    };
    if caption.as_ref().is_some_and(full) {
        return;
    }
    let Some(text) = normalized_caption(text) else { return };
    *caption = match caption.take() {
        None => Some(text),
        Some(caption) => normalized_caption(&format!("{caption} {text}")),
    };
}

/// Normalizes a caption. Returns `None` if it is blank.
pub(crate) fn normalized_caption(text: &str) -> Option<String> {
    trimmed_to(text, MAX_CAPTION_CHARS)
}

/// Normalizes a label or tag. Returns `None` if it is blank. Names are in NFC, in which keyboards write them.
pub(crate) fn normalized_name(text: &str) -> Option<String> {
    trimmed_to(&composed(text), MAX_NAME_CHARS)
}

/// Adds a label or tag, unless it is blank, a duplicate or over the limit. Metadata labels have a separate limit, so
/// that many keywords do not displace them.
pub fn push_name(names: &mut Vec<String>, text: &str) {
    let Some(name) = normalized_name(text) else { return };
    let is_metadata = is_metadata_label(&name);
    let count = names.iter().filter(|other| is_metadata_label(other) == is_metadata).count();
    if count < MAX_NAMES && !names.contains(&name) {
        names.push(name);
    }
}

fn trimmed_to(text: &str, limit: usize) -> Option<String> {
    let text = text.trim();
    let end = text.char_indices().nth(limit).map_or(text.len(), |(end, _)| end);
    let text = text[..end].trim_end();
    (!text.is_empty()).then(|| text.to_owned())
}

//! Says what a format omits or changes of the media that an export would contain, before the export starts. Change
//! `OMISSIONS` when a format learns to carry more.

use std::collections::HashSet;

use super::pictures::UniqueNames;
use tessera_model::{
    ExportFormat::{self, Coco, Csv, Voc, Yolo, YoloPose, YoloSegment},
    ExportPreview, Omission, SafeText,
    text::group_digits,
};
use tessera_store::export::MediaContent;

/// The formats that describe nothing of an image but its objects.
const OBJECTS_ONLY: &[ExportFormat] = &[Yolo, YoloSegment, YoloPose, Voc];
const WITHOUT_LABELS: &[ExportFormat] = &[Coco, Yolo, YoloSegment, YoloPose, Voc];
const WITHOUT_MASKS: &[ExportFormat] = &[Yolo, YoloSegment, YoloPose, Voc, Csv];

/// What happens to media, in which formats, and to which items.
type Rule = (&'static str, &'static [ExportFormat], fn(&MediaContent) -> bool);

const OMISSIONS: [Rule; 19] = [
    ("captions omitted", OBJECTS_ONLY, |it| it.has_caption),
    ("images without their labels", WITHOUT_LABELS, |it| it.has_labels),
    ("images without their user tags", WITHOUT_LABELS, |it| it.label.is_none() && it.has_tags),
    ("images without your ratings", WITHOUT_LABELS, |it| it.label.is_none() && it.rating > 0),
    ("objects without their user tags", WITHOUT_LABELS, |it| it.label.is_some() && it.has_tags),
    ("objects without your ratings", WITHOUT_LABELS, |it| it.label.is_some() && it.rating > 0),
    ("images without your own columns", WITHOUT_LABELS, |it| it.extra_columns > 0),
    ("scores omitted", OBJECTS_ONLY, |it| it.annotation.score.is_some()),
    ("objects without their polygons", &[Yolo, YoloPose, Voc, Csv], has_polygons),
    ("objects whose polygons are joined into one", &[YoloSegment], |it| {
        it.annotation.polygons.len() > 1
    }),
    ("objects written as rectangles, because they have no polygons", &[YoloSegment], |it| {
        it.label.is_some() && !has_polygons(it)
    }),
    ("masks omitted", WITHOUT_MASKS, has_mask),
    ("masks omitted beside polygons", &[Coco], |it| has_mask(it) && has_polygons(it)),
    ("objects without their keypoints", &[Yolo, YoloSegment, Voc, Csv], has_keypoints),
    ("objects with keypoints that are not labeled, because they have none", &[YoloPose], |it| {
        it.label.is_some() && !has_keypoints(it)
    }),
    (
        "objects whose keypoints have numbers instead of names, and no skeleton",
        &[Coco],
        has_keypoints,
    ),
    ("groups (is_crowd) written as single objects", WITHOUT_MASKS, |it| it.annotation.is_crowd),
    ("objects without pose, truncated and difficult", &[Voc], |it| it.label.is_some()),
    ("labels with spaces instead of control characters", &[Voc], |it| {
        it.label.as_ref().is_some_and(|label| label.contains(char::is_control))
    }),
];

fn has_polygons(item: &MediaContent) -> bool {
    !item.annotation.polygons.is_empty()
}

fn has_mask(item: &MediaContent) -> bool {
    item.annotation.mask.is_some()
}

fn has_keypoints(item: &MediaContent) -> bool {
    !item.annotation.keypoints.is_empty()
}

/// Counts what a format omits or changes.
pub(crate) struct PreviewBuilder {
    format: ExportFormat,
    /// The names of the images in the archive, if it has images.
    names: Option<UniqueNames>,
    media_count: u64,
    renamed: u64,
    has_objects: bool,
    omitted: [u64; OMISSIONS.len()],
    keypoint_values: HashSet<usize>,
}

impl PreviewBuilder {
    pub(crate) fn new(format: ExportFormat, include_images: bool) -> Self {
        Self {
            format,
            names: include_images.then(|| UniqueNames::of(format)),
            media_count: 0,
            renamed: 0,
            has_objects: false,
            omitted: [0; OMISSIONS.len()],
            keypoint_values: HashSet::new(),
        }
    }

    pub(crate) fn add(&mut self, item: &MediaContent) {
        for ((_, formats, has), count) in OMISSIONS.iter().zip(&mut self.omitted) {
            *count += u64::from(formats.contains(&self.format) && has(item));
        }
        if item.label.is_some() {
            self.has_objects = true;
            let keypoints = item.annotation.keypoints.len();
            self.keypoint_values.extend(Some(keypoints).filter(|&values| values > 0));
            return;
        }
        self.media_count += 1;
        if let Some(names) = &mut self.names {
            self.renamed += u64::from(names.unique(&item.file_name) != item.file_name);
        }
    }

    pub(crate) fn finish(self) -> ExportPreview {
        let omission = |(what, count): (&str, u64)| Omission {
            count,
            text: SafeText::detail(&format!("{what}: {}", group_digits(count))),
        };
        let kinds = self.keypoint_values.len() as u64;
        let is_filled = matches!(self.format, YoloPose | Coco) && kinds > 1;
        let is_yolo = matches!(self.format, Yolo | YoloSegment | YoloPose);
        let in_one_set = if is_yolo { self.media_count } else { 0 };
        let untrainable = if is_yolo && !self.has_objects { self.media_count } else { 0 };
        let further = [
            ("images renamed, so that names are unique and safe", self.renamed),
            ("images in one set, which is both train and val", in_one_set),
            ("images of which none has an object to train with", untrainable),
            ("numbers of keypoints, filled up to the largest", if is_filled { kinds } else { 0 }),
        ];
        let counted = OMISSIONS.iter().map(|(what, ..)| *what).zip(self.omitted).chain(further);
        let omissions = counted.filter(|(_, count)| *count > 0).map(omission).collect();
        ExportPreview { media_count: self.media_count, omissions }
    }
}

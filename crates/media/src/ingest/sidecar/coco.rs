//! Reads COCO files, which are JSON with `images`, `categories` and `annotations`. Annotations are captions, boxes in
//! pixels, polygons or masks.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use serde::Deserialize;
use serde_json::value::RawValue;
use tessera_model::{Annotation, Mask};

use super::{
    description::{BoundingBox, MediaDescription, normalized_name},
    diagnostics::{Reason, SidecarDiagnostics},
    file_index::FileIndex,
    sidecar_names::may_be_coco,
    sidecar_reader::{MAX_SHARED_SIDECAR_BYTES, SidecarReader},
};
use crate::ingest::documents;

#[derive(Deserialize)]
struct CocoDocument<'a> {
    #[serde(borrow)]
    images: Option<&'a RawValue>,
    #[serde(borrow)]
    annotations: Option<&'a RawValue>,
    #[serde(borrow)]
    categories: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct CocoImage<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    file_name: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct CocoCategory<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct CocoAnnotation<'a> {
    #[serde(borrow)]
    image_id: Option<&'a RawValue>,
    #[serde(borrow)]
    category_id: Option<&'a RawValue>,
    #[serde(borrow)]
    bbox: Option<&'a RawValue>,
    #[serde(borrow)]
    segmentation: Option<&'a RawValue>,
    #[serde(borrow)]
    caption: Option<&'a RawValue>,
    #[serde(borrow)]
    score: Option<&'a RawValue>,
    #[serde(borrow)]
    keypoints: Option<&'a RawValue>,
    #[serde(borrow)]
    iscrowd: Option<&'a RawValue>,
}

/// Reads every COCO file of the folder. Other JSON is ignored.
pub fn read(reader: &mut SidecarReader<'_>) {
    let is_unread = |path: &&Path| !reader.data.sidecars.contains(*path);
    let candidates = reader.files.all().filter(|path| may_be_coco(path)).filter(is_unread);
    let candidates: Vec<_> = candidates.collect();
    for sidecar in candidates {
        let Some(text) = reader.read_text(sidecar, MAX_SHARED_SIDECAR_BYTES) else { continue };
        match serde_json::from_str::<&RawValue>(&text) {
            Ok(value) => read_document(reader, sidecar, value),
            Err(cause) => {
                reader.report_problem(sidecar, format!("line {}: invalid JSON", cause.line()));
            }
        }
    }
}

fn read_document(reader: &mut SidecarReader<'_>, sidecar: &Path, value: &RawValue) {
    let Some(CocoDocument { images: Some(images), annotations: Some(annotations), categories }) =
        documents::parse_object(value.get())
    else {
        return;
    };
    reader.mark_used(sidecar);
    let (categories, bad_categories) = categories.map(read_categories).unwrap_or_default();
    let (images, bad_images) = read_images(images, &reader.files, sidecar);
    let (descriptions, bad_annotations) = read_annotations(annotations, &images, &categories);
    for (media, description) in descriptions {
        reader.add_description(media, description);
    }
    let problems: Vec<_> =
        [bad_categories, bad_images, bad_annotations].into_iter().flatten().collect();
    if !problems.is_empty() {
        reader.report_problem(sidecar, problems.join("; "));
    }
}

/// Passes each element of a list to `take`. Returns what is wrong with the list.
fn read_list<'a>(
    list: &'a RawValue,
    noun: &'static str,
    plural: &'static str,
    mut take: impl FnMut(&'a RawValue) -> Result<(), Reason>,
) -> Option<String> {
    let mut diagnostics = SidecarDiagnostics::new(noun, plural);
    let is_list = documents::for_each_element(list.get(), |value| {
        diagnostics.next_position();
        diagnostics.check(take(value));
    });
    match is_list {
        Some(()) => diagnostics.summary(),
        None => Some(format!("its {plural} are not a list")),
    }
}

/// Normalizes an identifier, which may be a number or a string.
fn parse_id(value: &RawValue) -> &str {
    value.get().trim_matches('"')
}

/// Returns the names of the categories by identifier, and what is wrong with the list.
fn read_categories(list: &RawValue) -> (HashMap<&str, String>, Option<String>) {
    let mut categories = HashMap::new();
    let problem = read_list(list, "category", "categories", |value| {
        let Some(CocoCategory { id: Some(id), name: Some(name) }) =
            documents::parse_object(value.get())
        else {
            return Err("it has no id or no name".into());
        };
        let name = documents::parse_string(name).and_then(|name| normalized_name(&name));
        categories.insert(parse_id(id), name.ok_or("its name is not a string")?);
        Ok(())
    });
    (categories, problem)
}

/// Returns the media files by image identifier, and what is wrong with the list. A missing file is `None`.
fn read_images<'a, 'f>(
    list: &'a RawValue,
    files: &FileIndex<'f>,
    sidecar: &Path,
) -> (HashMap<&'a str, Option<&'f Path>>, Option<String>) {
    let mut images = HashMap::new();
    let problem = read_list(list, "image", "images", |value| {
        let Some(CocoImage { id: Some(id), file_name: Some(name) }) =
            documents::parse_object(value.get())
        else {
            return Err("it is not a JSON object with an id and a file_name".into());
        };
        let name = documents::parse_string(name).ok_or("its file_name is not a string".into());
        let media = name.and_then(|name| files.resolve(&name, sidecar));
        images.insert(parse_id(id), media.as_ref().ok().copied());
        media.map(drop)
    });
    (images, problem)
}

/// Returns the descriptions of the media files, and what is wrong with the annotations.
fn read_annotations<'f>(
    list: &RawValue,
    images: &HashMap<&str, Option<&'f Path>>,
    categories: &HashMap<&str, String>,
) -> (BTreeMap<&'f Path, MediaDescription>, Option<String>) {
    let mut descriptions = BTreeMap::<_, MediaDescription>::new();
    let problem = read_list(list, "annotation", "annotations", |value| {
        let annotation = documents::parse_object::<CocoAnnotation<'_>>(value.get());
        let annotation = annotation.ok_or("it is not a JSON object")?;
        let image = annotation.image_id.and_then(|id| images.get(parse_id(id)));
        match image.ok_or("its image_id is not in images")? {
            Some(media) => {
                add_annotation(&annotation, descriptions.entry(*media).or_default(), categories)
                    .map_err(Reason::from)
            }
            // The missing image has already been reported.
            None => Ok(()),
        }
    });
    (descriptions, problem)
}

fn add_annotation(
    annotation: &CocoAnnotation<'_>,
    description: &mut MediaDescription,
    categories: &HashMap<&str, String>,
) -> Result<(), &'static str> {
    if let Some(caption) = annotation.caption {
        description
            .push_caption(&documents::parse_string(caption).ok_or("its caption is not a string")?);
    }
    let segmentation = annotation.segmentation.map(read_segmentation);
    match annotation_extent(annotation, segmentation.as_ref())? {
        Some(extent) => {
            let label = annotation.category_id.and_then(|key| categories.get(parse_id(key)));
            let label = label.ok_or("its category_id is not in categories")?.clone();
            let details = read_details(annotation, segmentation);
            let end = details.as_ref().map(drop).map_err(|why| *why);
            description.push_annotated(label, extent, details.unwrap_or_default()).and(end)
        }
        None if annotation.caption.is_none() => {
            Err("it has neither bbox nor segmentation nor caption")
        }
        None => Ok(()),
    }
}

/// Returns the box of an annotation, or the box around its segmentation.
fn annotation_extent(
    annotation: &CocoAnnotation<'_>,
    segmentation: Option<&Result<Segmentation, &'static str>>,
) -> Result<Option<BoundingBox>, &'static str> {
    let is_empty = |bbox: &&RawValue| bbox.get().trim_start_matches(['[', ' ']) == "]";
    if let Some(bbox) = annotation.bbox.filter(|bbox| segmentation.is_none() || !is_empty(bbox)) {
        let sides = documents::parse_box(bbox).ok_or("its bbox is not a list of four numbers")?;
        let extent = BoundingBox::pixels(sides);
        return extent.map(Some).ok_or("its bbox is empty or outside the picture");
    }
    let Some(segmentation) = segmentation else { return Ok(None) };
    let extent = segmentation.as_ref().map_err(|why| *why)?.extent();
    extent.map(Some).ok_or(WRONG_SEGMENTATION)
}

const WRONG_SEGMENTATION: &str = "its segmentation is neither polygons nor a mask";

/// Returns the score, segmentation and keypoints of an annotation. The error says what is malformed.
fn read_details(
    annotation: &CocoAnnotation<'_>,
    segmentation: Option<Result<Segmentation, &'static str>>,
) -> Result<Annotation, &'static str> {
    let (polygons, mask) = match segmentation.transpose()? {
        Some(Segmentation::Polygons(polygons)) => (polygons, None),
        Some(Segmentation::Mask(size, runs)) => (Vec::new(), Some(Mask::from_runs(size, &runs))),
        None => (Vec::new(), None),
    };
    let keypoints: Vec<f64> = parse_numbers(annotation.keypoints)?.unwrap_or_default();
    let score = parse_numbers(annotation.score)?;
    // Datasets without keypoints write a zero for each.
    let is_labeled = keypoints.iter().any(|&number| number != 0.0);
    let keypoints = if is_labeled { keypoints } else { Vec::new() };
    let is_crowd = annotation.iscrowd.is_some_and(|flag| matches!(flag.get(), "1" | "true"));
    Ok(Annotation { score, polygons, mask, keypoints, is_crowd })
}

fn parse_numbers<T: serde::de::DeserializeOwned>(
    value: Option<&RawValue>,
) -> Result<Option<T>, &'static str> {
    let value = value.map(|value| serde_json::from_str(value.get())).transpose();
    value.map_err(|_| "its score or keypoints are not numbers")
}

/// Runs of pixels, column by column. The first run is outside the object.
#[derive(Deserialize)]
struct RunLengthMask {
    /// Height and width of the picture.
    size: [u32; 2],
    counts: RunLengths,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RunLengths {
    Plain(Vec<u64>),
    /// The form in which the COCO API writes run lengths.
    Compressed(String),
}

/// The pixels of an object.
enum Segmentation {
    /// Outlines, each as `[x, y, x, y, …]`.
    Polygons(Vec<Vec<f64>>),
    /// The height and width of the picture, and the runs.
    Mask([u32; 2], Vec<u64>),
}

/// Reads a segmentation. An empty outline counts as none.
fn read_segmentation(segmentation: &RawValue) -> Result<Segmentation, &'static str> {
    if let Some(mask) = documents::parse_object::<RunLengthMask>(segmentation.get()) {
        let runs = match mask.counts {
            RunLengths::Plain(runs) => runs,
            RunLengths::Compressed(counts) => {
                Mask { size: mask.size, counts }.runs().ok_or(WRONG_SEGMENTATION)?
            }
        };
        return Ok(Segmentation::Mask(mask.size, runs));
    }
    let polygons = serde_json::from_str(segmentation.get());
    let mut polygons: Vec<Vec<f64>> = polygons.map_err(|_| WRONG_SEGMENTATION)?;
    polygons.retain(|polygon| !polygon.is_empty());
    Ok(Segmentation::Polygons(polygons))
}

impl Segmentation {
    /// Returns the box around the segmentation. Returns `None` if it is empty or outside the picture.
    fn extent(&self) -> Option<BoundingBox> {
        match self {
            Self::Mask([height, _], runs) => around_runs((*height).into(), runs),
            Self::Polygons(polygons) => {
                let points = polygons.iter().flat_map(|polygon| polygon.as_chunks().0);
                BoundingBox::around(&points.copied().collect::<Vec<_>>())
            }
        }
    }
}

/// Returns the box around the pixels of every second run. These pixels are the object.
fn around_runs(height: u64, runs: &[u64]) -> Option<BoundingBox> {
    let (mut left, mut right, mut top, mut bottom) = (u64::MAX, 0, u64::MAX, 0);
    let mut end = 0_u64;
    for (number, &length) in runs.iter().enumerate() {
        let start = end;
        end = start.checked_add(length)?;
        if number % 2 == 0 || length == 0 {
            continue;
        }
        let (first, last) = (start.checked_div(height)?, (end - 1) / height);
        (left, right) = (left.min(first), right.max(last + 1));
        // A run over several columns touches the upper and the lower border.
        let rows =
            if first == last { (start % height, (end - 1) % height + 1) } else { (0, height) };
        (top, bottom) = (top.min(rows.0), bottom.max(rows.1));
    }
    if right == 0 {
        return None;
    }
    let number = |count: u64| u32::try_from(count).ok().map(f64::from);
    let (x, y) = (number(left)?, number(top)?);
    BoundingBox::pixels([x, y, number(right)? - x, number(bottom)? - y])
}

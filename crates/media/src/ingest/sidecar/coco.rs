//! Reads COCO files, which are JSON with `images`, `categories` and `annotations`. Annotations are captions, boxes in
//! pixels, polygons or masks.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    description::{BoundingBox, MediaDescription, normalized_name},
    sidecar_reader::{
        FileIndex, MAX_SHARED_SIDECAR_BYTES, SidecarDiagnostics, SidecarReader, may_be_coco,
    },
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
    mut take: impl FnMut(&'a RawValue) -> Result<(), &'static str>,
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
            return Err("it has no id or no name");
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
            return Err("it is not a JSON object with an id and a file_name");
        };
        let name = documents::parse_string(name).ok_or("its file_name is not a string");
        let media = name.and_then(|name| files.resolve(&name, sidecar));
        images.insert(parse_id(id), media.ok());
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
    match annotation_extent(annotation)? {
        Some(extent) => {
            let label = annotation.category_id.and_then(|key| categories.get(parse_id(key)));
            let label = label.ok_or("its category_id is not in categories")?;
            description.push_object(label.clone(), extent);
            Ok(())
        }
        None if annotation.caption.is_none() => {
            Err("it has neither bbox nor segmentation nor caption")
        }
        None => Ok(()),
    }
}

/// Returns the box of an annotation, or the box around its segmentation.
fn annotation_extent(annotation: &CocoAnnotation<'_>) -> Result<Option<BoundingBox>, &'static str> {
    if let Some(bbox) = annotation.bbox {
        let sides = documents::parse_box(bbox).ok_or("its bbox is not a list of four numbers")?;
        let extent = BoundingBox::pixels(sides);
        return extent.map(Some).ok_or("its bbox is empty or outside the picture");
    }
    let extent = annotation.segmentation.map(|segmentation| {
        segmentation_extent(segmentation).ok_or("its segmentation is neither polygons nor a mask")
    });
    extent.transpose()
}

/// Runs of pixels, column by column. The first run is outside the object.
#[derive(Deserialize)]
struct RunLengthMask {
    /// Height and width of the picture.
    size: [u64; 2],
    counts: RunLengths,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RunLengths {
    Plain(Vec<u64>),
    /// The form in which the COCO API writes run lengths.
    Compressed(String),
}

/// Returns the box around a segmentation. Returns `None` if the segmentation is empty, or neither polygons nor a mask.
fn segmentation_extent(segmentation: &RawValue) -> Option<BoundingBox> {
    if let Some(mask) = documents::parse_object::<RunLengthMask>(segmentation.get()) {
        let runs = match mask.counts {
            RunLengths::Plain(runs) => runs,
            RunLengths::Compressed(text) => decompress(&text)?,
        };
        return around_runs(mask.size[0], &runs);
    }
    let polygons: Vec<Vec<f64>> = serde_json::from_str(segmentation.get()).ok()?;
    let points: Vec<[f64; 2]> =
        polygons.iter().flat_map(|polygon| polygon.as_chunks().0).copied().collect();
    BoundingBox::around(&points)
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

/// Decodes run lengths. A length is written in groups of five bits, the lowest group first, with one character (from
/// code 48 on) per group. From the third length on, the number is the difference from the length two positions before.
fn decompress(text: &str) -> Option<Vec<u64>> {
    let mut lengths: Vec<i64> = Vec::new();
    let mut bytes = text.bytes().map(|byte| byte.wrapping_sub(48)).peekable();
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
    lengths.into_iter().map(|length| u64::try_from(length).ok()).collect()
}

//! COCO: JSON with `images`, `categories` and `annotations` (captions, or boxes or segmentations in pixels).

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    candidates::may_be_coco,
    coco_mask,
    description::{BoundingBox, MediaDescription, normalized_name},
    diagnostics::SidecarDiagnostics,
    file_index::FileIndex,
    json,
    sidecar_reader::{MAX_SHARED_SIDECAR_BYTES, SidecarReader},
};

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
    let candidates: Vec<_> = reader.files.all().filter(|path| may_be_coco(path)).collect();
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
        json::parse_object(value.get())
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
    let is_list = json::for_each_element(list.get(), |value| {
        diagnostics.next_position();
        diagnostics.check(take(value));
    });
    match is_list {
        Some(()) => diagnostics.summary(),
        None => Some(format!("its {plural} are not a list")),
    }
}

/// Normalizes an identifier, which can be a number or a string.
fn parse_id(value: &RawValue) -> &str {
    value.get().trim_matches('"')
}

/// Returns the category names by identifier, and what is wrong with them.
fn read_categories(list: &RawValue) -> (HashMap<&str, String>, Option<String>) {
    let mut categories = HashMap::new();
    let problem = read_list(list, "category", "categories", |value| {
        let Some(CocoCategory { id: Some(id), name: Some(name) }) = json::parse_object(value.get())
        else {
            return Err("it has no id or no name");
        };
        let name = json::parse_string(name).and_then(|name| normalized_name(&name));
        categories.insert(parse_id(id), name.ok_or("its name is not a string")?);
        Ok(())
    });
    (categories, problem)
}

/// Returns the media files by image identifier, `None` if missing, and what is wrong with them.
fn read_images<'a, 'f>(
    list: &'a RawValue,
    files: &FileIndex<'f>,
    sidecar: &Path,
) -> (HashMap<&'a str, Option<&'f Path>>, Option<String>) {
    let mut images = HashMap::new();
    let problem = read_list(list, "image", "images", |value| {
        let Some(CocoImage { id: Some(id), file_name: Some(name) }) =
            json::parse_object(value.get())
        else {
            return Err("it is not a JSON object with an id and a file_name");
        };
        let name = json::parse_string(name).ok_or("its file_name is not a string");
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
        let annotation = json::parse_object::<CocoAnnotation<'_>>(value.get());
        let annotation = annotation.ok_or("it is not a JSON object")?;
        let image = annotation.image_id.and_then(|id| images.get(parse_id(id)));
        match image.ok_or("its image_id is not in images")? {
            Some(media) => {
                add_annotation(&annotation, descriptions.entry(*media).or_default(), categories)
            }
            // The image was already reported as missing.
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
            .push_caption(&json::parse_string(caption).ok_or("its caption is not a string")?);
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

/// The box of an annotation, or that around its segmentation.
fn annotation_extent(annotation: &CocoAnnotation<'_>) -> Result<Option<BoundingBox>, &'static str> {
    if let Some(bbox) = annotation.bbox {
        let sides = json::parse_box(bbox).ok_or("its bbox is not a list of four numbers")?;
        let extent = BoundingBox::pixels(sides);
        return extent.map(Some).ok_or("its bbox is empty or outside the picture");
    }
    let extent = annotation.segmentation.map(|segmentation| {
        coco_mask::extent(segmentation).ok_or("its segmentation is neither polygons nor a mask")
    });
    extent.transpose()
}

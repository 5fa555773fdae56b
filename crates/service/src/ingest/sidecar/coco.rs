//! COCO: JSON with `images`, `categories` and `annotations` that contain captions or objects
//! (`bbox` in pixels and a category).

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    description::{BoundingBox, MediaDescription, normalized_name},
    diagnostics::SidecarDiagnostics,
    file_index::FileIndex,
    json,
    sidecar_reader::{MAX_SHARED_SIDECAR_BYTES, SidecarReader},
};

/// File name in every folder of a Roboflow export.
const ROBOFLOW_FILE_NAME: &str = "_annotations.coco.json";
/// The usual folder of COCO files, if not the root.
const ANNOTATIONS_FOLDER: &str = "annotations";

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
    caption: Option<&'a RawValue>,
}

/// Whether a file of this name may be COCO.
pub fn is_candidate(path: &Path) -> bool {
    let parent = path.parent().and_then(Path::file_name);
    path.extension().is_some_and(|extension| extension == "json")
        && (parent.is_none_or(|folder| folder.eq_ignore_ascii_case(ANNOTATIONS_FOLDER))
            || path.file_name().is_some_and(|name| name == ROBOFLOW_FILE_NAME))
}

/// Reads every COCO file of the folder. Other JSON is ignored.
pub fn read(reader: &mut SidecarReader<'_>) {
    let candidates: Vec<_> = reader.files.all().filter(|path| is_candidate(path)).collect();
    for sidecar in candidates {
        let Some(text) = reader.read_text(sidecar, MAX_SHARED_SIDECAR_BYTES) else { continue };
        match serde_json::from_str::<&RawValue>(&text) {
            Ok(value) => read_document(reader, sidecar, value),
            Err(cause) => {
                let why = format!("line {}: invalid JSON", cause.line());
                reader.report_problem(sidecar, why);
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
    let mut problems = Vec::new();
    let categories = categories.map_or_else(HashMap::new, |list| {
        let (categories, problem) = read_categories(list);
        problems.extend(problem);
        categories
    });
    let (images, problem) = read_images(images, &reader.files, sidecar);
    problems.extend(problem);
    let (descriptions, problem) = read_annotations(annotations, &images, &categories);
    problems.extend(problem);
    for (media, description) in descriptions {
        reader.add_description(media, description);
    }
    if !problems.is_empty() {
        reader.report_problem(sidecar, problems.join("; "));
    }
}

/// Normalizes an identifier, which can be a number or a string.
fn parse_id(value: &RawValue) -> &str {
    value.get().trim_matches('"')
}

/// Returns the category names by identifier, and what is wrong with them.
fn read_categories(list: &RawValue) -> (HashMap<&str, String>, Option<String>) {
    let mut categories = HashMap::new();
    let mut diagnostics = SidecarDiagnostics::new("category", "categories");
    let all = json::for_each_element(list.get(), |value| {
        diagnostics.next_position();
        let Some(CocoCategory { id: Some(key), name: Some(text) }) =
            json::parse_object(value.get())
        else {
            return diagnostics.report("it has no id or no name");
        };
        match json::parse_string(text).and_then(|text| normalized_name(&text)) {
            Some(name) => drop(categories.insert(parse_id(key), name)),
            None => diagnostics.report("its name is not a string"),
        }
    });
    (
        categories,
        all.map_or_else(
            || Some("its categories are not a list".into()),
            |()| diagnostics.summary(),
        ),
    )
}

/// Returns the media files by image identifier (`None` if missing in the folder), and what is wrong
/// with them.
fn read_images<'a, 'f>(
    list: &'a RawValue,
    files: &FileIndex<'f>,
    sidecar: &Path,
) -> (HashMap<&'a str, Option<&'f Path>>, Option<String>) {
    let mut images = HashMap::new();
    let mut diagnostics = SidecarDiagnostics::new("image", "images");
    let all = json::for_each_element(list.get(), |value| {
        diagnostics.next_position();
        let Some(CocoImage { id: Some(key), file_name: Some(name) }) =
            json::parse_object(value.get())
        else {
            return diagnostics.report("it is not a JSON object with an id and a file_name");
        };
        let name = json::parse_string(name).ok_or("its file_name is not a string");
        let media = name.and_then(|name| files.resolve(&name, sidecar));
        images.insert(parse_id(key), media.map_err(|why| diagnostics.report(why)).ok());
    });
    (
        images,
        all.map_or_else(|| Some("its images are not a list".into()), |()| diagnostics.summary()),
    )
}

/// Returns the descriptions of the annotated media files, and what is wrong with the annotations.
fn read_annotations<'f>(
    list: &RawValue,
    images: &HashMap<&str, Option<&'f Path>>,
    categories: &HashMap<&str, String>,
) -> (BTreeMap<&'f Path, MediaDescription>, Option<String>) {
    let mut descriptions = BTreeMap::<_, MediaDescription>::new();
    let mut diagnostics = SidecarDiagnostics::new("annotation", "annotations");
    let all = json::for_each_element(list.get(), |value| {
        diagnostics.next_position();
        let Some(annotation) = json::parse_object::<CocoAnnotation<'_>>(value.get()) else {
            return diagnostics.report("it is not a JSON object");
        };
        match annotation.image_id.and_then(|key| images.get(parse_id(key))) {
            Some(Some(media)) => {
                let description = descriptions.entry(*media).or_default();
                if let Err(why) = add_annotation(&annotation, description, categories) {
                    diagnostics.report(why);
                }
            }
            // The image was already reported as missing.
            Some(None) => {}
            None => diagnostics.report("its image_id is not in images"),
        }
    });
    (
        descriptions,
        all.map_or_else(
            || Some("its annotations are not a list".into()),
            |()| diagnostics.summary(),
        ),
    )
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
    match annotation.bbox {
        Some(bbox) => {
            let sides = json::parse_box(bbox).ok_or("its bbox is not a list of four numbers")?;
            let extent =
                BoundingBox::pixels(sides).ok_or("its bbox is empty or outside the picture")?;
            let label = annotation.category_id.and_then(|key| categories.get(parse_id(key)));
            let label = label.ok_or("its category_id is not in categories")?;
            description.push_object(label.clone(), extent);
            Ok(())
        }
        None if annotation.caption.is_none() => Err("it has neither bbox nor caption"),
        None => Ok(()),
    }
}

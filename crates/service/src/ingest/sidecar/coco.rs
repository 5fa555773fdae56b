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
#[must_use]
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
                let why = format!("line {}: it is no JSON from here on", cause.line());
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
    let (told, problem) = read_annotations(annotations, &images, &categories);
    problems.extend(problem);
    for (media, description) in told {
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
    let (mut categories, mut place) = (HashMap::new(), 0);
    let mut faults = SidecarDiagnostics::new("category", "categories");
    let all = json::for_each_element(list.get(), |value| {
        place += 1;
        faults.set_position(place);
        let Some(CocoCategory { id: Some(key), name: Some(text) }) =
            json::parse_object(value.get())
        else {
            return faults.report("it has no id or no name");
        };
        match json::parse_string(text).and_then(|text| normalized_name(&text)) {
            Some(name) => drop(categories.insert(parse_id(key), name)),
            None => faults.report("its name is no text"),
        }
    });
    (
        categories,
        all.map_or_else(|| Some("its categories are no list".into()), |()| faults.summary()),
    )
}

/// Returns the media files by image identifier (`None` if missing in the folder), and what is wrong
/// with them.
fn read_images<'a, 'f>(
    list: &'a RawValue,
    files: &FileIndex<'f>,
    sidecar: &Path,
) -> (HashMap<&'a str, Option<&'f Path>>, Option<String>) {
    let (mut images, mut place) = (HashMap::new(), 0);
    let mut faults = SidecarDiagnostics::new("image", "images");
    let all = json::for_each_element(list.get(), |value| {
        place += 1;
        faults.set_position(place);
        let Some(CocoImage { id: Some(key), file_name: Some(name) }) =
            json::parse_object(value.get())
        else {
            return faults.report("it is no JSON object with an id and a file_name");
        };
        let name = json::parse_string(name).ok_or("its file_name is no text");
        let media = name.and_then(|name| files.resolve(&name, sidecar));
        images.insert(parse_id(key), media.map_err(|why| faults.report(why)).ok());
    });
    (images, all.map_or_else(|| Some("its images are no list".into()), |()| faults.summary()))
}

/// Returns the descriptions of the annotated media files, and what is wrong with the annotations.
fn read_annotations<'f>(
    list: &RawValue,
    images: &HashMap<&str, Option<&'f Path>>,
    categories: &HashMap<&str, String>,
) -> (BTreeMap<&'f Path, MediaDescription>, Option<String>) {
    let (mut told, mut place) = (BTreeMap::<_, MediaDescription>::new(), 0);
    let mut faults = SidecarDiagnostics::new("annotation", "annotations");
    let all = json::for_each_element(list.get(), |value| {
        place += 1;
        faults.set_position(place);
        let Some(annotation) = json::parse_object::<CocoAnnotation<'_>>(value.get()) else {
            return faults.report("it is no JSON object");
        };
        match annotation.image_id.and_then(|key| images.get(parse_id(key))) {
            Some(Some(media)) => {
                let description = told.entry(*media).or_default();
                if let Err(why) = add_annotation(&annotation, description, categories) {
                    faults.report(why);
                }
            }
            // The image was already reported as missing.
            Some(None) => {}
            None => faults.report("its image_id is none of the images"),
        }
    });
    (told, all.map_or_else(|| Some("its annotations are no list".into()), |()| faults.summary()))
}

fn add_annotation(
    annotation: &CocoAnnotation<'_>,
    description: &mut MediaDescription,
    categories: &HashMap<&str, String>,
) -> Result<(), &'static str> {
    if let Some(caption) = annotation.caption {
        description.push_caption(&json::parse_string(caption).ok_or("its caption is no text")?);
    }
    match annotation.bbox {
        Some(bbox) => {
            let sides = json::parse_box(bbox).ok_or("its bbox is no list of four numbers")?;
            let extent =
                BoundingBox::pixels(sides).ok_or("its bbox is empty or outside the picture")?;
            let label = annotation.category_id.and_then(|key| categories.get(parse_id(key)));
            let label = label.ok_or("its category_id is none of the categories")?;
            description.push_object(label.clone(), extent);
            Ok(())
        }
        None if annotation.caption.is_none() => Err("it has neither bbox nor caption"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::sidecar::test_support::{TestFolder, describe};

    #[test]
    fn instances_and_captions_are_read_from_their_usual_places() {
        let place = TestFolder::with_media(&["train2017/1.jpg", "val2017/1.jpg", "valid/r.jpg"]);
        place.write(
            "annotations/instances_train2017.json",
            r#"{"annotations": [
                {"image_id": 1, "category_id": 18, "bbox": [1, 2.5, 3, 4], "segmentation": [[1]]},
                {"image_id": 1, "category_id": 18, "bbox": [-1, 2, 3, 4], "iscrowd": 1}
            ], "info": {}, "categories": [{"id": 18, "name": "dog"}],
            "images": [{"file_name": "1.jpg", "id": 1, "width": 640}]}"#,
        );
        place.write(
            "annotations/captions_train2017.json",
            r#"{"images": [{"file_name": "1.jpg", "id": "a"}], "annotations": [
                {"image_id": "a", "caption": " A dog.\n"}, {"image_id": "a", "caption": "A pet."}
            ]}"#,
        );
        place.write(
            "valid/_annotations.coco.json",
            r#"{"images": [{"id": 0, "file_name": "r.jpg"}], "categories": [{"id": 0, "name": "cat"}],
                "annotations": [{"image_id": 0, "category_id": 0, "bbox": [0, 0, 9, 9]}]}"#,
        );
        let expected = [
            describe("train2017/1.jpg", "A dog. A pet.", "", "", "dog dog"),
            describe("valid/r.jpg", "", "", "", "cat"),
        ];
        assert_eq!(place.descriptions(), expected);
        let reading = place.read_sidecars();
        assert_eq!((reading.sidecars.len(), reading.problems.len()), (3, 0));
        let extent = BoundingBox::Pixels { x: 1.0, y: 2.5, width: 3.0, height: 4.0 };
        assert_eq!(
            reading.descriptions[Path::new("train2017/1.jpg")].objects[0].bounding_box,
            extent
        );
    }

    #[test]
    fn broken_entries_are_named_and_the_rest_counts() {
        let place = TestFolder::with_media(&["1.jpg"]);
        place.write(
            "coco.json",
            r#"{"images": [7, {"id": 1, "file_name": "1.jpg"}, {"id": 2, "file_name": "2.jpg"}],
            "categories": [{"id": 1, "name": "dog"}, {"id": 2}], "annotations": [
                {"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4]},
                {"image_id": 1, "category_id": 1, "bbox": [1, 2, 0, 4]},
                {"image_id": 1, "category_id": 2, "bbox": [1, 2, 3, 4]},
                {"image_id": 1, "category_id": 1, "bbox": "1 2 3 4"},
                {"image_id": 1, "category_id": 1},
                {"image_id": 1, "caption": 5},
                {"image_id": 2, "caption": "of a missing image"},
                {"image_id": 3, "caption": "x"},
                [1]
            ]}"#,
        );
        assert_eq!(place.descriptions(), [describe("1.jpg", "", "", "", "dog")]);
        let why = "category 2: it has no id or no name; \
             image 1: it is no JSON object with an id and a file_name; 1 more image; \
             annotation 2: its bbox is empty or outside the picture; 6 more annotations";
        assert_eq!(place.problem_of("coco.json"), why);
        place.write("coco.json", r#"{"images": 1, "annotations": {}, "categories": ""}"#);
        let why = "its categories are no list; its images are no list; its annotations are no list";
        assert_eq!(place.problem_of("coco.json"), why);
        place.write("coco.json", "{\"images\": [],\n \"annotations\": [");
        assert_eq!(place.problem_of("coco.json"), "line 2: it is no JSON from here on");
    }

    #[test]
    fn other_json_is_left_alone() {
        let place = TestFolder::with_media(&["1.jpg", "sub/2.jpg"]);
        for (path, text) in [
            ("package.json", r#"{"name": "x", "images": []}"#),
            ("list.json", r#"[{"images": [], "annotations": []}, 2, 3]"#),
            ("sub/coco.json", r#"{"images": [], "annotations": []"#),
        ] {
            place.write(path, text);
        }
        let reading = place.read_sidecars();
        assert!(reading.sidecars.is_empty() && reading.problems.is_empty(), "{reading:?}");
    }
}

//! COCO sidecars.

use std::{collections::BTreeMap, path::Path};

use serde_json::json;
use tessera_media::ingest::sidecar::{BoundingBox, SidecarData};
use tessera_model::{Annotation, Mask};

use super::{TestFolder, describe, pixels};

#[test]
fn instances_and_captions_are_read_from_their_usual_places() {
    let folder = TestFolder::with_media(&["train2017/1.jpg", "val2017/1.jpg", "valid/r.jpg"]);
    folder.write(
        "annotations/instances_train2017.json",
        r#"{"annotations": [
            {"image_id": 1, "category_id": 18, "bbox": [1, 2.5, 3, 4], "segmentation": []},
            {"image_id": 1, "category_id": 18, "bbox": [-1, 2, 3, 4], "iscrowd": 1}
        ], "info": {}, "categories": [{"id": 18, "name": "dog"}],
        "images": [{"file_name": "1.jpg", "id": 1, "width": 640}]}"#,
    );
    folder.write(
        "annotations/captions_train2017.json",
        r#"{"images": [{"file_name": "1.jpg", "id": "a"}], "annotations": [
            {"image_id": "a", "caption": " A dog.\n"}, {"image_id": "a", "caption": "A pet."}
        ]}"#,
    );
    folder.write(
        "valid/_annotations.coco.json",
        r#"{"images": [{"id": 0, "file_name": "r.jpg"}], "categories": [{"id": 0, "name": "cat"}],
            "annotations": [{"image_id": 0, "category_id": 0, "bbox": [0, 0, 9, 9]}]}"#,
    );
    let expected = [
        describe("train2017/1.jpg", "A dog. A pet.", "", "", "dog dog"),
        describe("valid/r.jpg", "", "", "", "cat"),
    ];
    assert_eq!(folder.descriptions(), expected);
    let reading = folder.read_sidecars();
    assert_eq!((reading.sidecars.len(), reading.problems.len()), (3, 0));
    let extent = BoundingBox::Pixels { x: 1.0, y: 2.5, width: 3.0, height: 4.0 };
    assert_eq!(reading.descriptions[Path::new("train2017/1.jpg")].objects[0].bounding_box, extent);
}

#[test]
fn invalid_entries_are_reported_and_the_others_used() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    folder.write(
        "coco.json",
        r#"{"images": [7, {"id": 1, "file_name": "1.jpg"}, {"id": 2, "file_name": "2.jpg"}],
        "categories": [{"id": 1, "name": "dog"}, {"id": 2}], "annotations": [
            {"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4]},
            {"image_id": 1, "category_id": 1, "bbox": [1, 2, 0, 4]},
            {"image_id": 1, "category_id": 2, "bbox": [1, 2, 3, 4]},
            {"image_id": 1, "category_id": 1, "bbox": "1 2 3"},
            {"image_id": 1, "category_id": 1},
            {"image_id": 1, "caption": [5]},
            {"image_id": 2, "caption": "of a missing image"},
            {"image_id": 3, "caption": "x"},
            [1]
        ]}"#,
    );
    assert_eq!(folder.descriptions(), [describe("1.jpg", "", "dog", "", "dog class 2")]);
    let why = "category 2: it has no name; \
         image 1: it is not a JSON object; image 3: its file_name is not in the folder; \
         annotation 2: its bbox is empty or outside the picture; \
         annotation 4: its bbox is not a list of four numbers; \
         annotation 6: its caption is not a string; 2 more annotations";
    assert_eq!(folder.problem_of("coco.json"), why);
    folder.write("coco.json", r#"{"images": 1, "annotations": {}, "categories": ""}"#);
    let why =
        "its categories are not a list; its images are not a list; its annotations are not a list";
    assert_eq!(folder.problem_of("coco.json"), why);
    folder.write("coco.json", "{\"images\": [],\n \"annotations\": [");
    assert_eq!(folder.problem_of("coco.json"), "line 2: invalid JSON");
}

#[test]
fn other_json_is_ignored() {
    let folder = TestFolder::with_media(&["1.jpg", "sub/2.jpg"]);
    for (path, text) in [
        ("package.json", r#"{"name": "x", "images": []}"#),
        ("list.json", r#"[{"images": [], "annotations": []}, 2, 3]"#),
        ("sub/info.json", r#"{"images": [], "categories": []}"#),
    ] {
        folder.write(path, text);
    }
    let reading = folder.read_sidecars();
    assert!(reading.sidecars.is_empty() && reading.problems.is_empty(), "{reading:?}");
}

#[test]
fn annotations_in_other_formats_are_named() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    for (text, name) in [
        (r#"{"_via_img_metadata": {}, "_via_settings": 1}"#, "annotations of VIA"),
        (r#"{"size": {"width": 9}, "objects": []}"#, "annotations of Supervisely"),
        (
            r#"{"asset": {"name": "1.jpg"}, "regions": [], "version": "2.2.0"}"#,
            "annotations of VoTT",
        ),
        (r#"{"name": "x", "tags": [], "assets": {"a": {"asset": {}}}}"#, "annotations of VoTT"),
        (r#"[{"image": "1.jpg", "annotations": []}]"#, "annotations of CreateML"),
        (
            r#"[{"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 1}]"#,
            "results of COCO without the names of the images",
        ),
        (
            r#"[{"id": 1, "data": {}, "annotations": []}]"#,
            "annotations in the own format of Label Studio",
        ),
        (r#"[{"name": "1.jpg", "labels": []}]"#, "annotations of BDD100K"),
        (
            r#"[{"image": "/data/upload/1.jpg", "annotation_id": 1, "lead_time": 2}]"#,
            "annotations in the own format of Label Studio",
        ),
        (r#"{"1.jpg99": {"filename": "1.jpg", "size": 99, "regions": []}}"#, "annotations of VIA"),
        (r#"{"classes": ["a"], "labels": {"1": []}}"#, "labels of FiftyOne"),
    ] {
        folder.write("deep/x.json", text);
        let why = format!("{name}, which are not read; export them as COCO");
        assert_eq!(folder.problem_of("deep/x.json"), why);
    }
}

#[test]
fn deeply_nested_values_are_skipped_without_recursion() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let deep = format!("{}{}", "[".repeat(500_000), "]".repeat(500_000));
    let json = format!(
        r#"{{"images": [{deep}, {{"id": 1, "file_name": "1.jpg"}}], "info": {deep},
            "annotations": [{{"image_id": 1, "caption": "good"}}]}}"#
    );
    folder.write("coco.json", json);
    assert_eq!(folder.descriptions(), [describe("1.jpg", "good", "", "", "")]);
    let why = "image 1: it is not a JSON object";
    assert_eq!(folder.problem_of("coco.json"), why);
}

#[test]
fn segmentations_without_a_bbox_become_boxes() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    // A mask of 4 rows and 5 columns: rows 1 and 2 of columns 1 and 2, plain and compressed.
    let segmentations = [
        "[[10, 20, 40, 25, 30, 60], [5, 30, 8, 30, 8, 31]]",
        r#"{"size": [4, 5], "counts": [5, 2, 2, 2, 9]}"#,
        r#"{"size": [4, 5], "counts": "52207"}"#,
        r#"{"size": [4, 5], "counts": [5, 6, 9]}"#,
    ];
    let annotations: Vec<String> = segmentations
        .iter()
        .map(|it| format!(r#"{{"image_id": 1, "category_id": 1, "segmentation": {it}}}"#))
        .collect();
    folder.write(
        "instances.json",
        format!(
            r#"{{"images": [{{"id": 1, "file_name": "1.jpg"}}], "annotations": [{}],
                "categories": [{{"id": 1, "name": "dog"}}]}}"#,
            annotations.join(",")
        ),
    );
    assert_eq!(folder.read_sidecars().problems, BTreeMap::new());
    let expected = [
        pixels(5.0, 20.0, 35.0, 40.0),
        pixels(1.0, 1.0, 2.0, 2.0),
        pixels(1.0, 1.0, 2.0, 2.0),
        pixels(1.0, 0.0, 2.0, 4.0),
    ];
    assert_eq!(folder.boxes("1.jpg"), expected);
}

#[test]
fn a_malformed_polygon_and_a_mask_of_another_size_are_left_out() {
    let square = "[10, 20, 110, 20, 110, 100, 10, 100]";
    let wrong_polygon = "annotation 1: one of its polygons is not a list of at least three points";
    let wrong_mask = "annotation 1: its mask has another size than its image";
    for (segmentation, objects, outlines, why) in [
        (format!("[{square}, [300, 230]]"), 1, 1, Some(wrong_polygon)),
        ("[[[10, 20], [110, 20], [110, 100], [10, 100]]]".to_owned(), 1, 1, None),
        ("[[10, 20], [110, 20], [110, 100], [10, 100]]".to_owned(), 1, 1, None),
        ("[[10, 20, 110, 100]]".to_owned(), 1, 0, Some(wrong_polygon)),
        (r#"{"size": [120, 160], "counts": [610, 40, 18550]}"#.to_owned(), 0, 0, Some(wrong_mask)),
        (r#"{"size": [320, 240], "counts": [610, 40, 76150]}"#.to_owned(), 0, 0, Some(wrong_mask)),
    ] {
        let folder = TestFolder::with_media(&["1.jpg"]);
        let file = format!(
            r#"{{"images": [{{"id": 1, "filename": "1.jpg", "width": 320, "height": 240}}],
                "categories": [{{"id": 1, "name": "bolt"}}], "annotations": [{{"image_id": 1,
                "category_id": 1, "bbox": [], "segmentation": {segmentation}}}]}}"#
        );
        folder.write("x.json", file);
        let read = folder.read_sidecars();
        assert_eq!(read.problems.into_values().next().as_deref(), why, "{segmentation}");
        let found = &read.descriptions[Path::new("1.jpg")].objects;
        assert_eq!(found.len(), objects, "{segmentation}");
        for object in found {
            assert_eq!(object.bounding_box, pixels(10.0, 20.0, 100.0, 80.0), "{segmentation}");
            let square: Vec<f64> = serde_json::from_str(square).unwrap();
            assert_eq!(object.annotation.polygons, vec![square; outlines], "{segmentation}");
        }
    }
}

#[test]
fn objects_of_unknown_categories_are_called_by_their_number() {
    let unknown = "annotation 1: its category_id is not in categories";
    for (categories, category, bbox, label) in [
        ("[]", r#""category_id": 3,"#, "[1, 2, 3, 4]", "class 3"),
        (r#"["bolt"]"#, r#""category_id": "7","#, "\"[1, 2, 3, 4]\"", "class 7"),
        (r#"[{"name": "bolt"}]"#, "", r#"{"x": 1, "y": 2, "width": 3, "height": 4}"#, "object"),
    ] {
        let folder = TestFolder::with_media(&["1.jpg"]);
        let file = format!(
            r#"{{"images": [{{"id": 1, "file_name": "1.jpg"}}], "categories": {categories},
                "annotations": [{{"image_id": 1, {category} "bbox": {bbox}}}]}}"#
        );
        folder.write("x.json", file);
        assert_eq!(folder.descriptions(), [describe("1.jpg", "", "", "", label)]);
        assert_eq!(folder.boxes("1.jpg"), [pixels(1.0, 2.0, 3.0, 4.0)]);
        assert!(folder.problem_of("x.json").ends_with(unknown), "{categories}");
    }
}

#[test]
fn wrong_segmentations_are_named() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    for segmentation in [
        "7",
        "[[1, 2]]",
        r#"{"size": [0, 5], "counts": [0, 1]}"#,
        r#"{"size": [4, 5], "counts": [18446744073709551615, 5]}"#,
        r#"{"size": [4, 5], "counts": "oooooooooooooooooo"}"#,
        r#"{"size": [4, 5], "counts": [0, 9007199254740992, 0, 9007199254740992]}"#,
        r#"{"size": [4, 5], "counts": [0, 20, 0, 1]}"#,
        r#"{"size": [4, 5], "counts": "\u0001"}"#,
    ] {
        folder.write(
            "instances.json",
            format!(
                r#"{{"images": [{{"id": 1, "file_name": "1.jpg"}}], "categories": [],
                    "annotations": [{{"image_id": 1, "segmentation": {segmentation}}}]}}"#
            ),
        );
        let expected = "annotation 1: its segmentation is neither polygons nor a mask";
        assert_eq!(folder.problem_of("instances.json"), expected, "{segmentation}");
    }
}

#[test]
fn scores_segmentations_and_keypoints_are_kept() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let annotations = r#"[
        {"image_id": 1, "category_id": 1, "bbox": [10, 20, 30, 40], "score": 0.5, "iscrowd": 0,
         "segmentation": [[10, 20, 40, 20, 40.25, 60], []], "keypoints": [11, 21, 2, 12, 22, 1]},
        {"image_id": 1, "category_id": 1, "bbox": [0, 0, 2, 2], "iscrowd": "1",
         "segmentation": {"size": [3, 4], "counts": [4, 2, 1, 2, 3]}, "keypoints": [0, 0, 0]},
        {"image_id": 1, "category_id": 1, "bbox": [], "segmentation": [[1, 1, 3, 1, 3, 4]]},
        {"image_id": 1, "category_id": 1, "bbox": [1, 1, 2, 2], "segmentation": [[1, 2]]},
        {"image_id": 1, "category_id": 1, "bbox": [1, 1, 2, 2], "segmentation": "none"}]"#;
    folder.write(
        "instances.json",
        format!(
            r#"{{"images": [{{"id": 1, "file_name": "1.jpg"}}],
                "categories": [{{"id": 1, "name": "bolt"}}], "annotations": {annotations}}}"#
        ),
    );
    let descriptions = folder.read_sidecars().descriptions;
    let objects = &descriptions[Path::new("1.jpg")].objects;
    let annotations: Vec<_> = objects.iter().map(|object| &object.annotation).collect();
    let outline =
        |points: &[f64]| Annotation { polygons: vec![points.into()], ..Annotation::default() };
    let first = outline(&[10.0, 20.0, 40.0, 20.0, 40.25, 60.0]);
    let keypoints = vec![11.0, 21.0, 2.0, 12.0, 22.0, 1.0];
    let second = Mask::from_runs([3, 4], &[4, 2, 1, 2, 3]);
    let expected = [
        &Annotation { score: Some(0.5), keypoints, ..first },
        &Annotation { mask: Some(second), is_crowd: true, ..Annotation::default() },
        &outline(&[1.0, 1.0, 3.0, 1.0, 3.0, 4.0]),
        &Annotation::default(),
        &Annotation::default(),
    ];
    assert_eq!(annotations, expected);
    let problem = "annotation 4: one of its polygons is not a list of at least three points; \
         annotation 5: its segmentation is neither polygons nor a mask";
    assert_eq!(folder.problem_of("instances.json"), problem);
}

/// A COCO file that gives each picture a box.
fn boxes(names: &[&str]) -> String {
    let images: Vec<_> =
        names.iter().enumerate().map(|(id, name)| json!({"id": id, "file_name": name})).collect();
    let annotations: Vec<_> = (0..names.len())
        .map(|id| json!({"image_id": id, "category_id": 1, "bbox": [1, 2, 3, 4]}))
        .collect();
    let categories = json!([{"id": 1, "name": "bolt"}]);
    json!({"images": images, "annotations": annotations, "categories": categories}).to_string()
}

#[test]
fn files_are_found_by_content_in_all_usual_places() {
    for (sidecar, names, media) in [
        (
            "annotations/instances_train2017.json",
            ["a.jpg", "b.jpg"],
            ["train2017/a.jpg", "train2017/b.jpg"],
        ),
        ("train/_annotations.coco.json", ["a.jpg", "b.jpg"], ["train/a.jpg", "train/b.jpg"]),
        ("train/annotations.json", ["a.jpg", "b.jpg"], ["train/a.jpg", "train/b.jpg"]),
        ("set/labels.json", ["a.jpg", "b.jpg"], ["set/data/a.jpg", "set/data/b.jpg"]),
        (
            "export/result.json",
            ["images/a.jpg", "images/b.jpg"],
            ["export/images/a.jpg", "export/images/b.jpg"],
        ),
        (
            "result.json",
            ["../../label-studio/data/media/upload/1/a.jpg", "b.jpg"],
            ["images/a.jpg", "images/b.jpg"],
        ),
        (
            "set/annotations/coco/val.json",
            ["images/val/a.jpg", "b.jpg"],
            ["set/images/val/a.jpg", "set/images/val/b.jpg"],
        ),
        ("set/train.JSON", ["a.jpg", "b.jpg"], ["set/train/a.jpg", "set/train/b.jpg"]),
        ("a/b/c/anything.json", ["x/a.jpg", "b.jpg"], ["x/a.jpg", "y/b.jpg"]),
    ] {
        let folder = TestFolder::with_media(&media);
        folder.write(sidecar, boxes(&names));
        let reading = folder.read_sidecars();
        assert!(reading.problems.is_empty(), "{sidecar}: {:?}", reading.problems);
        for path in media {
            let objects =
                reading.descriptions.get(Path::new(path)).map(|found| found.objects.len());
            assert_eq!(objects, Some(1), "{path} in {sidecar}");
        }
    }
}

#[test]
fn files_are_read_as_leniently_as_python_writes_them() {
    let folder = TestFolder::with_media(&["1.jpg", "2.jpg"]);
    let text = r#"{"images": [{"id": 1.0, "file_name": "1.jpg", "score": NaN, "note": "a \"NaN\" \\"},
        {"id": "2", "file_name": "2.jpg", "width": NaN, "height": -Infinity}],
        "annotations": [
        {"image_id": 1, "category_id": 1.0, "bbox": [1, 2, 3, 4], "area": Infinity},
        {"image_id": "1", "category_id": "1", "bbox": ["1", "2", "3", "4"], "score": NaN},
        {"image_id": 2.0, "category_id": 1, "bbox": [], "segmentation": [[1, 2, 4, 2, 4, 6]]},
        {"image_id": 2, "category_id": 1, "bbox": [0, 0, 0, 0], "segmentation": [1, 2, 4, 2, 4, 6]},
        {"image_id": 2, "category_id": 1, "bbox": [NaN, 2, 3, 4], "segmentation": [[1, 2, 4, 2, 4, 6]]},
        {"image_id": 2, "category_id": 1, "bbox": [NaN, 2, 3, 4]}],
        "categories": [{"id": 1, "name": 7}]}"#;
    folder.write("any/where.json", format!("\u{feff}{text}"));
    let expected = [describe("1.jpg", "", "", "", "7 7"), describe("2.jpg", "", "", "", "7 7 7")];
    assert_eq!(folder.descriptions(), expected);
    let all = [pixels(1.0, 2.0, 3.0, 4.0), pixels(1.0, 2.0, 3.0, 4.0)];
    assert_eq!(folder.boxes("1.jpg"), all);
    assert_eq!(folder.boxes("2.jpg")[..2], all);
    let why = "annotation 6: its bbox is not a list of four numbers";
    assert_eq!(folder.problem_of("any/where.json"), why);
}

#[test]
fn annotations_without_a_place_are_labels_of_the_picture() {
    let folder = TestFolder::with_media(&["1.jpg", "2.jpg"]);
    let images =
        json!([{"id": 1, "file_name": "1.jpg"}, {"id": 2, "coco_url": "http://a.example/x/2.jpg"}]);
    let annotations = json!([
        {"image_id": 1, "category_id": 1}, {"image_id": 1, "category_id": 2, "bbox": null},
        {"image_id": 2, "category_id": 2, "bbox": [], "segmentation": []},
        {"image_id": 2, "category_id": 3}, {"image_id": 2}
    ]);
    let categories = json!([{"id": 1, "name": "bolt"}, {"id": 2, "name": "nut"}]);
    folder.write(
        "x.json",
        json!({"images": images, "annotations": annotations, "categories": categories}).to_string(),
    );
    let expected =
        [describe("1.jpg", "", "bolt nut", "", ""), describe("2.jpg", "", "nut", "", "")];
    assert_eq!(folder.descriptions(), expected);
    let why = "annotation 4: its category_id is not in categories; \
         annotation 5: it has neither bbox nor segmentation nor category nor caption";
    assert_eq!(folder.problem_of("x.json"), why);
}

#[test]
fn a_repeated_id_never_moves_a_box() {
    let folder = TestFolder::with_media(&["1.jpg", "2.jpg", "3.jpg"]);
    let images = json!([
        {"id": 1, "file_name": "1.jpg"}, {"id": 1.0, "file_name": "2.jpg"},
        {"id": 3, "file_name": "3.jpg"}, {"id": 3, "file_name": "3.jpg"}
    ]);
    let annotations = json!([
        {"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4]},
        {"image_id": 3, "category_id": 1, "bbox": [1, 2, 3, 4]}
    ]);
    let categories = json!([{"id": 1, "name": "bolt"}, {"id": 1, "name": "nut"}]);
    folder.write(
        "x.json",
        json!({"images": images, "annotations": annotations, "categories": categories}).to_string(),
    );
    assert_eq!(folder.descriptions(), [describe("3.jpg", "", "", "", "bolt")]);
    let why = "category 2: its id belongs to an earlier category, which is used; \
         image 2: its id belongs to another image, too, so annotations of this id are not used";
    assert_eq!(folder.problem_of("x.json"), why);
}

#[test]
fn objects_beyond_the_limit_are_counted() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let annotation = json!({"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4]});
    let document = |count: usize| {
        let images = json!([{"id": 1, "file_name": "1.jpg"}]);
        let categories = json!([{"id": 1, "name": "bolt"}]);
        json!({"images": images, "annotations": vec![&annotation; count], "categories": categories})
            .to_string()
    };
    folder.write("x.json", document(4_096));
    assert_eq!(folder.boxes("1.jpg").len(), 4_096);
    assert!(folder.read_sidecars().problems.is_empty());
    folder.write("x.json", document(5_000));
    assert_eq!(folder.boxes("1.jpg").len(), 4_096);
    let why =
        "annotation 4097: only the first 4,096 objects of a picture are kept; 903 more annotations";
    assert_eq!(folder.problem_of("x.json"), why);
}

/// Writes a COCO file above the size up to which other JSON is read. Returns the number of annotations.
fn write_large(folder: &TestFolder, path: &str, tail: &str) -> usize {
    let note = "x".repeat(64 << 10);
    let annotation = format!(r#"{{"image_id":7,"category_id":8,"note":"{note}"}},"#);
    let count = (64 << 20) / annotation.len() + 1;
    let head = r#"{"images": [{"id": 7, "file_name": "1.jpg"}],
        "annotations": ["#;
    folder.write(path, format!("{head}{}{tail}", annotation.repeat(count)));
    count
}

#[test]
fn a_large_file_is_read_in_parts() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let tail = r#"{"image_id": 7, "category_id": 3, "bbox": [1, 2, 3, 4], "score": NaN}, 5,
        {"image_id": 7, "caption": "last"}], "categories": [{"id": 3, "name": "dog"}]}"#;
    let count = write_large(&folder, "annotations/instances.json", tail);
    assert_eq!(folder.descriptions(), [describe("1.jpg", "last", "", "", "dog")]);
    let why = format!(
        "annotation 1: its category_id is not in categories; annotation {}: it is not a JSON \
         object; {} more annotations",
        count + 2,
        count - 1
    );
    assert_eq!(folder.problem_of("annotations/instances.json"), why);
}

#[test]
fn a_large_file_that_is_damaged_or_of_another_format_is_named() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    write_large(&folder, "coco.json", r#"{"image_id": 7, "caption": "#);
    assert!(folder.problem_of("coco.json").ends_with("invalid JSON"));
    let element = format!("\"{}\"", "x".repeat(9 << 20));
    write_large(&folder, "coco.json", &format!("{element}]}}"));
    let why = folder.problem_of("coco.json");
    assert!(why.ends_with("more annotations; line 2: an item is larger than 8 MiB"), "{why}");
    let blank = " ".repeat(64 << 20);
    for text in [format!("[1,{blank}1]"), format!("{{\"images\": [1]{blank}}}")] {
        folder.write("coco.json", text);
        assert_eq!(folder.problem_of("coco.json"), "it is larger than 64 MiB");
    }
    std::fs::File::create(folder.path("coco.json")).unwrap().set_len((2 << 30) + 1).unwrap();
    assert_eq!(folder.problem_of("coco.json"), "it is larger than 2048 MiB");
}

#[test]
fn the_last_value_of_a_repeated_name_is_taken() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let text = r#"{"images": [], "images": [{"id": 9, "id": 1, "file_name": "1.jpg"}],
        "annotations": [{"image_id": 1, "caption": "x", "caption": "cut \ud83d", "\ud83d": 1}]}"#;
    folder.write("x.json", text);
    let found = folder.read_sidecars();
    let caption = found.descriptions[Path::new("1.jpg")].caption.clone().unwrap();
    assert_eq!((caption.as_str(), found.problems.len()), ("cut \u{fffd}", 0));
}

#[test]
fn predictions_beside_other_objects_are_reported() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let document = |score: &str| {
        format!(
            r#"{{"images": [{{"id": 1, "file_name": "1.jpg"}}], "categories": [{{"id": 1, "name": "a"}}],
            "annotations": [{{"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4]{score}}},
                {{"image_id": 1, "category_id": 1, "bbox": [5, 6, 7, 8]{score}}}]}}"#
        )
    };
    let scored = document(r#", "score": 0.5"#);
    for (one, other) in [(document(""), scored.clone()), (scored, document(""))] {
        folder.write("a.json", &one);
        folder.write("b.json", &other);
        let why = "its objects are added to those of a.json in 1 picture, and only one of the files has scores; \
            exclude it if it has predictions";
        assert_eq!(folder.problem_of("b.json"), why);
        folder.write("b.json", one);
        assert!(folder.read_sidecars().problems.is_empty());
    }
}

#[test]
fn the_segments_of_a_whole_picture_are_objects() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let text = r#"{"images": [{"id": 1, "file_name": "1.jpg"}],
        "categories": [{"id": 1, "name": "bolt"}, {"id": 2, "name": "sky"}],
        "annotations": [{"image_id": 1, "file_name": "1.png", "segments_info": [
            {"id": 5, "category_id": 1, "bbox": [1, 2, 3, 4], "iscrowd": 0},
            {"id": 6, "category_id": 2, "bbox": [0, 0, 9, 5]}, {"id": 7, "category_id": 3}]}]}"#;
    folder.write("panoptic.json", text);
    assert_eq!(folder.descriptions(), [describe("1.jpg", "", "", "", "bolt sky")]);
    let why = "annotation 1: its category_id is not in categories";
    assert_eq!(folder.problem_of("panoptic.json"), why);
}

#[test]
fn run_lengths_may_have_decimal_points() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let mask = |counts: &str| {
        let text = format!(
            r#"{{"images": [{{"id": 1, "file_name": "1.jpg"}}], "categories": [{{"id": 1, "name": "bolt"}}],
                "annotations": [{{"image_id": 1, "category_id": 1,
                "segmentation": {{"size": [3.0, 4.0], "counts": {counts}}}}}]}}"#
        );
        folder.write("x.json", text);
        let description = folder.read_sidecars().descriptions.remove(Path::new("1.jpg"));
        description.map_or(0, |description| description.objects.len())
    };
    assert_eq!(mask("\"b'42102'\""), 1);
    assert_eq!(mask("[4.0, 2.0, 1.0, 2.0, 3.0]"), 1);
    let runs = folder.annotations("1.jpg").remove(0).mask.unwrap();
    assert_eq!(runs, Mask::from_runs([3, 4], &[4, 2, 1, 2, 3]));
    for wrong in ["[4.5, 2, 1, 2, 2.5]", "[-4, 2]", "[1e99]", "{}"] {
        assert_eq!(mask(wrong), 0, "{wrong}");
    }
}

#[test]
fn files_without_the_extension_of_json_are_found_by_their_content() {
    for name in ["labels.coco", "instances", "instances.json.txt"] {
        let folder = TestFolder::with_media(&["1.jpg"]);
        folder.write(
            name,
            r#" {"images": [{"id": 1, "file_name": "1.jpg"}], "annotations": [
                {"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4]}],
            "categories": [{"id": 1, "name": "dog"}]}"#,
        );
        folder.write("other", r#"{"images": 1}"#);
        folder.write("text", "{ no JSON");
        assert_eq!(folder.descriptions(), [describe("1.jpg", "", "", "", "dog")], "{name}");
        let reading = folder.read_sidecars();
        assert_eq!((reading.sidecars.len(), reading.problems.len()), (1, 0));
    }
}

#[test]
fn labeled_keypoints_without_a_box_are_an_object() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let read = |bbox: &str, keypoints: &str| {
        let text = format!(
            r#"{{"images": [{{"id": 1, "file_name": "1.jpg"}}],
            "categories": [{{"id": 1, "name": "man"}}],
            "annotations": [{{"image_id": 1, "category_id": 1, "bbox": {bbox},
            "keypoints": {keypoints}}}]}}"#
        );
        folder.write("x.json", text);
        let SidecarData { descriptions, problems, .. } = folder.read_sidecars();
        let description = descriptions.into_values().next().unwrap_or_default();
        let boxes: Vec<_> = description.objects.iter().map(|it| it.bounding_box).collect();
        (boxes, description.labels, problems.into_values().next())
    };
    let none = Vec::<String>::new;
    for bbox in ["null", "[]", "[0, 0, 0, 0]"] {
        let found = read(bbox, "[20, 30, 2, 0, 0, 0, 60, 70, 1]");
        assert_eq!(found, (vec![pixels(20.0, 30.0, 40.0, 40.0)], none(), None), "{bbox}");
    }
    assert_eq!(folder.annotations("1.jpg")[0].keypoints.len(), 9);
    assert_eq!(read("null", "[0, 0, 0]"), (vec![], vec!["man".to_owned()], None));
    let why = "annotation 1: a point or line marks no part of the picture, so it is not read";
    let man = || vec!["man".to_owned()];
    assert_eq!(read("null", "[20, 30, 2]"), (vec![], man(), Some(why.to_owned())));
    let why = "annotation 1: its score or keypoints are not numbers";
    assert_eq!(read("null", "[\"x\"]"), (vec![], man(), Some(why.to_owned())));
}

#[test]
fn a_box_may_start_at_any_corner() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    for bbox in ["[1, 2, 3, 4]", "[4, 2, -3, 4]", "[1, 6, 3, -4]", "[4, 6, -3, -4]"] {
        let text = format!(
            r#"{{"images": [{{"id": 1, "file_name": "1.jpg"}}],
            "categories": [{{"id": 1, "name": "man"}}],
            "annotations": [{{"image_id": 1, "category_id": 1, "bbox": {bbox}}}]}}"#
        );
        folder.write("x.json", text);
        assert_eq!(folder.boxes("1.jpg"), [pixels(1.0, 2.0, 3.0, 4.0)], "{bbox}");
    }
}

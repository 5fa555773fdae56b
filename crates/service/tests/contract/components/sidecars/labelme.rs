//! `LabelMe` sidecars.

use std::path::Path;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use image::{DynamicImage, GrayImage, ImageFormat};

use super::{TestFolder, describe, pixels};
use crate::support::encoded;

const GOOD: &str = r#"{"version": "5.5.0", "flags": {"outdoors": true, "blurred": false},
    "shapes": [
        {"label": "dog", "points": [[10, 20], [40, 25], [30, 60]], "shape_type": "polygon"},
        {"label": " cat ", "points": [[9, 8], [1, 2]], "shape_type": "rectangle", "group_id": null},
        {"label": "ball", "points": [[50, 50], [53, 54]], "shape_type": "circle"},
        {"label": "nose", "points": [[3, 4]], "shape_type": "point"}],
    "imagePath": "other.jpg", "imageData": "aGVsbG8=", "imageHeight": 100, "imageWidth": 200}"#;

#[test]
fn shapes_become_boxes_and_flags_labels() {
    let folder = TestFolder::with_media(&["1.jpg", "2.jpg"]);
    folder.write("1.json", GOOD);
    assert_eq!(folder.descriptions(), [describe("1.jpg", "", "outdoors", "", "dog cat ball")]);
    let why = "shape 4: a point or line marks no part of the picture, so it is not read";
    assert_eq!(folder.problem_of("1.json"), why);
    let expected = [
        pixels(10.0, 20.0, 30.0, 40.0),
        pixels(1.0, 2.0, 8.0, 6.0),
        pixels(45.0, 45.0, 10.0, 10.0),
    ];
    assert_eq!(folder.boxes("1.jpg"), expected);
    let dog = vec![vec![10.0, 20.0, 40.0, 25.0, 30.0, 60.0]];
    assert_eq!(folder.polygons("1.jpg"), [dog, vec![], vec![]]);
}

#[test]
fn outlines_of_one_label_and_group_are_one_object() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let shape = |label: &str, kind: &str, group: &str, left: u32| {
        let (middle, right) = (left + 5, left + 10);
        let points = format!("[[{left}, 1], [{right}, 1], [{middle}, 9]]");
        let points =
            if kind == "polygon" { points } else { format!("[[{left}, 1], [{right}, 9]]") };
        format!(
            r#"{{"label": "{label}", "points": {points}, "shape_type": "{kind}", "group_id": {group}}}"#
        )
    };
    let shapes = [
        shape("cat", "polygon", "1", 0),
        shape("dog", "polygon", "1", 5),
        shape("cat", "polygon", "1", 20),
        shape("cat", "polygon", "2", 40),
        shape("cat", "polygon", "null", 60),
        shape("cat", "polygon", "null", 80),
        shape("car", "rectangle", "3", 0),
        shape("car", "rectangle", "3", 20),
    ];
    folder.write("1.json", format!(r#"{{"shapes": [{}]}}"#, shapes.join(", ")));
    let expected = [
        (0.0, 30.0),
        (5.0, 10.0),
        (40.0, 10.0),
        (60.0, 10.0),
        (80.0, 10.0),
        (0.0, 10.0),
        (20.0, 10.0),
    ]
    .map(|(left, width)| pixels(left, 1.0, width, 8.0));
    assert_eq!(folder.boxes("1.jpg"), expected);
    let parts = [2, 1, 1, 1, 1, 0, 0];
    assert_eq!(folder.polygons("1.jpg").iter().map(Vec::len).collect::<Vec<_>>(), parts);
    assert_eq!(folder.read_sidecars().problems.len(), 0);
}

#[test]
fn masks_are_kept_as_masks_of_the_picture() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let part = GrayImage::from_raw(3, 2, vec![0, 255, 255, 255, 255, 255]).unwrap();
    let mask = |base64: &str| {
        let text = format!(
            r#"{{"imageHeight": 4, "imageWidth": 5, "shapes": [{{"label": "roof", "shape_type": "mask",
            "points": [[1.0, 1.0], [3.0, 2.0]], "mask": "{base64}"}}]}}"#
        );
        folder.write("1.json", &text);
        let mask = folder.annotations("1.jpg").pop().unwrap().mask;
        (mask.map(|mask| mask.runs().unwrap()), folder.read_sidecars().problems.len())
    };
    let png = STANDARD.encode(encoded(&DynamicImage::from(part).to_rgb8(), ImageFormat::Png));
    assert_eq!(mask(&png), (Some(vec![6, 1, 2, 2, 2, 2, 5]), 0));
    for wrong in ["", "?", "aGVsbG8="] {
        assert_eq!(mask(wrong), (None, 1), "{wrong}");
    }
}

#[test]
fn wrong_shapes_are_named_and_the_others_count() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let shape =
        |label: &str, points: &str| format!(r#"{{"label": "{label}", "points": {points}}}"#);
    let shapes =
        [shape("", "[[0, 0], [1, 1]]"), shape("dog", "[[0, 0], [1, 1]]"), shape("cat", "[]")];
    folder.write("1.json", format!(r#"{{"shapes": [{}]}}"#, shapes.join(",")));
    assert_eq!(folder.descriptions(), [describe("1.jpg", "", "", "", "dog")]);
    assert_eq!(
        folder.problem_of("1.json"),
        "shape 1: it has no label; shape 3: it is empty or outside the picture"
    );
}

#[test]
fn other_json_next_to_a_picture_is_ignored() {
    let folder = TestFolder::with_media(&["a/1.jpg"]);
    for text in ["{}", "[]", r#"{"shapes": {}}"#] {
        folder.write("a/1.json", text);
        let reading = folder.read_sidecars();
        assert!(reading.sidecars.is_empty() && reading.problems.is_empty(), "{text}");
    }
}

#[test]
fn odd_shapes_lose_only_themselves() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let text = r#"{"flags": {"a": 1, "b": null, "c": true}, "imagePath": null, "shapes": [
        {"label": 7, "points": [[1, 2, 0.5], [4, 6, 0.5]], "shape_type": "rectangle"},
        {"label": null, "points": [[1, 2], [4, 6]]},
        {"label": "x", "points": "none"}, 3,
        {"label": "y", "points": [["1", "2"], [4, NaN]]},
        {"label": "z", "points": [[1, 2], [4, 2], [4, 6], [1, 6]], "shape_type": "rotation", "score": "0.5"}]}"#;
    folder.write("1.json", text);
    assert_eq!(folder.descriptions(), [describe("1.jpg", "", "a c", "", "7 z")]);
    assert_eq!(folder.boxes("1.jpg"), [pixels(1.0, 2.0, 3.0, 4.0), pixels(1.0, 2.0, 3.0, 4.0)]);
    let why = "shape 2: it has no label; shape 3: its points are not numbers; \
         shape 4: it is not a JSON object; 1 more shape";
    assert_eq!(folder.problem_of("1.json"), why);
}

#[test]
fn documents_are_found_by_content_and_the_name_that_they_state() {
    for (sidecar, media) in [
        ("json/1.json", "images/1.jpg"),
        ("labels/train/1.json", "images/train/1.jpg"),
        ("notes/1.jpg.json", "images/1.jpg"),
        ("notes/7.json", "images/other.jpg"),
    ] {
        let folder = TestFolder::with_media(&[media, "images/train/2.jpg"]);
        folder.write(
            sidecar,
            GOOD.replace("\"point\"", "\"rectangle\"").replace("[[3, 4]]", "[[3, 4], [5, 6]]"),
        );
        let reading = folder.read_sidecars();
        assert!(reading.problems.is_empty(), "{sidecar}: {:?}", reading.problems);
        assert_eq!(reading.descriptions[Path::new(media)].objects.len(), 4, "{sidecar}");
    }
}

#[test]
fn a_picture_without_shapes_has_its_flags() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    folder.write("1.json", r#"{"flags": {"day": true}, "shapes": null, "imagePath": "1.jpg"}"#);
    assert_eq!(folder.descriptions(), [describe("1.jpg", "", "day", "", "")]);
}

#[test]
fn turned_rectangles_keep_their_outline() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    for kind in ["oriented_rectangle", "quadrilateral", "rotation"] {
        let text = format!(
            r#"{{"shapes": [{{"label": "x", "points": [[5, 0], [9, 4], [4, 9], [0, 5]],
            "shape_type": "{kind}"}}]}}"#
        );
        folder.write("1.json", text);
        let outline = vec![vec![5.0, 0.0, 9.0, 4.0, 4.0, 9.0, 0.0, 5.0]];
        assert_eq!(folder.polygons("1.jpg"), [outline], "{kind}");
    }
}

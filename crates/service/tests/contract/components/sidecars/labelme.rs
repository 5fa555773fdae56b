//! `LabelMe` sidecars.

use super::{TestFolder, describe, pixels};

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
    assert!(folder.read_sidecars().problems.is_empty());
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
    for text in ["{}", "[]", r#"{"shapes": 1}"#, "no JSON"] {
        folder.write("a/1.json", text);
        let reading = folder.read_sidecars();
        assert!(reading.sidecars.is_empty() && reading.problems.is_empty(), "{text}");
    }
}

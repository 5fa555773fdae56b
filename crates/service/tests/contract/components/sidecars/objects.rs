//! The `objects` column of metadata files.

use std::path::Path;

use tessera_model::Region;

use super::TestFolder;

/// The objects of a table with this value, and the problem of the table.
fn objects(value: &str) -> (Vec<String>, Option<String>) {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let cell = value.replace('"', "\"\"");
    folder.write("metadata.csv", format!("file_name,objects\n1.jpg,\"{cell}\"\n"));
    let sidecars = folder.read_sidecars();
    let objects =
        sidecars.descriptions.get(Path::new("1.jpg")).into_iter().flat_map(|d| &d.objects);
    let shown = objects.map(|object| {
        let region = object.bounding_box.to_region(100, 200).unwrap();
        let Region { x, y, width, height } = region;
        let annotation = serde_json::to_string(&object.annotation).unwrap();
        let annotation = if annotation == "{}" { "" } else { &annotation };
        format!("{} {x:.2} {y:.2} {width:.2} {height:.2}{annotation}", object.label)
    });
    (shown.collect(), sidecars.problems.get(Path::new("metadata.csv")).cloned())
}

#[test]
fn both_forms_are_parsed_and_invalid_objects_reported() {
    const NO_OBJECTS: &str = "its objects are neither a list nor lists of boxes and names";
    for (value, expected, fault) in [
        (
            r#"[{"label": "boat", "bbox": [0.1, 0.2, 0.3, 2]}]"#,
            &["boat 0.10 0.20 0.30 0.80"][..],
            "",
        ),
        (
            r#"{"bbox": [[10, 20, 30, 40]], "categories": [" boat "], "area": [7]}"#,
            &["boat 0.10 0.10 0.30 0.20"],
            "",
        ),
        (r#"{"category": [3], "bbox": [[10, 20, 30, 40]]}"#, &["3 0.10 0.10 0.30 0.20"], ""),
        (r#"{"bbox": [], "labels": []}"#, &[], ""),
        ("[]", &[], ""),
        (
            r#"[{"label": "a", "bbox": [0.5, 0.5, 0.1, 0.1]}, {"bbox": [0, 0, 1, 1]}]"#,
            &["a 0.50 0.50 0.10 0.10"],
            "one of its objects has no name",
        ),
        (r#"[{"label": "", "bbox": [0, 0, 1, 1]}]"#, &[], "one of its objects has no name"),
        (r#"[{"label": "a"}, 7]"#, &[], "one of its objects has no bbox"),
        ("[7]", &[], "one of its objects is not a JSON object"),
        (
            r#"[{"label": "a", "bbox": [0, 0, 1]}]"#,
            &[],
            "the bbox of an object is not a list of four numbers",
        ),
        (
            r#"{"bbox": [[1, 1, 2, 2], [1, 1, 0, 2]], "labels": ["a", "b", "c"]}"#,
            &["a 0.01 0.01 0.02 0.01"],
            "its objects have different numbers of boxes, names or annotations",
        ),
        (r#"{"bbox": [[1, 1, 2, 2]]}"#, &["object 0.01 0.01 0.02 0.01"], ""),
        (
            r#"[{"label": "a", "bbox": {"x": 0, "y": 0, "w": 0.5, "h": 0.5}}]"#,
            &["a 0.00 0.00 0.50 0.50"],
            "",
        ),
        (r#""boat""#, &[], NO_OBJECTS),
        (r#"[{"label": "a""#, &[], NO_OBJECTS),
    ] {
        assert_objects(value, expected, fault);
    }
}

#[test]
fn an_object_of_a_list_has_one_of_several_names_and_a_box_in_fractions() {
    for (value, expected, fault) in [
        (
            r#"[{"category": "a", "bbox": [0.5, 0.5, 0.1, 0.1]}, {"name": 7, "label": null, "boxes": [0, 0, 1, 1]}]"#,
            &["a 0.50 0.50 0.10 0.10", "7 0.00 0.00 1.00 1.00"][..],
            "",
        ),
        (
            r#"[{"label": "a", "bbox": [0.5, 0.5, 0, 0.1]}]"#,
            &[],
            "the bbox of an object is empty or outside the picture",
        ),
        (
            r#"[{"label": "a", "bbox": [40, 40, 9, 9]}]"#,
            &[],
            "the bbox of an object is not in fractions of the picture; divide pixels by its width and height",
        ),
    ] {
        assert_objects(value, expected, fault);
    }
}

#[test]
fn lists_of_annotations_belong_to_the_boxes() {
    for (value, expected, fault) in [
        (
            r#"{"bbox": [[1, 2, 3, 4], [1, 2, 3, 4]], "label": ["a", "b"], "score": [0.5, null],
                "polygons": [[[1, 2, 4, 2, 4, 6]], []], "keypoints": [[], [1, 2, 2]],
                "mask": [null, {"size": [10, 10], "counts": "07j2"}], "is_crowd": [false, true]}"#,
            &[
                r#"a 0.01 0.01 0.03 0.02{"score":0.5,"polygons":[[1.0,2.0,4.0,2.0,4.0,6.0]]}"#,
                r#"b 0.01 0.01 0.03 0.02{"mask":{"size":[10,10],"counts":"07j2"},"keypoints":[1.0,2.0,2.0],"is_crowd":true}"#,
            ][..],
            "",
        ),
        (
            r#"{"bbox": [[1, 2, 3, 4]], "label": ["a"], "score": ["high"]}"#,
            &["a 0.01 0.01 0.03 0.02"],
            "the score, polygons, mask or keypoints of an object are malformed",
        ),
        (
            r#"{"bbox": [[1, 2, 3, 4]], "label": ["a"], "score": []}"#,
            &["a 0.01 0.01 0.03 0.02"],
            "its objects have different numbers of boxes, names or annotations",
        ),
    ] {
        assert_objects(value, expected, fault);
    }
}

fn assert_objects(value: &str, expected: &[&str], fault: &str) {
    let fault = (!fault.is_empty()).then(|| format!("line 2: {fault}"));
    let expected = expected.iter().map(|&text| text.to_owned()).collect();
    assert_eq!(objects(value), (expected, fault), "{value}");
}

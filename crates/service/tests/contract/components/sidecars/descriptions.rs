//! Descriptions of media: limits on texts and lists, boxes, and precedence.

use std::path::Path;

use tessera_media::ingest::sidecar::{BoundingBox, MediaDescription};
use tessera_model::Region;

use super::{TestFolder, describe, pixels};

/// A folder with a table with one row of these columns.
fn with_table(columns: &[(&str, &str)]) -> TestFolder {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let (names, cells): (Vec<_>, Vec<_>) =
        columns.iter().map(|(name, cell)| (*name, format!("\"{cell}\""))).unzip();
    let table = format!("file_name,{}\n1.jpg,{}\n", names.join(","), cells.join(","));
    folder.write("metadata.csv", table);
    folder
}

/// The description that a table with one row of these columns gives.
fn described(columns: &[(&str, &str)]) -> MediaDescription {
    let folder = with_table(columns);
    folder.read_sidecars().descriptions.remove(Path::new("1.jpg")).unwrap_or_default()
}

#[test]
fn texts_and_lists_are_limited() {
    let long = "ä".repeat(19_999);
    let names: Vec<_> = (0..999).map(|n| n.to_string()).collect();
    let columns = [
        ("caption", &*long),
        ("caption", "and more"),
        ("label", &long),
        ("labels", &names.join("|")),
    ];
    let description = described(&columns);
    assert_eq!(description.caption.unwrap().chars().count(), 16_384);
    assert_eq!(description.labels[0].chars().count(), 128);
    assert_eq!(description.labels.len(), 256);
    let why = "a caption has 16,384 characters or more, of which the first 16,384 are kept; \
        a label or tag has 128 characters or more, of which the first 128 are kept; \
        a picture has 256 labels or tags or more, of which the first 256 are kept";
    assert_eq!(with_table(&columns).problem_of("metadata.csv"), why);
}

#[test]
fn texts_are_trimmed_and_names_deduplicated() {
    assert_eq!(described(&[("caption", " \r\n\t ")]).caption, None);
    let stem = "a".repeat(127);
    assert_eq!(described(&[("label", &format!("{stem} b"))]).labels, [stem]);
    assert_eq!(described(&[("labels", " b |a||b")]).labels, ["b", "a"]);
}

#[test]
fn boxes_are_clipped_to_the_image() {
    let region = |x, y, width, height| Region { x, y, width, height };
    for (sides, left) in [
        ([0.25, 0.5, 0.25, 0.5], Some(region(0.25, 0.5, 0.25, 0.5))),
        ([-0.5, -1.0, 1.0, 9.0], Some(region(0.0, 0.0, 0.5, 1.0))),
        ([0.5, 0.0, 0.0, 1.0], None),
        ([0.5, 0.0, -0.2, 1.0], None),
        ([1.0, 0.0, 1.0, 1.0], None),
        ([-2.0, 0.0, 1.0, 1.0], None),
        ([f64::NAN, 0.0, 1.0, 1.0], None),
        ([0.0, 0.0, f64::INFINITY, 1.0], None),
        ([1e308, 1e308, 1e308, 1e308], None),
    ] {
        let extent = BoundingBox::normalized(sides);
        assert_eq!(extent.and_then(|extent| extent.to_region(7, 7)), left, "{sides:?}");
    }
    for (sides, size, left) in [
        ([25.0, 50.0, 50.0, 50.0], (100, 200), Some(region(0.25, 0.25, 0.5, 0.25))),
        ([-10.0, 0.0, 60.0, 999.0], (100, 200), Some(region(0.0, 0.0, 0.5, 1.0))),
        ([100.0, 0.0, 10.0, 10.0], (100, 200), None),
        ([0.0, 0.0, 10.0, 10.0], (0, 200), None),
        ([-10.0, 0.0, 10.0, 10.0], (100, 200), None),
        ([0.0, 0.0, 10.0, -1.0], (100, 200), None),
    ] {
        let extent = BoundingBox::pixels(sides);
        assert_eq!(extent.and_then(|e| e.to_region(size.0, size.1)), left, "{sides:?}");
    }
}

#[test]
fn the_corners_of_a_box_may_be_exchanged_in_every_format() {
    let voc = "<annotation><object><name>a</name><bndbox><xmin>40</xmin><ymin>60</ymin><xmax>10</xmax>\
        <ymax>20</ymax></bndbox></object></annotation>";
    let cvat = r#"<annotations><image name="1.jpg"><box label="a" xtl="40" ytl="60" xbr="10" ybr="20"/>
        </image></annotations>"#;
    for (name, text) in [
        ("1.xml", voc),
        ("cvat.xml", cvat),
        (
            "1.json",
            r#"{"shapes": [{"label": "a", "shape_type": "rectangle", "points": [[40, 60], [10, 20]]}]}"#,
        ),
        ("boxes.csv", "file_name,label,xmin,ymin,xmax,ymax\n1.jpg,a,40,60,10,20\n"),
        ("1.txt", "a 0 0 0 40 60 10 20 1 1 1 1 1 1 1\n"),
    ] {
        let folder = TestFolder::with_media(&["1.jpg"]);
        folder.write(name, text);
        assert_eq!(folder.boxes("1.jpg"), [pixels(10.0, 20.0, 30.0, 40.0)], "{name}");
        assert!(folder.read_sidecars().problems.is_empty(), "{name}");
    }
}

#[test]
fn the_first_description_wins_and_tags_are_merged() {
    let described = |caption: Option<&str>, label: &str, tag: &str| MediaDescription {
        caption: caption.map(str::to_owned),
        labels: vec![label.to_owned()],
        tags: vec![tag.to_owned()],
        ..MediaDescription::default()
    };
    let mut description = described(None, "a", "x");
    description.merge_missing(described(Some("second"), "b", "y"));
    description.merge_missing(described(Some("third"), "c", "x"));
    assert_eq!(description.caption.as_deref(), Some("second"));
    assert_eq!(
        (description.labels, description.tags),
        (vec!["a".into()], vec!["x".into(), "y".into()])
    );
}

#[test]
fn rows_and_files_over_the_limits_together_are_reported() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let limits = "a picture has 256 labels or tags or more, of which the first 256 are kept";
    let objects =
        |count: usize| format!("{count} objects are not kept, because a picture has at most 4,096");
    let rows = |count: usize, row: fn(usize) -> String| -> String { (0..count).map(row).collect() };
    let labels = rows(300, |n| format!("1.jpg,label {n}\n"));
    let boxes = rows(5_000, |n| format!("1.jpg,nut,{n},0,{},9\n", n + 5));
    let jsonl = rows(4_500, |n| {
        let bbox = format!("[{}, 0.5, 0.1, 0.1]", f64::from(u32::try_from(n).unwrap()) / 5_000.0);
        format!(r#"{{"file_name":"1.jpg","objects":[{{"label":"nut","bbox":{bbox}}}]}}"#) + "\n"
    });
    for (name, text, why) in [
        ("labels.csv", format!("file_name,label\n{labels}"), limits.to_owned()),
        ("boxes.csv", format!("file_name,label,xmin,ymin,xmax,ymax\n{boxes}"), objects(904)),
        ("metadata.jsonl", jsonl, objects(404)),
    ] {
        folder.write(name, text);
        assert_eq!(folder.problem_of(name), why);
        std::fs::remove_file(folder.path(name)).unwrap();
    }
    for (name, top) in [("a.json", 0), ("b.json", 50)] {
        let boxes: Vec<_> = (0..3_000)
            .map(|n| format!(r#"{{"image_id": 1, "category_id": 1, "bbox": [{n}, {top}, 3, 4]}}"#))
            .collect();
        let text = format!(
            r#"{{"images": [{{"id": 1, "file_name": "1.jpg"}}], "annotations": [{}],
            "categories": [{{"id": 1, "name": "nut"}}]}}"#,
            boxes.join(",")
        );
        folder.write(name, text);
    }
    assert_eq!(folder.boxes("1.jpg").len(), 4_096);
    assert_eq!(folder.problem_of("b.json"), objects(1_904));
}

#[test]
fn whole_numbers_keep_all_digits_as_names() {
    let folder = TestFolder::with_media(&["1.jpg", "2.jpg"]);
    let row = |file: &str, number: &str| {
        format!(r#"{{"file_name": "{file}", "label": {number}, "caption": {number}}}"#)
    };
    for number in ["9007199254740993", "12345678901234567890", "-9007199254740993"] {
        folder.write("metadata.jsonl", row("1.jpg", &format!("{number}.0")));
        assert_eq!(folder.descriptions(), [describe("1.jpg", number, number, "", "")]);
    }
    folder.write("metadata.jsonl", row("1.jpg", "2.50"));
    assert_eq!(folder.descriptions(), [describe("1.jpg", "2.5", "2.5", "", "")]);
}

//! `metadata.jsonl` sidecars.

use super::{TestFolder, describe, pixels};

const ROWS: &str = concat!(
    "\u{feff}{\"file_name\": \"a/1.jpg\", \"caption\": \" A red boat. \", \"labels\": [\"boat\", \"\", \"sea\"]}\r\n",
    "\r\n",
    r#"{"file_name": "2.jpg", "text": "A car.", "label": "car", "user_tags": ["x"], "tags": ["y"]}"#,
    "\n",
    r#"{"file_name": "3.jpg", "objects": [{"label": "b", "bbox": [0, 0, 0.5, 0.5]}, {"bbox": 1}], "extra": [1]}"#,
    "\n",
    r#"{"caption": "nobody's"}"#,
    "\n",
    r#"{"file_name": [7]}"#,
    "\n",
    r#"{"file_name": "4.jpg", "caption": {"x": 1}, "labels": ["kept", [1]], "tags": {}, "label": [null]}"#,
    "\n",
    r#"["3.jpg"]"#,
    "\n",
    r#"{"file_name": "../9.jpg", "caption": "outside"}"#,
    "\n",
    r#"{"file_name": "5.jpg", "caption": null, "labels": null}"#,
    "\n",
    r#"{"file_name": "2.jpg", "caption": "Later."}"#,
    "\n",
    r#"{"file_name": "3.jp"#,
);

#[test]
fn invalid_rows_are_reported_and_the_others_used() {
    let folder = TestFolder::with_media(&["a/1.jpg", "2.jpg", "3.jpg", "4.jpg", "5.jpg"]);
    folder.write("metadata.jsonl", ROWS);
    let reading = folder.read_sidecars();
    let expected = [
        describe("2.jpg", "A car. Later.", "car", "y x", ""),
        describe("3.jpg", "", "", "", "b"),
        describe("4.jpg", "", "kept", "", ""),
        describe("a/1.jpg", "A red boat.", "boat sea", "", ""),
    ];
    assert_eq!(folder.descriptions(), expected);
    let why = "line 4: one of its objects has no name; line 5: it has no file_name; \
               line 6: its file_name is not a string; 4 more lines; \
               columns not kept: extra (a value is a list, an object or binary data)";
    assert_eq!(reading.problems["metadata.jsonl".as_ref() as &std::path::Path], why);
}

#[test]
fn a_list_of_captions_is_no_column_that_is_not_kept() {
    let folder = TestFolder::with_media(&["1.jpg", "2.jpg"]);
    let rows = ["1.jpg", "2.jpg"]
        .map(|name| format!(r#"{{"file_name": "{name}", "captions": ["one", "two"]}}"#));
    folder.write("metadata.jsonl", rows.join("\n"));
    let expected = ["1.jpg", "2.jpg"].map(|name| describe(name, "one two", "", "", ""));
    assert_eq!(folder.descriptions(), expected);
    assert!(folder.read_sidecars().problems.is_empty());
}

#[test]
fn a_sidecar_describes_its_folder_and_parent_sidecars_win() {
    let folder = TestFolder::with_media(&["1.jpg", "train/1.jpg", "train/2.jpg"]);
    folder.write(
        "train/metadata.jsonl",
        concat!(
            r#"{"file_name": "1.jpg", "text": "lower"}"#,
            "\n",
            r#"{"file_name": "2.jpg", "text": "lower"}"#,
        ),
    );
    folder.write("metadata.jsonl", r#"{"file_name": "train/1.jpg", "text": "upper"}"#);
    let expected = [
        describe("train/1.jpg", "upper", "", "", ""),
        describe("train/2.jpg", "lower", "", "", ""),
    ];
    assert_eq!(folder.descriptions(), expected);
    let why = "what it says about 1 picture differs from metadata.jsonl, and is not used";
    assert_eq!(folder.problem_of("train/metadata.jsonl"), why);
}

#[test]
fn oversized_and_non_utf_8_sidecars_are_reported() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let row = r#"{"file_name": "1.jpg", "text": "good"}"#;
    folder.write("metadata.jsonl", ["\u{e9}".as_bytes(), b"\xff\n", row.as_bytes()].concat());
    assert_eq!(folder.descriptions(), [describe("1.jpg", "good", "", "", "")]);
    assert_eq!(folder.problem_of("metadata.jsonl"), "line 1: it is not UTF-8; save it as UTF-8");
    folder.write("annotations.csv", "file_name,caption\n1.jpg,good\n");
    for name in ["metadata.jsonl", "annotations.csv"] {
        let file = std::fs::OpenOptions::new().write(true).open(folder.path(name)).unwrap();
        file.set_len((64 << 20) + 1).unwrap();
        assert_eq!(folder.problem_of(name), "it is larger than 64 MiB");
    }
}

#[test]
fn columns_have_several_names() {
    let folder = TestFolder::with_media(&["1.jpg", "2.jpg", "3.jpg", "4.jpg"]);
    let rows = concat!(
        "\u{feff}{\"image\": \"1.jpg\", \"prompt\": \"a boat\"}\r\n",
        "{\"File Name\": \"2.jpg\", \"Caption\": [\"a boat.\", \"a red boat.\"]}\r\n",
        "{\"path\": \"3.jpg\", \"image\": {\"bytes\": 1}, \"text\": \"far\", \"description\": \"x\"}\r\n",
        "{\"image\": \"4.jpg\", \"Labels\": [\"boat\"]}\r\n",
    );
    folder.write("metadata.jsonl", rows);
    let expected = [
        describe("1.jpg", "a boat", "", "", ""),
        describe("2.jpg", "a boat. a red boat.", "", "", ""),
        describe("3.jpg", "far", "", "", ""),
        describe("4.jpg", "", "boat", "", ""),
    ];
    assert_eq!(folder.descriptions(), expected);
    assert!(folder.read_sidecars().problems.is_empty());
}

#[test]
fn the_first_problem_is_shown_and_the_others_are_counted() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let row = |values: &str| format!("{{\"file_name\": \"1.jpg\"{values}}}\n");
    let good = row("");
    let bad = row(r#", "label": {}"#);
    let twice = row(r#", "label": {}, "tags": [" a\n", null, "b"]"#);
    let first = "line 2: its label is not a text";
    for (rows, expected) in [
        (vec![&good], None),
        (vec![&good, &twice], Some(first.to_owned())),
        (vec![&good, &twice, &twice], Some(format!("{first}; 1 more line"))),
        (vec![&good, &bad, &bad, &good, &bad], Some(format!("{first}; 2 more lines"))),
    ] {
        let text: String = rows.into_iter().map(String::as_str).collect();
        folder.write("metadata.jsonl", &text);
        let problem = folder.read_sidecars().problems.into_values().next();
        assert_eq!(problem, expected, "{text}");
    }
    folder.write("metadata.jsonl", &twice);
    assert_eq!(folder.descriptions(), [describe("1.jpg", "", "", "a b", "")]);
}

#[test]
fn a_row_has_the_columns_of_boxes_of_other_tables() {
    for (columns, labels, objects) in [
        (r#""xmin": 1, "ymin": 2, "xmax": 4, "ymax": 6, "label": "a""#, "", "a"),
        (r#""label": ["a"], "x1": "1", "y1": 2, "x2": 4, "y2": 6, "x3": null"#, "", "a"),
        (r#""class": 3, "x": 1, "y": 2, "width": 3, "height": 4"#, "", "3"),
        (r#""bbox": [1, 2, 3, 4], "category": "a""#, "", "a"),
        (r#""bbox": {"x": 1, "y": 2, "w": 3, "h": 4}, "label": "a""#, "", "a"),
        (r#""bbox": [[1, 2, 3, 4], [5, 6, 7, 8]], "category": ["a", "b"]"#, "", "a b"),
        (r#""bbox": [[1, 2, 3, 4]]"#, "", "object"),
        (r#""bbox": [], "label": "a""#, "a", ""),
        (r#""x": 1, "width": 3, "height": 4, "y": 2, "label": "a""#, "a", ""),
        (r#""xmin": null, "ymin": null, "xmax": null, "ymax": null, "label": "a""#, "a", ""),
    ] {
        let folder = TestFolder::with_media(&["1.jpg"]);
        folder.write("metadata.jsonl", format!(r#"{{"file_name": "1.jpg", {columns}}}"#));
        let described = folder.descriptions();
        assert_eq!(described, [describe("1.jpg", "", labels, "", objects)], "{columns}");
        if !objects.is_empty() {
            assert_eq!(folder.boxes("1.jpg")[0], pixels(1.0, 2.0, 3.0, 4.0), "{columns}");
        }
        assert!(folder.read_sidecars().problems.is_empty(), "{columns}");
    }
    let folder = TestFolder::with_media(&["1.jpg"]);
    folder.write("metadata.jsonl", r#"{"file_name": "1.jpg", "bbox": [1, 2], "label": "a"}"#);
    let why = "line 1: its box is empty, outside the picture, or not in numbers";
    assert_eq!(folder.problem_of("metadata.jsonl"), why);
}

#[test]
fn numbers_are_labels() {
    let folder = TestFolder::with_media(&["1.jpg", "2.jpg", "3.jpg"]);
    let rows = [
        r#"{"file_name": "1.jpg", "label": 3}"#,
        r#"{"file_name": "2.jpg", "labels": [0, 7.0, "x"]}"#,
        r#"{"file_name": "3.jpg", "label": "08"}"#,
    ];
    folder.write("metadata.jsonl", rows.join("\n"));
    let expected = [("1.jpg", "3"), ("2.jpg", "0 7 x"), ("3.jpg", "08")]
        .map(|(media, labels)| describe(media, "", labels, "", ""));
    assert_eq!(folder.descriptions(), expected);
}

#[test]
fn a_single_value_is_a_list_and_a_number_is_a_text() {
    let folder = TestFolder::with_media(&["12.jpg"]);
    for (columns, caption, labels, tags, objects) in [
        (r#""caption": 1984"#, "1984", "", "", ""),
        (r#""caption": ["in", 1984]"#, "in 1984", "", "", ""),
        (r#""label": ["x", 2]"#, "", "x 2", "", ""),
        (r#""labels": [true, false]"#, "", "true false", "", ""),
        (r#""labels": "p""#, "", "p", "", ""),
        (r#""tags": 5"#, "", "", "5", ""),
        (r#""user_tags": "t""#, "", "", "t", ""),
        (r#""objects": [{"label": 4, "bbox": [0.1, 0.2, 0.3, 0.4]}]"#, "", "", "", "4"),
        (r#""objects": {"categories": [4.0], "bbox": [[1, 2, 3, 4]]}"#, "", "", "", "4"),
    ] {
        folder.write("metadata.jsonl", format!(r#"{{"file_name": 12, {columns}}}"#));
        assert_eq!(folder.descriptions(), [describe("12.jpg", caption, labels, tags, objects)]);
        assert!(folder.read_sidecars().problems.is_empty(), "{columns}");
    }
}

#[test]
fn rows_are_read_as_python_writes_them_under_any_case_of_the_name() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let row = r#"{"file_name": "1.jpg", "caption": "NaN", "area": NaN, "height": -Infinity}"#;
    folder.write("Metadata.JSONL", row);
    assert_eq!(folder.descriptions(), [describe("1.jpg", "NaN", "", "", "")]);
    assert!(folder.read_sidecars().problems.is_empty());
}

#[test]
fn a_pointer_to_a_table_is_named() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    let why = "a Git LFS pointer instead of the file; run: git lfs pull";
    for name in
        ["metadata.jsonl", "metadata.csv", "metadata.parquet", "metadata.json", "x.json", "x.xml"]
    {
        folder.write(name, pointer);
        assert_eq!(folder.problem_of(name), why, "{name}");
    }
}

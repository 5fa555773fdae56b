//! `metadata.parquet` sidecars, written by `pyarrow`.

use std::path::Path;

use tessera_model::vql::ColumnValue;

use super::{TestFolder, describe, pixels};

/// Four rows, compressed with zstd: texts, a list of strings, and lists of boxes and names in a struct.
const GOOD: &[u8] = include_bytes!("files/metadata.parquet");
/// Rows with a numeric label, a file that is not there, without a name, and with texts for lists.
const FAULTY: &[u8] = include_bytes!("files/faulty.parquet");
/// Two rows with the types of `datasets`: `label` and the list `genres` are numbers of classes, `litter` is a list of
/// boxes and classes, and `embedding` is a list of numbers.
const CLASSES: &[u8] = include_bytes!("files/classes.parquet");
/// Two rows with the types of `datasets`: `bbox` is a list of boxes, and `category` the numbers of their classes. The
/// second row has no box.
const BOXES: &[u8] = include_bytes!("files/boxes.parquet");
/// A row with a decimal, a number of 16 bits, a whole number above 2^63, and 16 bytes.
const NUMBERS: &[u8] = include_bytes!("files/numbers.parquet");
/// Its only column is `note`.
const UNNAMED: &[u8] = include_bytes!("files/unnamed.parquet");

#[test]
fn columns_are_those_of_the_other_tables() {
    let folder = TestFolder::with_media(&["x/a/1.jpg", "x/2.jpg", "x/a/3.jpg", "x/4.jpg"]);
    folder.write("x/metadata.parquet", GOOD);
    let expected = [
        describe("x/2.jpg", "", "x", "", ""),
        describe("x/4.jpg", "", "sky", "z", ""),
        describe("x/a/1.jpg", "a boat", "sea", "x y", "boat gull"),
        describe("x/a/3.jpg", "a hill", "a", "", ""),
    ];
    assert_eq!(folder.descriptions(), expected);
    assert_eq!(folder.boxes("x/a/1.jpg"), [pixels(1.0, 2.0, 3.0, 4.0), pixels(5.0, 6.0, 7.0, 8.0)]);
    assert!(folder.read_sidecars().problems.is_empty());
}

#[test]
fn wrong_rows_are_named_and_the_others_count() {
    let folder = TestFolder::with_media(&["1.jpg", "2.jpg"]);
    folder.write("metadata.parquet", FAULTY);
    let expected = [
        describe("1.jpg", "one", "3 car bus", "", "car"),
        describe("2.jpg", "four", "tree house", "", ""),
    ];
    assert_eq!(folder.descriptions(), expected);
    let expected = "row 2: its file_name is not in the folder; row 3: it has no file_name; \
         row 4: its objects are neither a list nor lists of boxes and names";
    assert_eq!(folder.problem_of("metadata.parquet"), expected);
}

#[test]
fn jsonl_takes_precedence_over_parquet_and_that_over_csv() {
    let folder = TestFolder::with_media(&["1.jpg", "2.jpg"]);
    folder.write("metadata.parquet", FAULTY);
    folder.write("metadata.jsonl", r#"{"file_name": "1.jpg", "caption": "jsonl"}"#);
    folder.write("metadata.csv", "file_name,caption\n1.jpg,csv\n2.jpg,csv\n");
    let expected = [
        describe("1.jpg", "jsonl", "3 car bus", "", "car"),
        describe("2.jpg", "four", "tree house", "", ""),
    ];
    assert_eq!(folder.descriptions(), expected);
}

#[test]
fn other_files_are_refused_with_a_reason() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let damaged = "it is damaged or not a Parquet file";
    for (bytes, why) in [
        (UNNAMED, "it has no column file_name"),
        (b"PAR1 and no more", damaged),
        (&GOOD[..GOOD.len() - 1], damaged),
    ] {
        folder.write("metadata.parquet", bytes);
        assert_eq!(folder.problem_of("metadata.parquet"), why);
    }
    assert!(folder.descriptions().is_empty());
}

#[test]
fn damaged_files_are_reported_and_describe_only_media() {
    let media = ["a/1.jpg", "2.jpg", "a/3.jpg", "4.jpg"];
    let folder = TestFolder::with_media(&media);
    let mut reported = 0;
    for start in (4..GOOD.len() - 8).step_by(40) {
        let mut damaged = GOOD.to_vec();
        damaged[start..start + 8].fill(0);
        folder.write("metadata.parquet", &damaged);
        let reading = folder.read_sidecars();
        reported += reading.problems.len();
        assert!(reading.descriptions.keys().all(|path| media.iter().any(|it| path.ends_with(it))));
    }
    assert!(reported > 20, "{reported}");
}

#[test]
fn decimal_and_half_precision_numbers_are_kept() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    folder.write("metadata.parquet", NUMBERS);
    let reading = folder.read_sidecars();
    let columns = &reading.descriptions[Path::new("1.jpg")].extra_columns;
    let text = |text: &str| ColumnValue::Text(text.to_owned());
    let expected = [
        ("half", ColumnValue::Number(0.5)),
        ("hash", text("18446744073709551557")),
        ("price", text("1.50")),
    ];
    assert_eq!(*columns, expected.map(|(name, value)| (name.to_owned(), value)).into());
    let why = "columns not kept: id (a value is a list, an object or binary data)";
    assert_eq!(folder.problem_of("metadata.parquet"), why);
}

#[test]
fn the_types_of_columns_name_classes_and_objects() {
    let folder = TestFolder::with_media(&["1.jpg", "2.jpg"]);
    folder.write("metadata.parquet", CLASSES);
    let expected = [describe("1.jpg", "", "dog", "", "nut"), describe("2.jpg", "", "a c", "", "")];
    assert_eq!(folder.descriptions(), expected);
    let why = "columns not kept: embedding, genres (a value is a list, an object or binary data)";
    assert_eq!(folder.problem_of("metadata.parquet"), why);
}

#[test]
fn boxes_may_be_in_columns_of_their_own() {
    let folder = TestFolder::with_media(&["1.jpg", "2.jpg"]);
    folder.write("metadata.parquet", BOXES);
    assert_eq!(folder.descriptions(), [describe("1.jpg", "", "", "", "nut bolt")]);
    assert_eq!(folder.boxes("1.jpg"), [pixels(1.0, 2.0, 3.0, 4.0), pixels(5.0, 6.0, 7.0, 8.0)]);
    assert!(folder.read_sidecars().problems.is_empty());
}

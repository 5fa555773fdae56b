//! Inspecting the archive of an export.

use std::{io::Write as _, path::Path};

use serde_json::Value;
use tessera_client::{ExistingFile, ExtractOptions, extract, inspect_archive, read_entry};
use tessera_model::{PictureSource, SafeText, export::NameSample};
use zip::{ZipWriter, write::SimpleFileOptions};

fn archive(entries: &[(&str, &[u8])]) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut zip = ZipWriter::new(file.reopen().unwrap());
    for (name, bytes) in entries {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap();
    file
}

const ROWS: &[u8] = br#"{"info": {"tags": ["x"]}, "media_items": [
    {"image_filename": "a.jpg", "uniqueness_score": 0.05, "extra": {"deep": [1]}},
    {"image_filename": "gone.jpg", "uniqueness_score": 1.0},
    {"image_filename": null, "uniqueness_score": "0.55"},
    {"uniqueness_score": null}]}"#;

#[test]
fn rows_scores_and_pictures_are_counted() {
    let file = archive(&[
        ("Rows.JSON", ROWS),
        ("images/a.jpg", b"a"),
        ("images/b.jpg", b"b"),
        ("../evil.json", b"x"),
    ]);
    let found = inspect_archive(file.path()).unwrap();
    assert_eq!((found.metadata_file.as_str(), found.rows, found.images), ("Rows.JSON", 4, 2));
    let columns: Vec<_> = found.columns.iter().map(SafeText::as_str).collect();
    assert_eq!(columns, ["image_filename", "uniqueness_score", "extra"]);
    assert_eq!(found.uniqueness, [1, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
    assert_eq!(found.unscored, 1);
    for (named, name) in [
        (&found.rows_without_file, "gone.jpg"),
        (&found.files_without_row, "b.jpg"),
        (&found.unsafe_entries, "../evil.json"),
    ] {
        assert_eq!((named.count, named.first[0].as_str()), (1, name));
    }
    let PictureSource::Entry(path, name) = &found.first_images[1] else { panic!() };
    assert_eq!(read_entry(path, name).unwrap(), "b");
    assert!(read_entry(path, "images/none").is_err());
}

const FRAMES: &[u8] = br#"{"media_items": [
    {"media_type": "video_frame", "file_name": "output_000001.jpg",
     "file_path": "a/clip.mp4/output_000001.jpg", "metadata_items": [{"type": "video_info",
     "properties": {"video_name": "clip.mp4", "frame_timestamp": 0.0}}]},
    {"media_type": "video_frame", "file_name": "output_000002.jpg",
     "file_path": "a/clip.mp4/output_000002.jpg", "metadata_items": [{"type": "video_info",
     "properties": {"video_name": "clip.mp4", "frame_timestamp": 2.0}}]},
    {"media_type": "video_frame", "file_name": "output_000001.jpg",
     "file_path": "b/clip.mp4/output_000001.jpg", "metadata_items": []},
    {"media_type": "image", "file_name": "a.jpg", "file_path": "a.jpg"}]}"#;

#[test]
fn frames_and_their_videos_are_counted() {
    let found = inspect_archive(archive(&[("metadata.json", FRAMES)]).path()).unwrap();
    assert_eq!((found.rows, found.frames, found.videos), (4, 3, 2));
}

#[test]
fn rows_of_recorded_archives_are_matched_by_the_names_they_have() {
    let rows = br#"{"info": {"schema_version": "1.1"}, "media_items": [
        {"media_id": "1", "file_name": "a.jpg", "file_path": "day/a.jpg"},
        {"media_id": "2", "media_type": "video_frame", "file_name": "output_000001.jpg",
         "file_path": "clip.mp4/output_000001.jpg"},
        {"media_id": "3", "file_name": "gone.jpg", "file_path": "night/gone.jpg"},
        {"media_id": "4", "image_filename": null, "file_name": "b.jpg"}]}"#;
    let file = archive(&[
        ("metadata.json", rows),
        ("images/a.jpg", b"a"),
        ("images/clip.mp4/output_000001.jpg", b"f"),
        ("images/b.jpg", b"b"),
    ]);
    let found = inspect_archive(file.path()).unwrap();
    let names = |named: &NameSample| {
        named.first.iter().map(|name| name.as_str().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!((found.rows, found.images), (4, 3));
    assert_eq!(names(&found.rows_without_file), ["night/gone.jpg"]);
    assert_eq!(names(&found.files_without_row), ["b.jpg"], "its row says that it has none");

    let folder = tempfile::tempdir().unwrap();
    extract(file.path(), folder.path(), &ExtractOptions::new(ExistingFile::Keep, true)).unwrap();
    let rows = std::fs::read_to_string(folder.path().join("rows.jsonl")).unwrap();
    let row = |line| serde_json::from_str::<Value>(line).unwrap();
    let paths: Vec<Value> = rows.lines().map(|line| row(line)["_path"].clone()).collect();
    let frame = "images/clip.mp4/output_000001.jpg";
    assert_eq!(paths, ["images/a.jpg".into(), frame.into(), Value::Null, Value::Null]);
}

#[test]
fn missing_and_surplus_files_are_reported() {
    for (entries, words) in [
        (vec![("images/a.jpg", &b"a"[..])], "no metadata"),
        (vec![("a.json", b"[]"), ("b.parquet", b"")], "more than one"),
        (vec![("a.json", b"{")], "a.json"),
        (vec![("a.json", b"{\"a\": 1}")], "no rows"),
        (vec![("metadata.parquet", b"PAR1")], "metadata.parquet"),
    ] {
        let failure = inspect_archive(archive(&entries).path()).unwrap_err();
        assert!(failure.to_string().contains(words), "{failure}");
    }
    assert!(inspect_archive(Path::new("/dev/null")).is_err());
}

#[test]
fn scores_are_counted_in_tenths_and_others_as_unscored() {
    let row = |score: &str| format!(r#"{{"uniqueness_score": {score}}}"#);
    let scores =
        ["0", "0.0999", "0.1", "0.85", "0.9", "0.999", "1", "1.01", "-0.01", "null", "\"x\""];
    let rows = format!("[{}]", scores.map(row).join(","));
    let found = inspect_archive(archive(&[("a.json", rows.as_bytes())]).path()).unwrap();
    assert_eq!(found.uniqueness, [2, 1, 0, 0, 0, 0, 0, 0, 1, 3]);
    assert_eq!((found.rows, found.unscored), (11, 4));
}

#[test]
fn the_rows_are_the_longest_list_of_objects_of_a_document() {
    for (document, rows, columns) in [
        (r#"[{"a": 1, "b": 2}, {"c": 3}]"#, 2, vec!["a", "b"]),
        (
            r#"{"labels": [{"x": 1}], "rows": [{"a": 1}, {"b": 2}], "end": [{"y": 1}]}"#,
            2,
            vec!["a"],
        ),
        (r#"{"numbers": [1, 2, 3], "rows": [{"a": 1}]}"#, 1, vec!["a"]),
        (r#"{"mixed": [{"x": 1}, 2], "rows": [{"a": 1}]}"#, 1, vec!["a"]),
        ("[]", 0, vec![]),
        (r#"{"rows": []}"#, 0, vec![]),
    ] {
        let found = inspect_archive(archive(&[("a.json", document.as_bytes())]).path()).unwrap();
        let shown: Vec<_> = found.columns.iter().map(SafeText::as_str).collect();
        assert_eq!((found.rows, shown), (rows, columns), "{document}");
    }
    for (document, reason) in [
        (r#"[{"a": 1}, 2]"#, "row 2: not an object"),
        ("[7]", "row 1: not an object"),
        (r#"{"a": [1]}"#, "no rows"),
        ("[{}] x", "a.json"),
    ] {
        let failure = inspect_archive(archive(&[("a.json", document.as_bytes())]).path());
        let failure = failure.unwrap_err().to_string();
        assert!(failure.contains(reason), "{document}: {failure}");
        assert!(failure.ends_with("Check that it is an export archive"), "{failure}");
    }
}

#[test]
fn an_inspection_names_the_archive_and_at_most_200_pictures() {
    let names: Vec<String> = (0..201).map(|number| format!("images/{number:03}.jpg")).collect();
    let mut entries: Vec<(&str, &[u8])> = names.iter().map(|name| (&**name, &b"x"[..])).collect();
    entries.push(("METADATA.JSON", b"[]"));
    let file = archive(&entries);
    let found = inspect_archive(file.path()).unwrap();
    assert_eq!((found.path.as_path(), found.images), (file.path(), 201));
    assert_eq!(found.bytes, file.path().metadata().unwrap().len());
    assert_eq!((found.first_images.len(), found.unsafe_entries.count), (200, 0));
    assert_eq!((found.files_without_row.count, found.files_without_row.first.len()), (201, 200));
    assert_eq!(found.metadata_file.as_str(), "METADATA.JSON");
}

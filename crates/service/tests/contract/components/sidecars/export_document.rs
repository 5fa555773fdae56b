//! The `metadata.json` of an export as a sidecar.

use serde_json::{Value, json};

use super::{TestFolder, describe};

fn caption(text: &str) -> Value {
    json!([{"type": "caption", "properties": {"caption": text}}])
}

#[test]
fn items_are_found_in_images_and_by_their_paths() {
    let media = ["images/1.jpg", "day/2.jpg", "images/day/3.jpg", "clip.mp4", "night/1.jpg"];
    let folder = TestFolder::with_media(&media);
    let items = json!([
        {"image_filename": "1.jpg", "file_path": "night/1.jpg", "metadata_items": caption("one")},
        {"image_filename": null, "file_path": "day/2.jpg", "metadata_items": caption("two")},
        {"file_path": "day/3.jpg", "metadata_items": caption("three")},
        {"file_path": "clip.mp4/clip_000001.jpg", "metadata_items": caption("frame")},
    ]);
    folder.write("metadata.json", json!({"info": {}, "media_items": items}).to_string());
    let expected = [
        describe("clip.mp4", "frame", "", "", ""),
        describe("day/2.jpg", "two", "day", "", ""),
        describe("images/1.jpg", "one", "", "", ""),
        describe("images/day/3.jpg", "three", "day", "", ""),
        describe("night/1.jpg", "", "night", "", ""),
    ];
    assert_eq!(folder.descriptions(), expected);
    assert!(folder.read_sidecars().problems.is_empty());
}

#[test]
fn an_export_is_read_in_every_encoding_of_a_sidecar() {
    let items = json!([{"file_path": "1.jpg", "metadata_items": caption("Möbel")}]);
    let text = json!({"media_items": items}).to_string();
    let utf_16 = |bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect();
    for bytes in [
        format!("\u{feff}{text}").into_bytes(),
        utf_16(u16::to_le_bytes),
        utf_16(u16::to_be_bytes),
        text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect::<Vec<u8>>(),
        text.chars().map(|c| u8::try_from(c).unwrap()).collect(),
    ] {
        let folder = TestFolder::with_media(&["1.jpg"]);
        folder.write("metadata.json", &bytes);
        let found = folder.descriptions();
        assert_eq!(found, [describe("1.jpg", "Möbel", "", "", "")], "{:?}", &bytes[..4]);
        assert!(folder.read_sidecars().problems.is_empty());
    }
}

#[test]
fn wrong_items_are_named_and_the_others_count() {
    let folder = TestFolder::with_media(&["1.jpg", "2.jpg"]);
    let items = json!([
        [],
        {"file_path": "../9.jpg", "metadata_items": caption("outside")},
        {"file_path": "1.jpg", "metadata_items": [
            {"type": "caption"},
            {"type": "unknown", "properties": 3},
            {"type": "image_label", "properties": {"category_name": "cat"}},
            {"type": "object_label", "properties": {"category_name": "ear", "bbox": [1, 2, "3"]}}]},
        {"file_path": "2.jpg", "metadata_items": 7},
    ]);
    let document = json!({"media_items": items}).to_string();
    folder.write("metadata.json", &document);
    assert_eq!(folder.descriptions(), [describe("1.jpg", "", "cat", "", "")]);
    let expected = "item 1: it is not a JSON object of an export; item 2: its file_name is not in the folder; item 3: the bbox of an object is not a list of four numbers; 1 more item";
    assert_eq!(folder.problem_of("metadata.json"), expected);
    folder.write("metadata.json", &document[..document.len() - 2]);
    assert_eq!(folder.descriptions(), [describe("1.jpg", "", "cat", "", "")]);
    let problem = folder.problem_of("metadata.json");
    assert!(problem.ends_with("1 more item; line 1: invalid JSON"), "{problem}");
}

#[test]
fn other_json_of_this_name_is_ignored_or_read_as_coco() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    for other in ["[]", "{}", "7", r#"{"items": [{"file_path": "1.jpg"}]}"#] {
        folder.write("sub/metadata.json", other);
        let reading = folder.read_sidecars();
        assert!(reading.sidecars.is_empty() && reading.problems.is_empty(), "{other}");
    }
    let coco = r#"{"images": [{"id": 1, "file_name": "1.jpg"}],
        "annotations": [{"image_id": 1, "caption": "coco"}]}"#;
    folder.write("metadata.json", coco);
    assert_eq!(folder.descriptions(), [describe("1.jpg", "coco", "", "", "")]);
}

#[test]
fn a_huge_item_ends_the_reading() {
    let folder = TestFolder::with_media(&["1.jpg", "2.jpg"]);
    let item = |name: &str, text: &str| {
        json!({"file_path": name, "metadata_items": caption(text)}).to_string()
    };
    let huge = "x".repeat(9 << 20);
    let items = [item("1.jpg", "one"), item("2.jpg", &huge)].join(",");
    folder.write("metadata.json", format!("{{\"media_items\":[{items}]}}"));
    assert_eq!(folder.descriptions(), [describe("1.jpg", "one", "", "", "")]);
    assert_eq!(folder.problem_of("metadata.json"), "line 1: an item is larger than 8 MiB");
}

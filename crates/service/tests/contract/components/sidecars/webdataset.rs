//! Members of `WebDataset` shards beside their picture, in a folder and unpacked from a shard.

use std::{path::Path, sync::atomic::AtomicBool};

use tar::{Builder, Header};
use tessera_media::ingest::{
    FolderPatterns, SandboxedDir,
    archive_readers::{ArchiveKind, UnpackLimits, unpack},
    scan_folder,
    sidecar::read,
};
use tessera_model::vql::ColumnValue;

use super::{TestFolder, describe};

#[test]
fn json_beside_a_picture_has_the_columns_of_metadata() {
    let folder = TestFolder::with_media(&["0.jpg", "1.jpg", "2.jpg", "3.jpg", "4.jpg", "5.jpg"]);
    folder.write("0.json", r#"{"caption": "a boat", "url": "x", "key": "0", "labels": ["sea"]}"#);
    folder.write("1.json", r#"{"objects": {"bbox": [[1, 2, 3, 4]], "categories": ["car"]}}"#);
    folder.write("2.json", r#"{"width": 640, "exif": {}}"#);
    folder.write("3.json", r#"{"caption": {}, "label": "kept"}"#);
    folder.write("4.json", "[1]");
    folder.write("5.json", r#"{"media_id": "m", "width": 640}"#);
    let expected = [
        describe("0.jpg", "a boat", "sea", "", ""),
        describe("1.jpg", "", "", "", "car"),
        describe("3.jpg", "", "kept", "", ""),
    ];
    assert_eq!(folder.descriptions(), expected);
    assert_eq!(folder.problem_of("3.json"), "object 1: its caption is not a string");
    assert_eq!(folder.read_sidecars().sidecars.len(), 4);
}

#[test]
fn json_beside_a_picture_may_have_only_columns_of_the_users_own() {
    let folder = TestFolder::with_media(&["0.jpg", "1.jpg", "2.jpg"]);
    let weather = r#"{"weather": "fog", "similarity": 0.31}"#;
    folder.write("0.json", weather);
    folder.write("1.json", weather);
    folder.write("1.txt", "a boat");
    folder.write("2.json", r#"{"asset": {}, "regions": [], "version": "2.2.0"}"#);
    folder.write("other.json", weather);
    let reading = folder.read_sidecars();
    let columns = [
        ("similarity".to_owned(), ColumnValue::Number(0.31)),
        ("weather".to_owned(), ColumnValue::Text("fog".to_owned())),
    ];
    for name in ["0.jpg", "1.jpg"] {
        assert_eq!(reading.descriptions[Path::new(name)].extra_columns, columns.clone().into());
    }
    assert_eq!(folder.descriptions()[1], describe("1.jpg", "a boat", "", "", ""));
    assert!(folder.problem_of("2.json").starts_with("annotations of VoTT"));
    assert_eq!(reading.sidecars.len(), 4);
}

#[test]
fn a_sample_with_several_pictures_ends_its_name_at_the_first_dot() {
    let folder = TestFolder::with_media(&["s/0.left.jpg", "s/0.right.jpg", "s/1.jpg", "s/1.b.jpg"]);
    folder.write("s/0.json", r#"{"caption": "a boat"}"#);
    folder.write("s/0.cls", "sea");
    folder.write("s/0.right.txt", "its own");
    folder.write("s/1.txt", "of one");
    folder.write("s/2.jpg", "");
    folder.write("s/2.caption.txt", "of two");
    folder.write("s/2.label.cls", "sky");
    for name in ["s/f.0001.jpg", "s/f.0002.jpg"] {
        folder.write(name, "");
    }
    folder.write("s/f.0001.caption.txt", "of the first frame");
    folder.write("s/3.jpg", "");
    folder.write("s/3.meta.json", r#"{"caption": "of three"}"#);
    folder.write("s/3.other.txt", "of another picture");
    let expected = [
        describe("s/0.left.jpg", "a boat", "sea", "", ""),
        describe("s/0.right.jpg", "a boat", "sea", "", ""),
        describe("s/1.b.jpg", "", "s", "", ""),
        describe("s/1.jpg", "of one", "s", "", ""),
        describe("s/2.jpg", "of two", "sky", "", ""),
        describe("s/3.jpg", "of three", "s", "", ""),
        describe("s/f.0001.jpg", "of the first frame", "s", "", ""),
        describe("s/f.0002.jpg", "", "s", "", ""),
    ];
    assert_eq!(folder.descriptions(), expected);
}

#[test]
fn a_sidecar_belongs_only_to_the_picture_of_its_own_spelling() {
    let names = ["A", "a", "cafe\u{301}", "caf\u{e9}"];
    for end in [".json", ".jpg.json", ".meta.json"] {
        let folder = TestFolder::with_media(&[]);
        let mut expected = Vec::new();
        for (number, name) in names.iter().enumerate() {
            folder.write(&format!("{name}.jpg"), "");
            folder.write(&format!("{name}{end}"), format!(r#"{{"caption": "{number}"}}"#));
            expected.push(describe(&format!("{name}.jpg"), &number.to_string(), "", "", ""));
        }
        assert_eq!(folder.descriptions(), expected, "{end}");
    }
}

#[test]
fn a_shard_that_was_unpacked_is_not_a_label() {
    let folder = TestFolder::with_media(&["0.tar/0.jpg", "cat/0.tar/0.jpg"]);
    let expected = [describe("cat/0.tar/0.jpg", "", "cat", "", "")];
    assert_eq!(folder.descriptions(), expected);
}

#[test]
fn a_class_is_a_number_or_a_name() {
    let folder = TestFolder::with_media(&["0.jpg", "1.jpg", "2.jpg", "3.jpg"]);
    folder.write("0.cls", "1\n");
    folder.write("1.cls", "7");
    folder.write("2.cls", " tabby cat \n");
    folder.write("3.cls", "two\nlines");
    folder.write("classes.txt", "dog\ncat\n");
    let expected = [
        describe("0.jpg", "", "cat", "", ""),
        describe("1.jpg", "", "7", "", ""),
        describe("2.jpg", "", "tabby cat", "", ""),
    ];
    assert_eq!(folder.descriptions(), expected);
    assert_eq!(folder.problem_of("3.cls"), "it is neither a number nor a name");
}

#[test]
fn members_of_a_shard_describe_its_pictures() {
    let folder = TestFolder::with_media(&[]);
    let mut shard = Builder::new(Vec::new());
    for (name, bytes) in [
        ("./000.jpg", &b"picture"[..]),
        ("./000.txt", b"a boat"),
        ("./000.cls", b"3"),
        ("./001.jpg", b"picture"),
        ("./001.json", br#"{"caption": "a hill", "tags": ["x"]}"#),
    ] {
        let mut header = Header::new_ustar();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        shard.append_data(&mut header, name, bytes).unwrap();
    }
    folder.write("00000.tar", shard.into_inner().unwrap());
    let (archive, into) = (folder.path("00000.tar"), folder.path("unpacked"));
    let stop = AtomicBool::new(false);
    unpack(&archive, ArchiveKind::Tar, &into, UnpackLimits::default(), &stop).unwrap();
    let folder = SandboxedDir::open(&into).unwrap();
    let reading = read(&folder, &scan_folder(&folder, &FolderPatterns::default()).unwrap());
    let texts: Vec<_> = reading
        .descriptions
        .iter()
        .map(|(path, it)| (path.to_str().unwrap(), it.caption.as_deref(), it.labels.join(" ")))
        .collect();
    let expected =
        [("000.jpg", Some("a boat"), "3".to_owned()), ("001.jpg", Some("a hill"), String::new())];
    assert_eq!(texts, expected);
}

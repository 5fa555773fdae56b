//! File kinds by name, and safe paths for external names.

use std::path::Component;

use proptest::prelude::*;
use tessera_media::ingest::file_names::sanitized_path;
use tessera_model::FileKind;
use tessera_model::archive_paths::{MAX_DEPTH, MAX_PATH_BYTES};

#[test]
fn unsafe_names_are_sanitized_and_stay_distinct() {
    let shown = |name: &str| sanitized_path(name).to_str().unwrap().to_owned();
    assert_eq!(shown("cats/1.jpg"), "cats/1.jpg");
    assert!(shown("../../x.png").starts_with("x_"));
    assert_eq!(sanitized_path("../../x.png").extension().unwrap(), "png");
    assert!(shown("C:\\pics\\x.png").starts_with("C_/pics/x_"));
    assert!(shown("a\u{1b}.png").starts_with("a__"));
    assert!(shown("..").starts_with("file_"));
    assert!(shown("").starts_with("file_"));
    assert_ne!(sanitized_path("../x.png"), sanitized_path("../../x.png"));
    assert_eq!(sanitized_path("../x.png"), sanitized_path("../x.png"));
}

proptest! {
    #[test]
    fn a_sanitized_path_never_leaves_the_folder(name in "([.]{0,2}[/\\\\]?\\PC{0,4}[\0-\u{1f}:]?){0,80}") {
        let path = sanitized_path(&name);
        prop_assert!(path.components().all(|part| matches!(part, Component::Normal(_))));
        prop_assert!(path.components().count() <= MAX_DEPTH);
        prop_assert!(path.as_os_str().len() <= MAX_PATH_BYTES);
        prop_assert!(path.components().all(|part| part.as_os_str().len() < 230));
        let unsafe_left = path.to_str().unwrap().contains(|c: char| c.is_control() || c == '\\');
        prop_assert!(!unsafe_left, "{:?}", path);
    }
}

#[test]
fn file_kinds_ignore_the_case_of_extensions() {
    let kinds = [
        ("a/b.JPeG", FileKind::Picture),
        ("scan.TIFF", FileKind::Picture),
        ("still.avif", FileKind::Picture),
        ("clip.v2.MP4", FileKind::Video),
        ("clip.wmv", FileKind::Video),
        ("metadata.jsonl", FileKind::Sidecar),
        ("rest.tar.gz", FileKind::Archive),
        ("jpg", FileKind::Other),
        ("a.jpg/readme", FileKind::Other),
        ("", FileKind::Other),
    ];
    for (name, kind) in kinds {
        assert_eq!(FileKind::from_name(name), kind, "{name}");
    }
    assert!(FileKind::Video.max_size() > FileKind::Picture.max_size());
}

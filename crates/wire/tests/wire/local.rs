//! Bodies that only local services send.

use serde_json::{Value, json};

use tessera_model::{FileChanges, MediaMap, RescanResult, SafeText};
use tessera_wire::{
    compat::read_overview, explore::read_members, fields::Fields, local_dataset::*, map::*,
};

const ID: &str = "9a205a5e-0000-46be-83a3-000000000001";

#[test]
fn the_state_of_a_folder_is_read_whole_or_not_at_all() {
    let body = json!({
        "folder_missing": true, "uploads": 3, "excluded": 4,
        "patterns": {"include": ["*.jpg"], "exclude": ["tmp/"]},
        "encoding": {"done": 2, "total": 10, "pictures_per_second": 1.5},
    });
    let local = read_local_dataset(Fields::from(&body)).unwrap();
    assert!(local.folder_missing);
    assert_eq!((local.uploads, local.excluded), (3, 4));
    assert_eq!(local.patterns.include, ["*.jpg"]);
    assert_eq!(local.patterns.exclude, ["tmp/"]);
    let encoding = local.encoding.unwrap();
    assert_eq!((encoding.done, encoding.total, encoding.per_second), (2, 10, Some(1.5)));
    let mut huge = body.clone();
    huge["encoding"]["done"] = json!(u64::MAX);
    assert_eq!(read_local_dataset(Fields::from(&huge)).unwrap().encoding, None);
    for key in ["folder_missing", "uploads", "excluded", "patterns"] {
        let mut damaged = body.clone();
        damaged[key] = json!("x");
        assert!(read_local_dataset(Fields::from(&damaged)).is_none(), "{key}");
    }
}

#[test]
fn a_rescan_has_all_numbers_or_none() {
    let changes = FileChanges { added: 1, changed: 2, removed: 3 };
    for (body, expected) in [
        (
            json!({"indexing": true, "added": 1, "changed": 2, "removed": 3}),
            Some(RescanResult { changes: Some(changes), is_indexing: true }),
        ),
        (json!({"indexing": false}), Some(RescanResult { changes: None, is_indexing: false })),
        (json!({"indexing": false, "added": 1}), None),
        (json!({"added": 1, "changed": 2, "removed": 3}), None),
    ] {
        assert_eq!(read_rescan(Fields::from(&body)), expected, "{body}");
    }
}

#[test]
fn the_remaining_time_follows_from_the_speed() {
    let progress = tessera_model::EncodingProgress { done: 10, total: 40, per_second: Some(1.5) };
    let body = EncodingBody::from(progress);
    assert_eq!((body.pictures_per_second, body.seconds_left), (Some(1.5), Some(20)));
}

fn map() -> Value {
    json!({
        "media_count": 5, "media_ids": [ID], "paths": ["a.jpg"], "x": [12_500], "y": [5_000],
        "labels": {"names": ["dog", "cat"], "values": [[0, 1]]}, "tags": {"names": [], "values": [[]]},
        "issues": [{"name": "blur", "percents": [80]}],
    })
}

#[test]
fn a_map_is_read_only_with_lists_of_equal_length() {
    let MediaMap { media, points, labels, tags, issues } = read_map(Fields::from(&map())).unwrap();
    assert_eq!((media, points.len()), (5, 1));
    assert_eq!((points[0].path.as_str(), points[0].position), ("a.jpg", [1.25, 0.5]));
    assert_eq!((&points[0].labels[..], &points[0].tags[..]), (&[0, 1][..], &[][..]));
    assert_eq!((labels, tags.is_empty()), (["dog", "cat"].map(SafeText::name).to_vec(), true));
    assert_eq!((issues[0].name.as_str(), &issues[0].percents[..]), ("blur", &[80][..]));
    assert_eq!(write_coordinate(1.25), 12_500);
    for (key, damage) in [
        ("x", json!([1, 2])),
        ("labels", json!({"names": ["dog"], "values": [[0, 1]]})),
        ("issues", json!([{"name": "blur", "percents": []}])),
        ("media_ids", json!("x")),
    ] {
        let mut damaged = map();
        damaged[key] = damage;
        assert!(read_map(Fields::from(&damaged)).is_none(), "{key}");
    }
}

#[test]
fn members_and_overviews_without_their_list_are_not_empty() {
    assert_eq!(
        read_members(Fields::from(&json!({"previews": []}))).map(|members| members.len()),
        Some(0)
    );
    assert!(read_members(Fields::from(&json!({"previews": [5]}))).is_none());
    assert!(read_members(Fields::from(&json!({"previews": [{"media_id": ID}]}))).is_some());
    assert!(read_overview(Fields::from(&json!({"tags": []}))).is_none());
    assert!(read_overview(Fields::from(&json!({"labels": []}))).is_some());
}

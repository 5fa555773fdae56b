use serde_json::{Value, json};

use tessera_wire::{
    add_media::read_processing,
    dataset::{read_dataset, read_datasets},
    explore::read_page,
    export::read_status,
    fields::*,
    query_image::read_anchor,
};

const ID: &str = "ad48d250-0000-11f1-bfca-000000000001";

/// Whether `read` could read the object, and the fields that it could not.
fn noted<T>(object: &Value, read: impl FnOnce(Fields<'_>) -> Option<T>) -> (bool, Vec<String>) {
    let unreadable = UnreadableFields::default();
    let is_read = read(Fields::noting(object, &unreadable)).is_some();
    (is_read, unreadable.into_fields().iter().map(ToString::to_string).collect())
}

#[test]
fn needed_fields_of_the_wrong_type_are_named_once_and_the_rest_is_read() {
    let record = json!({"id": ID, "status_new": ["READY"], "n_images": {}, "progress": "soon",
        "n_videos": -1, "owned_by": null, "description": [[1]]});
    let (is_read, names) = noted(&record, read_dataset);
    assert!(is_read);
    let expected = [
        "status_new is an unexpected list",
        "progress is unexpected text",
        "n_images is an unexpected object",
    ];
    assert_eq!(names, expected);
    let list = json!([record, record]);
    let of_list = expected.map(|name| format!("datasets.{name}"));
    assert_eq!(noted(&list, read_datasets).1, of_list);
}

#[test]
fn a_field_without_which_nothing_can_be_read_is_named_also_when_it_is_missing() {
    let task = ID.parse().unwrap();
    let clusters = json!({"clusters": [{"cluster_id": ID, "type": "PLANETS",
        "previews": [{"media_id": ID}, {"media_id": 7}]}, {"cluster_id": null}]});
    for (is_read, names) in [
        noted(&json!({}), read_dataset),
        noted(&json!({"datasets": 3}), read_datasets),
        noted(&json!({}), read_page),
        noted(&json!({"anchor_media_id": ""}), read_anchor),
    ] {
        assert!(!is_read && !names.is_empty(), "{names:?}");
    }
    let success = json!({"status": "success"});
    assert_eq!(noted(&success, read_processing), (true, vec![]));
    let missing = vec!["status is missing".to_owned()];
    assert_eq!(noted(&json!({}), read_processing), (false, missing));
    assert_eq!(
        noted(&clusters, read_page),
        (
            true,
            vec![
                "previews.media_id is an unexpected number".to_owned(),
                "clusters.type is unexpected text".to_owned(),
                "clusters.cluster_id is null".to_owned(),
            ]
        )
    );
    let without = json!({"download_uri": null});
    assert_eq!(
        noted(&without, |status| read_status(status, task)),
        (true, vec!["status is missing".to_owned()])
    );
}

#[test]
fn a_warning_says_what_was_found_instead_of_the_field() {
    for (status, found) in [
        (json!(true), "status is true or false"),
        (json!(7), "status is an unexpected number"),
        (json!("late"), "status is unexpected text"),
        (json!(["success"]), "status is an unexpected list"),
        (json!({"word": "success"}), "status is an unexpected object"),
        (json!(null), "status is null"),
    ] {
        let body = json!({ "status": status });
        assert_eq!(noted(&body, read_processing), (false, vec![found.to_owned()]));
    }
}

#[test]
fn without_an_unreadable_field_there_is_nothing_to_warn_about() {
    let unreadable = UnreadableFields::default();
    let body = json!({"status": "success"});
    let object = Fields::noting(&body, &unreadable);
    assert!(read_processing(object).is_some() && unreadable.is_empty());
    object.note("message");
    assert!(!unreadable.is_empty());
    // Without a place to note it, it is forgotten.
    Fields::from(&body).note("message");
    assert_eq!(unreadable.into_fields().len(), 1);
}

#[test]
fn numbers_may_be_text_negative_or_null() {
    let value = json!({"a": "0.5", "b": -1, "c": null, "d": 250, "e": "x", "f": 3});
    assert_eq!(number(&value, "a"), Some(0.5));
    assert_eq!(count(&value, "b"), None);
    assert_eq!(count(&value, "c"), None);
    assert_eq!(percent(&value, "d"), Some(100));
    assert_eq!(number(&value, "e"), None);
    assert_eq!(count(&value, "f"), Some(3));
}

#[test]
fn names_in_every_observed_shape() {
    let of = |value: Value| {
        let names = names(&json!({ "k": value }), "k", 99);
        names.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
    };
    assert_eq!(of(json!(null)), "");
    assert_eq!(of(json!({})), "");
    assert_eq!(of(json!("cat")), "cat");
    assert_eq!(of(json!(["cat", "dog"])), "cat,dog");
    assert_eq!(of(json!([{"name": "cat", "id": 1}, {"id": "t1"}])), "cat,t1");
    assert_eq!(of(json!({"cat": 3})), "cat");
    assert_eq!(of(json!({"95233006-eddc-11ef-b303-76dbc3993eb2": "mine"})), "mine");
}

#[test]
fn any_single_value_is_text_and_null_is_none() {
    let value = json!({"a": "x", "b": 1.5, "c": true, "d": null, "e": ["x"], "f": {}, "g": ""});
    for (key, read) in [
        ("a", Some("x")),
        ("b", Some("1.5")),
        ("c", Some("true")),
        ("d", None),
        ("e", None),
        ("f", None),
        ("g", Some("")),
        ("missing", None),
    ] {
        assert_eq!(text(&value, key).as_deref(), read, "{key}");
    }
    for (keys, read) in [
        (&["a", "b"][..], Some("x")),
        (&["g", "b"], Some("1.5")),
        (&["d", "e", "c"], Some("true")),
        (&["g", "d"], None),
        (&[], None),
    ] {
        assert_eq!(first_text(&value, keys).as_deref(), read, "{keys:?}");
    }
    assert_eq!(text(&json!([1]), "a"), None, "a list has no fields");
}

#[test]
fn numbers_and_counts_have_bounds() {
    for (sent, as_number, as_count, as_percent) in [
        (json!(0), Some(0.0), Some(0), Some(0)),
        (json!(1), Some(1.0), Some(1), Some(1)),
        (json!(" 42 "), Some(42.0), Some(42), Some(42)),
        (json!(99.9), Some(99.9), Some(99), Some(99)),
        (json!(-0.5), Some(-0.5), None, Some(0)),
        (json!(100), Some(100.0), Some(100), Some(100)),
        (json!(101), Some(101.0), Some(101), Some(100)),
        (json!(9e15), Some(9e15), Some(9_000_000_000_000_000), Some(100)),
        (json!(9.1e15), Some(9.1e15), None, Some(100)),
        (json!("inf"), None, None, None),
        (json!("NaN"), None, None, None),
        (json!(""), None, None, None),
        (json!(true), None, None, None),
        (json!([1]), None, None, None),
    ] {
        let value = json!({ "k": sent });
        assert_eq!(number(&value, "k"), as_number, "{sent}");
        assert_eq!(count(&value, "k"), as_count, "{sent}");
        assert_eq!(percent(&value, "k"), as_percent, "{sent}");
    }
}

#[test]
fn a_word_is_parsed_and_an_id_found_under_either_name() {
    use tessera_model::{EntityType, MediaId};
    let id = "95233006-eddc-11ef-b303-76dbc3993eb2";
    let value = json!({"type": "object", "other": "planet", "n": 4, "id": id, "bad": "x"});
    assert_eq!(parsed(&value, "type"), Some(EntityType::Objects));
    assert_eq!(parsed::<EntityType>(&value, "other"), None);
    assert_eq!(parsed(&value, "n"), Some(4_u8));
    let found = |keys: &[&str]| required::<MediaId>(&value, keys).map(|id| id.to_string());
    assert_eq!(found(&["media_id", "id"]).as_deref(), Some(id));
    assert_eq!(found(&["bad", "id"]), None, "the first with text decides");
    assert_eq!(found(&["media_id"]), None);
}

#[test]
fn names_that_cannot_be_read_are_noted_and_the_others_kept() {
    let id = "95233006-eddc-11ef-b303-76dbc3993eb2";
    for (sent, read, unreadable) in [
        (json!(["cat", null, "dog"]), "cat,dog", false),
        (json!(["cat", 7, {"name": "dog"}]), "cat,dog", true),
        (json!([{"text": "a"}, {"caption": "b"}]), "a,b", false),
        (json!([{"count": 3}]), "", true),
        (json!(""), "", false),
        (json!(7), "", true),
        (json!({id: "mine", "cat": "3"}), "mine,cat", false),
        (json!({id: 7}), id, true),
        (json!({"cat": {"count": 3}, "dog": null}), "cat,dog", false),
        (json!("a-name-that-is-too-long"), "a-name-t…", false),
    ] {
        let value = json!({ "k": sent });
        let noted = UnreadableFields::default();
        let names = names(Fields::noting(&value, &noted), "k", if read == id { 99 } else { 8 });
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        assert_eq!((names.join(",").as_str(), !noted.is_empty()), (read, unreadable), "{sent}");
    }
}

#[test]
fn nothing_has_no_name_rather_than_an_empty_one() {
    for sent in [json!(null), json!(""), json!([]), json!([null]), json!({}), json!(7)] {
        assert_eq!(names(&json!({ "k": sent }), "k", 99), [], "{sent}");
    }
    assert_eq!(names(&json!({}), "k", 99), []);
}

#[test]
fn times_have_microseconds_and_no_zone() {
    assert_eq!(format_iso8601(1_745_480_686_136_915), "2025-04-24T07:44:46.136915");
    assert_eq!(format_iso8601(0), "1970-01-01T00:00:00.000000");
}

#[test]
fn times_before_the_epoch_and_beyond_the_calendar_are_written() {
    for (microseconds, written) in [
        (1, "1970-01-01T00:00:00.000001"),
        (-1, "1969-12-31T23:59:59.999999"),
        (951_827_696_000_000, "2000-02-29T12:34:56.000000"),
        (i64::MAX, "1970-01-01T00:00:00.000000"),
    ] {
        assert_eq!(format_iso8601(microseconds), written);
    }
}

use serde_json::{Value, json};

use tessera_wire::{
    add_media::read_processing,
    dataset::{read_dataset, read_datasets},
    explore::{read_anchor, read_page},
    export::read_status,
    fields::*,
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
    let (is_read, names) = noted(&record, |record| read_dataset(record));
    assert!(is_read);
    let expected = [
        "status_new is an unexpected list",
        "progress is unexpected text",
        "n_images is an unexpected object",
    ];
    assert_eq!(names, expected);
    let list = json!([record, record]);
    let of_list = expected.map(|name| format!("datasets.{name}"));
    assert_eq!(noted(&list, |list| read_datasets(list)).1, of_list);
}

#[test]
fn a_field_without_which_nothing_can_be_read_is_named_also_when_it_is_missing() {
    let task = ID.parse().unwrap();
    let clusters = json!({"clusters": [{"cluster_id": ID, "type": "PLANETS",
        "previews": [{"media_id": ID}, {"media_id": 7}]}, {"cluster_id": null}]});
    for (is_read, names) in [
        noted(&json!({}), |record| read_dataset(record)),
        noted(&json!({"datasets": 3}), |list| read_datasets(list)),
        noted(&json!({}), |page| read_page(page)),
        noted(&json!({"anchor_media_id": ""}), |anchor| read_anchor(anchor)),
    ] {
        assert!(!is_read && !names.is_empty(), "{names:?}");
    }
    let success = json!({"status": "success"});
    assert_eq!(noted(&success, |body| read_processing(body)), (true, vec![]));
    let missing = vec!["status is missing".to_owned()];
    assert_eq!(noted(&json!({}), |body| read_processing(body)), (false, missing));
    assert_eq!(
        noted(&clusters, |page| read_page(page)),
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
        assert_eq!(noted(&body, |body| read_processing(body)), (false, vec![found.to_owned()]));
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

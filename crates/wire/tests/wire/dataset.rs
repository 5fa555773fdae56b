use proptest::prelude::*;
use serde_json::json;

use tessera_model::*;
use tessera_wire::{dataset::*, fields::Fields};

const ID: &str = "ad48d250-0000-11f1-bfca-000000000001";

#[test]
fn list_shapes() {
    let row = json!({"id": ID, "display_name": "demo", "status_new": "READY"});
    for list in [json!([row]), json!({"datasets": [row]}), json!({"total": 1, "items": [row]})] {
        let read = read_datasets(Fields::from(&list)).unwrap();
        assert_eq!((read.datasets.len(), read.unreadable), (1, 0), "{list}");
    }
    let read = read_datasets(Fields::from(&json!([row, {"id": "x"}, 3]))).unwrap();
    assert_eq!((read.datasets.len(), read.unreadable), (1, 2));
    assert!(read_datasets(Fields::from(&json!("<html>"))).is_none());
    assert!(
        read_datasets(Fields::from(&json!([3, {"id": "x"}]))).is_none(),
        "nothing in it is a dataset"
    );
    assert_eq!(read_datasets(Fields::from(&json!([]))).unwrap(), DatasetList::default());
}

#[test]
fn every_field_of_a_record_is_shown_without_signatures() {
    let record = json!({"zeta": {"a": [1]}, "preview_uri": "https://cdn/x.jpg?Signature=abc",
        "status_new": "READY", "id": ID, "fatal_error_msg": null, "note": "\u{1b}[2J"});
    let fields = read_fields(Fields::from(&record)).unwrap();
    let shown: Vec<String> =
        fields.iter().map(|field| format!("{}={}", field.name, field.value)).collect();
    assert_eq!(
        shown,
        [
            &format!("id={ID}"),
            "status_new=READY",
            "fatal_error_msg=null",
            "note=␛[2J",
            "preview_uri=https://cdn/x.jpg",
            r#"zeta={"a":[1]}"#,
        ]
    );
    assert_eq!(read_fields(Fields::from(&json!([]))), None);
}

#[test]
fn legacy_status_is_used_and_flagged() {
    let dataset =
        read_dataset(Fields::from(&json!({"dataset_id": ID, "status": "UPDATING"}))).unwrap();
    assert_eq!((dataset.status, dataset.status_is_legacy), (Status::ReadOnly, true));
    assert_eq!(dataset.legacy_status, Some(SafeText::name("UPDATING")));
}

proptest! {
    #[test]
    fn any_time_is_kept_as_it_was_sent(
        time in "[-+]?[0-9]{1,12}-[0-9]{1,3}-[0-9]{1,3}[T ]?[0-9:]{0,9}(\\.[0-9]{0,12})?(Z|[+-][0-9:]{0,6})?|\\PC*",
    ) {
        let read = read_dataset(Fields::from(&json!({"id": ID, "display_name": "a", "created_at": time}))).unwrap();
        prop_assert_eq!(read.created_at, Some(SafeText::name(&time)));
    }
}

#[test]
fn times_of_the_wrong_type_and_odd_years_are_read() {
    for (sent, shown) in [
        (json!("2025-04-24T07:44:46.136915"), Some("2025-04-24T07:44:46.136915")),
        (json!("0000-00-00T24:60:60"), Some("0000-00-00T24:60:60")),
        (json!("-271821-04-20T00:00:00"), Some("-271821-04-20T00:00:00")),
        (json!(1_745_480_686), Some("1745480686")),
        (json!(null), None),
        (json!([2025]), None),
    ] {
        let read =
            read_dataset(Fields::from(&json!({"id": ID, "display_name": "a", "created_at": sent})))
                .unwrap();
        assert_eq!(read.created_at.as_ref().map(SafeText::as_str), shown, "{sent}");
    }
}

#[test]
fn a_record_is_written_as_it_was_read() {
    let record = json!({"id": ID, "display_name": "demo", "status_new": "READ ONLY",
        "status": "UPDATING", "progress": 40, "owned_by": "me",
        "created_at": "2025-04-24T07:44:46.136915", "n_images": 3, "n_videos": 2, "n_objects": 1,
        "fatal_error_msg": null});
    assert_eq!(json!(DatasetBody::new(&read_dataset(Fields::from(&record)).unwrap())), record);
    let failed = json!({"id": ID, "display_name": "demo", "status_new": "ERROR",
                        "fatal_error_msg": "disk full"});
    assert_eq!(
        json!(DatasetBody::new(&read_dataset(Fields::from(&failed)).unwrap()))["fatal_error_msg"],
        "disk full"
    );
}

#[test]
fn each_status_has_the_legacy_status_that_reads_back_as_it() {
    for (status, legacy, read_back) in [
        (Status::ReadOnly, "UPDATING", Status::ReadOnly),
        (Status::PartialIndex, "READY", Status::Ready),
        (Status::Ready, "READY", Status::Ready),
        (Status::Error, "FATAL_ERROR", Status::Error),
        (Status::Indexing, "INDEXING", Status::Indexing),
        (Status::parse("RESTING"), "RESTING", Status::parse("RESTING")),
    ] {
        assert_eq!(legacy_status(&status), legacy);
        assert_eq!(Status::parse_legacy(legacy), read_back, "{legacy}");
    }
}

#[test]
fn only_links_lose_what_follows_a_question_mark() {
    let record = json!({"id": ID, "description": "what is it? a dog",
                        "source_uri": "s3://bucket/a?b#c"});
    let fields = read_fields(Fields::from(&record)).unwrap();
    let shown: Vec<&str> = fields.iter().map(|field| field.value.as_str()).collect();
    assert_eq!(shown, [ID, "what is it? a dog", "s3://bucket/a"]);
}

use serde_json::json;

use tessera_model::*;
use tessera_wire::dataset::*;

const ID: &str = "ad48d250-0000-11f1-bfca-000000000001";

#[test]
fn list_shapes() {
    let row = json!({"id": ID, "display_name": "demo", "status_new": "READY"});
    for list in [json!([row]), json!({"datasets": [row]}), json!({"total": 1, "items": [row]})] {
        let (datasets, skipped) = read_datasets(&list).unwrap();
        assert_eq!((datasets.len(), skipped), (1, 0), "{list}");
    }
    let (datasets, skipped) = read_datasets(&json!([row, {"id": "x"}, 3])).unwrap();
    assert_eq!((datasets.len(), skipped), (1, 2));
    assert!(read_datasets(&json!("<html>")).is_none());
}

#[test]
fn every_field_of_a_record_is_shown_without_signatures() {
    let record = json!({"zeta": {"a": [1]}, "preview_uri": "https://cdn/x.jpg?Signature=abc",
        "status_new": "READY", "id": ID, "fatal_error_msg": null, "note": "\u{1b}[2J"});
    let fields = read_fields(&record).unwrap();
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
    assert_eq!(read_fields(&json!([])), None);
}

#[test]
fn legacy_status_is_used_and_flagged() {
    let dataset = read_dataset(&json!({"dataset_id": ID, "status": "UPDATING"})).unwrap();
    assert_eq!((dataset.status, dataset.status_is_legacy), (Status::ReadOnly, true));
    assert_eq!(dataset.legacy_status, Some(SafeText::name("UPDATING")));
}

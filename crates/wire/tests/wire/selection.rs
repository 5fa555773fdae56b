use serde_json::{Value, json};
use tessera_model::{vql::*, *};
use tessera_wire::selection::*;

const ID: &str = "9a205a5e-0000-46be-83a3-000000000001";

fn reason(body: &Value) -> String {
    read(body.to_string().as_bytes()).unwrap_err().to_string()
}

#[test]
fn what_is_written_is_read_back() {
    let id = ID.parse::<MediaId>().unwrap();
    let cluster = |filters, exclude| SelectionItem::Cluster {
        cluster: ID.parse().unwrap(),
        entity: EntityType::Objects,
        filters,
        exclude,
    };
    let filters = vec![Filter::uniqueness(0.5).unwrap()];
    let items = [
        SelectionItem::Media(vec![id]),
        cluster(Vec::new(), Vec::new()),
        cluster(filters, vec![id, id]),
    ];
    assert_eq!(read(write(&items).to_string().as_bytes()).unwrap(), items);
}

#[test]
fn the_documented_shape_is_read() {
    let body = json!({"media_selection": [
        {"type": "cluster", "payload": {"cluster_id": ID,
         "cluster_filters": {"entity_type": "IMAGES", "labels": ["cat"]},
         "exclude_media_ids": []}}]});
    let items = read(body.to_string().as_bytes()).unwrap();
    let [SelectionItem::Cluster { entity, filters, exclude, .. }] = items.as_slice() else {
        panic!("{items:?}");
    };
    assert_eq!((*entity, filters.len(), exclude.len()), (EntityType::Images, 1, 0));
}

#[test]
fn errors_name_item_and_field() {
    let item = |item: Value| json!({"media_selection": [item]});
    assert!(reason(&json!([])).starts_with("media_selection: must be an array"));
    assert!(reason(&json!({"media_selection": []})).contains("1 to 10000"));
    for (wrong, words) in [
        (json!({}), "item 0, payload: must be an object"),
        (json!({"payload": {}}), "type: must be 'media' or 'cluster'"),
        (json!({"type": "media", "payload": {}}), "payload.media_ids: field required"),
        (json!({"type": "media", "payload": {"media_ids": []}}), "must not be empty"),
        (json!({"type": "media", "payload": {"media_ids": ["x"]}}), "array of UUIDs"),
        (json!({"type": "cluster", "payload": {"cluster_id": ID}}), "cluster_filters: must"),
        (
            json!({"type": "cluster", "payload": {"cluster_id": ID, "cluster_filters": {}}}),
            "entity_type: must be",
        ),
        (
            json!({"type": "cluster", "payload": {"cluster_id": 7,
                   "cluster_filters": {"entity_type": "IMAGES"}}}),
            "cluster_id: must be a UUID",
        ),
        (
            json!({"type": "cluster", "payload": {"cluster_id": ID,
                   "cluster_filters": {"entity_type": "IMAGES", "vql": "{"}}}),
            "cluster_filters.vql: ",
        ),
    ] {
        let reason = reason(&item(wrong));
        assert!(reason.contains(words), "{reason}");
    }
}

#[test]
fn long_lists_are_refused() {
    let list = |element: &str, count: usize| format!("[{}]", vec![element; count].join(","));
    let id = format!("\"{ID}\"");
    let cluster = |labels: &str| {
        format!(
            r#"{{"type": "cluster", "payload": {{"cluster_id": {id}, "cluster_filters":
                {{"entity_type": "IMAGES", "labels": {labels}}}}}}}"#
        )
    };
    let read_items = |items: &str| read(format!(r#"{{"media_selection": {items}}}"#).as_bytes());
    let reason = |items: &str| read_items(items).unwrap_err().to_string();
    let one = format!(r#"{{"type": "media", "payload": {{"media_ids": [{id}]}}}}"#);
    assert_eq!(read_items(&list(&one, MAX_ITEMS)).unwrap().len(), MAX_ITEMS);
    let expected = "media_selection: must have 1 to 10000 items";
    assert_eq!(reason(&list(&one, MAX_ITEMS + 1)), expected);
    assert!(read_items(&format!("[{}]", cluster(&list("\"a\"", 100)))).is_ok());
    let expected = "item 0, payload.cluster_filters.labels: must be 1 to 100 texts";
    assert_eq!(reason(&format!("[{}]", cluster(&list("\"a\"", 101)))), expected);
}

#[test]
fn an_object_is_neither_an_array_nor_ambiguous() {
    for (body, words) in [
        ("", "no JSON: "),
        ("{\"media_selection\": [{}", "no JSON: "),
        ("[[]]", "media_selection: must be an array"),
        (r#"{"media_selection": [["media", {}]]}"#, "item 0, payload: must be an object"),
        (r#"{"media_selection": [{"type": "media", "payload": [[]]}]}"#, "payload: must be"),
        (r#"{"media_selection": [{"payload": {}, "payload": {}}]}"#, "duplicate field `payload`"),
    ] {
        let reason = read(body.as_bytes()).unwrap_err().to_string();
        assert!(reason.contains(words), "{body}: {reason}");
    }
}

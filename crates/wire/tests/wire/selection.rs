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
    let too_many = list(&one, MAX_ITEMS + 1);
    assert_eq!(reason(&too_many), expected);
    let file = read_file(format!(r#"{{"media_selection": {too_many}}}"#).as_bytes()).unwrap();
    assert_eq!(file.len(), MAX_ITEMS + 1, "a file of the user has no limit");
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
        (r#"{"media_selection": [], "media_selection": []}"#, "duplicate field `media_selection`"),
        (r#"{"media_selection": [["media", {}]]}"#, "item 0, payload: must be an object"),
        (r#"{"media_selection": [{"type": "media", "payload": [[]]}]}"#, "payload: must be"),
        (r#"{"media_selection": [{"payload": {}, "payload": {}}]}"#, "duplicate field `payload`"),
    ] {
        let reason = read(body.as_bytes()).unwrap_err().to_string();
        assert!(reason.contains(words), "{body}: {reason}");
    }
}

#[test]
fn a_selection_is_written_as_the_interface_shows_it() {
    let id = ID.parse::<MediaId>().unwrap();
    let cluster = |filters| SelectionItem::Cluster {
        cluster: ID.parse().unwrap(),
        entity: EntityType::Images,
        filters,
        exclude: vec![id],
    };
    let filters = vec![Filter::uniqueness(0.5).unwrap()];
    let vql = r#"[{"uniqueness":{"op":"uniqueness","value":0.5}}]"#;
    let written = |cluster_filters: Value| {
        json!({"type": "cluster", "payload": {"cluster_id": ID,
            "cluster_filters": cluster_filters, "exclude_media_ids": [ID]}})
    };
    let items = [SelectionItem::Media(vec![id]), cluster(vec![]), cluster(filters)];
    assert_eq!(
        write(&items),
        json!({"media_selection": [
            {"type": "media", "payload": {"media_ids": [ID]}},
            written(json!({"entity_type": "IMAGES"})),
            written(json!({"entity_type": "IMAGES", "vql": vql})),
        ]})
    );
}

#[test]
fn filters_of_a_cluster_are_an_array_or_the_text_of_a_query_and_labels() {
    let read_filters = |filters: Value| {
        let body = json!({"media_selection": [{"type": "cluster", "payload":
            {"cluster_id": ID, "cluster_filters": filters}}]});
        read(body.to_string().as_bytes()).map(|mut items| match items.remove(0) {
            SelectionItem::Cluster { filters, .. } => filters,
            SelectionItem::Media(_) => panic!("not a cluster"),
        })
    };
    let unique = json!([{"uniqueness": {"op": "uniqueness", "value": 0.5}}]);
    let filter = Filter::uniqueness(0.5).unwrap();
    let labels = Filter::labels(LabelRule::OneOf, ["cat"]).unwrap();
    for (sent, expected) in [
        (json!({"entity_type": "IMAGES"}), vec![]),
        (json!({"entity_type": "images", "vql": unique}), vec![filter.clone()]),
        (json!({"entity_type": "OBJECTS", "vql": unique.to_string()}), vec![filter.clone()]),
        (json!({"entity_type": "IMAGES", "labels": ["cat"]}), vec![labels.clone()]),
        (json!({"entity_type": "IMAGES", "vql": unique, "labels": ["cat"]}), vec![filter, labels]),
    ] {
        assert_eq!(read_filters(sent.clone()), Ok(expected), "{sent}");
    }
    for (sent, message) in [
        (
            json!({"entity_type": "IMAGES", "labels": []}),
            "item 0, payload.cluster_filters.labels: must be a list of 1 to 100 entries",
        ),
        (
            json!({"entity_type": "IMAGES", "labels": "cat"}),
            "item 0, payload.cluster_filters.labels: must be 1 to 100 texts",
        ),
        (
            json!({"entity_type": "IMAGES", "vql": 7}),
            "item 0, payload.cluster_filters.vql: must be a JSON array of filters",
        ),
    ] {
        assert_eq!(read_filters(sent).unwrap_err().to_string(), message);
    }
    let unknown = read_filters(json!({"entity_type": "IMAGES", "tags": []})).unwrap_err();
    assert!(unknown.to_string().contains("unknown field `tags`"), "{unknown}");
}

#[test]
fn the_number_of_a_wrong_item_is_in_its_error() {
    let media = json!({"type": "media", "payload": {"media_ids": [ID]}});
    let body = json!({"media_selection": [media, media, {"type": "planet", "payload": {}}]});
    let body = body.to_string();
    let each: Vec<_> = items(body.as_bytes()).unwrap().collect();
    assert_eq!(each.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, true, false]);
    assert_eq!(
        reason(&json!({"media_selection": [media, 7]})),
        "item 1, payload: must be an object"
    );
    assert_eq!(
        read(body.as_bytes()).unwrap_err().to_string(),
        "item 2, type: must be 'media' or 'cluster'"
    );
    let excluding = json!({"type": "cluster", "payload": {"cluster_id": ID,
        "cluster_filters": {"entity_type": "IMAGES"}, "exclude_media_ids": 7}});
    assert_eq!(
        reason(&json!({"media_selection": [excluding]})),
        "item 0, payload.exclude_media_ids: must be an array of UUIDs"
    );
}

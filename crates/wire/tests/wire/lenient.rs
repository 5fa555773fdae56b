use serde_json::{Value, json};

use tessera_wire::lenient::*;

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

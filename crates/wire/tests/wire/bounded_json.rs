use proptest::prelude::*;
use serde_json::{Value, error::Category, json};

use tessera_wire::tolerant_json::parse_strict;

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 64, 9, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..9).prop_map(Value::from),
            proptest::collection::btree_map("\\PC{0,4}", inner, 0..9)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn a_value_within_the_limit_is_read_whole(value in values()) {
        let json = value.to_string();
        prop_assert_eq!(parse_strict(json.as_bytes(), usize::MAX).unwrap(), value);
    }
}

/// What a [`Value`] takes inside a list, which the limits below are made of.
const VALUE: usize = size_of::<Value>();
/// Hash, key, value, index and a byte of control.
const SLOT: usize = 8 + size_of::<String>() + VALUE + 8 + 1;

#[test]
fn a_value_is_refused_when_it_would_take_one_byte_more_than_the_limit() {
    for (json, bytes) in [
        ("null", 0),
        ("-1", 0),
        (r#""""#, 24),
        (r#""four""#, 28),
        ("[]", 0),
        // Lists grow to 4 places, then double.
        ("[1]", 4 * VALUE),
        ("[1,2,3,4]", 4 * VALUE),
        ("[1,2,3,4,5]", 8 * VALUE),
        (r#"["a","b"]"#, 2 * 25 + 4 * VALUE),
        ("[[1],[2]]", 3 * 4 * VALUE),
        ("{}", 0),
        (r#"{"a":1}"#, 25 + 4 * SLOT),
        (r#"{"a":1,"b":2,"c":3}"#, 3 * 25 + 4 * SLOT),
        // Seven of eight slots are used, and their number is a power of two.
        (r#"{"a":1,"b":2,"c":3,"d":4}"#, 4 * 25 + 8 * SLOT),
        (r#"{"a":[true]}"#, 25 + 4 * VALUE + 4 * SLOT),
    ] {
        assert!(parse_strict(json.as_bytes(), bytes).is_ok(), "{json} takes more than {bytes}");
        if let Some(less) = bytes.checked_sub(1) {
            let error = parse_strict(json.as_bytes(), less).unwrap_err();
            assert_eq!(error.classify(), Category::Data, "{json} {error}");
            assert!(error.to_string().starts_with("too many values"), "{error}");
        }
    }
}

#[test]
fn what_is_not_json_is_not_called_too_large() {
    for (json, category) in [
        ("", Category::Eof),
        ("[1", Category::Eof),
        ("[1] 2", Category::Syntax),
        ("{1:2}", Category::Syntax),
    ] {
        assert_eq!(
            parse_strict(json.as_bytes(), 1 << 20).unwrap_err().classify(),
            category,
            "{json}"
        );
    }
    assert_eq!(parse_strict(b" [1, {\"a\": null}] ", 1 << 20).unwrap(), json!([1, {"a": null}]));
}

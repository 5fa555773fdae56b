//! Generates JSON documents in which fields are missing, null, duplicated or of another type.

use proptest::{collection::vec, prelude::*, sample::Index};
use serde_json::{Map, Value, json};

#[derive(Clone, Debug)]
enum Edit {
    Remove,
    Replace(Value),
    /// Wraps the value in this many nested arrays.
    Nest(u8),
    /// Changes the type: a number becomes text, a text becomes a list of its letters, and so on.
    Retype,
    Rename,
    /// Replaces the value by a list with this many copies of it.
    Copies(u8),
}

/// Generates documents of `corpus` with up to six edits at any depth.
pub fn edited(corpus: Vec<Value>) -> impl Strategy<Value = Value> {
    (any::<Index>(), vec((any::<u64>(), edit()), 0..6)).prop_map(move |(document, edits)| {
        let mut document = document.get(&corpus).clone();
        for (path, edit) in edits {
            apply(&mut document, path, edit);
        }
        document
    })
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        Just(Edit::Remove),
        foreign_value().prop_map(Edit::Replace),
        (1_u8..130).prop_map(Edit::Nest),
        Just(Edit::Retype),
        Just(Edit::Rename),
        (0_u8..20).prop_map(Edit::Copies),
    ]
}

/// Generates a value that no field expects.
fn foreign_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        Just(json!(1e308)),
        Just(json!(-1)),
        Just(json!({})),
        Just(json!([])),
        Just(json!("NaN")),
        Just(json!("\u{1b}]0;title\u{7}\u{202e}\u{9b}31m")),
        Just(json!("00000000-0000-0000-0000-000000000000")),
        Just(json!("2026-02-30T25:61:61Z")),
        "\\PC{0,24}".prop_map(Value::from),
    ]
}

/// Applies an edit to the value that the digits of `path` lead to.
fn apply(value: &mut Value, path: u64, edit: Edit) {
    let next = path / 16;
    let digit = usize::try_from(path % 16).expect("a digit");
    match value {
        // One of 16 paths ends here, and the others continue further down.
        Value::Object(fields) if !fields.is_empty() && digit != 15 => {
            let key = fields.keys().nth(digit % fields.len()).expect("a field").clone();
            edit_field(fields, &key, next, edit);
        }
        Value::Array(items) if !items.is_empty() && digit != 15 => {
            let index = digit % items.len();
            apply(&mut items[index], next, edit);
        }
        value => *value = edit_value(std::mem::take(value), edit),
    }
}

fn edit_field(fields: &mut Map<String, Value>, key: &str, path: u64, edit: Edit) {
    match edit {
        Edit::Remove if path.is_multiple_of(2) => {
            fields.shift_remove(key);
        }
        Edit::Rename if path.is_multiple_of(2) => {
            if let Some(value) = fields.shift_remove(key) {
                fields.insert(key.to_uppercase(), value);
            }
        }
        edit => apply(&mut fields[key], path, edit),
    }
}

fn edit_value(value: Value, edit: Edit) -> Value {
    match edit {
        Edit::Remove | Edit::Rename => Value::Null,
        Edit::Replace(replacement) => replacement,
        Edit::Nest(depth) => (0..depth).fold(value, |inner, _| Value::Array(vec![inner])),
        Edit::Copies(count) => Value::Array(vec![value; usize::from(count)]),
        Edit::Retype => match value {
            Value::String(text) => text.chars().map(String::from).collect(),
            Value::Array(items) => items
                .into_iter()
                .enumerate()
                .map(|(index, item)| (index.to_string(), item))
                .collect::<Map<_, _>>()
                .into(),
            Value::Object(fields) => fields.into_values().collect(),
            scalar => Value::String(scalar.to_string()),
        },
    }
}

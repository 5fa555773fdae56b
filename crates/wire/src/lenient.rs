//! Lenient readers of JSON values: numbers as text, -1 for "not counted", null for anything. A value
//! of a type that cannot be read is noted, see [`Fields`].

use std::str::FromStr;

use serde_json::Value;

use crate::fields::{Fields, UnreadableFields};
use tessera_model::SafeText;

/// A field as text. Numbers and booleans are formatted; null is `None`.
pub fn text<'a>(object: impl Into<Fields<'a>>, key: &str) -> Option<String> {
    object.into().read(key, as_text)
}

fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

/// The first of several keys with non-empty text.
pub fn first_text<'a>(object: impl Into<Fields<'a>>, keys: &[&str]) -> Option<String> {
    let object = object.into();
    keys.iter().find_map(|key| text(object, key).filter(|text| !text.is_empty()))
}

/// A word of a list, or a value that is written as text.
pub fn parsed<'a, T: FromStr>(object: impl Into<Fields<'a>>, key: &str) -> Option<T> {
    object.into().read(key, |value| as_text(value)?.parse().ok())
}

/// The first of several keys with text, parsed. Without it, the object is useless, so it is noted
/// also when it is missing.
pub fn required<'a, T: FromStr>(object: impl Into<Fields<'a>>, keys: &[&str]) -> Option<T> {
    let object = object.into();
    let value = first_text(object, keys).and_then(|text| text.parse().ok());
    if let (None, Some(key)) = (&value, keys.first()) {
        object.note(key);
    }
    value
}

/// A finite number, also when it is sent as text.
pub fn number<'a>(object: impl Into<Fields<'a>>, key: &str) -> Option<f64> {
    object.into().read(key, |value| {
        let number = match value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        number.filter(|number: &f64| number.is_finite())
    })
}

/// A count: -1 and other negative numbers mean "not counted".
pub fn count<'a>(object: impl Into<Fields<'a>>, key: &str) -> Option<u64> {
    let value = number(object, key)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked bounds")]
    (0.0..=9e15).contains(&value).then_some(value as u64)
}

/// A percentage, clamped to 0-100.
pub fn percent<'a>(object: impl Into<Fields<'a>>, key: &str) -> Option<u8> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    number(object, key).map(|value| value.clamp(0.0, 100.0) as u8)
}

/// Names in any shape: a string, a list of strings or of objects with `name`, `text`, `caption` or
/// `id`, or an object whose keys are the names.
pub fn names<'a>(object: impl Into<Fields<'a>>, key: &str, limit: usize) -> Vec<SafeText> {
    let object = object.into();
    let clean = |raw: &str| SafeText::new(raw, limit);
    let unreadable = UnreadableFields::default();
    let list_name = |item: &Value| match item {
        Value::String(name) => Some(clean(name)),
        Value::Null => None,
        _ => {
            let item = Fields::noting(item, &unreadable);
            let name = first_text(item, &["name", "text", "caption", "id"]);
            if name.is_none() {
                item.note("name");
            }
            name.map(|name| clean(&name))
        }
    };
    let names = match object.get(key) {
        None => Vec::new(),
        Some(Value::String(one)) if one.is_empty() => Vec::new(),
        Some(Value::String(one)) => vec![clean(one)],
        Some(Value::Array(items)) => items.iter().filter_map(list_name).collect(),
        Some(Value::Object(map)) => {
            let is_id = |key: &str| uuid::Uuid::try_parse(key).is_ok();
            let name = |(key, value): (&String, &Value)| match value {
                // An id that maps to a name.
                Value::String(name) if is_id(key) => clean(name),
                _ => clean(key),
            };
            if map.iter().any(|(key, value)| is_id(key) && !value.is_string()) {
                object.note(key);
            }
            map.iter().map(name).collect()
        }
        Some(_) => {
            object.note(key);
            Vec::new()
        }
    };
    if !unreadable.is_empty() {
        object.note(key);
    }
    names
}

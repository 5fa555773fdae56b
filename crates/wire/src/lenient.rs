//! Lenient readers of JSON values: numbers as text, -1 for "not counted", null for anything.

use serde_json::Value;

use tessera_model::SafeText;

/// A field as text. Numbers and booleans are formatted; null is `None`.
pub fn text(object: &Value, key: &str) -> Option<String> {
    match object.get(key)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

/// The first of several keys with non-empty text.
pub fn first_text(object: &Value, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| text(object, key).filter(|text| !text.is_empty()))
}

/// A finite number, also when it is sent as text.
pub fn number(object: &Value, key: &str) -> Option<f64> {
    let value = match object.get(key)? {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    value.filter(|number: &f64| number.is_finite())
}

/// A count: -1 and other negative numbers mean "not counted".
pub fn count(object: &Value, key: &str) -> Option<u64> {
    let value = number(object, key)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked bounds")]
    (0.0..=9e15).contains(&value).then_some(value as u64)
}

/// A percentage, clamped to 0-100.
pub fn percent(object: &Value, key: &str) -> Option<u8> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    number(object, key).map(|value| value.clamp(0.0, 100.0) as u8)
}

/// Names in any shape: a string, a list of strings or of objects with `name`, `text`, `caption` or
/// `id`, or an object whose keys are the names.
pub fn names(object: &Value, key: &str, limit: usize) -> Vec<SafeText> {
    let clean = |raw: &str| SafeText::new(raw, limit);
    match object.get(key) {
        Some(Value::String(one)) if !one.is_empty() => vec![clean(one)],
        Some(Value::Array(items)) => items
            .iter()
            .filter_map(|item| match item {
                Value::String(name) => Some(clean(name)),
                _ => first_text(item, &["name", "text", "caption", "id"]).map(|name| clean(&name)),
            })
            .collect(),
        Some(Value::Object(map)) => map
            .iter()
            .map(|(name, value)| match value {
                // An id that maps to a name.
                Value::String(text) if uuid::Uuid::try_parse(name).is_ok() => clean(text),
                _ => clean(name),
            })
            .collect(),
        _ => Vec::new(),
    }
}

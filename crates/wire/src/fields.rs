//! Reads single values of a body, with one function per type. Reading is lenient: a number may be text, -1 means "not
//! counted", and any field may be null. A field that is needed but cannot be read is noted, so that the client can name
//! it.

use std::{cell::RefCell, fmt, str::FromStr};

use serde_json::Value;
use time::{OffsetDateTime, macros::format_description};

use tessera_model::SafeText;

/// An object of a response.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    value: &'a Value,
    /// The name of the list that contains the object, if it is in a list.
    list: Option<&'static str>,
    unreadable: Option<&'a UnreadableFields>,
}

/// The fields that a reader needed but could not read.
#[derive(Debug, Default)]
pub struct UnreadableFields(RefCell<Vec<UnreadableField>>);

/// A field that a reader needed but could not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableField {
    /// The name of the field, preceded by the name of the list that contains it: `clusters.cluster_id`.
    pub name: String,
    /// What the response has instead of a usable field: `missing`, `a list`.
    pub found: &'static str,
}

impl<'a> From<&'a Value> for Fields<'a> {
    fn from(value: &'a Value) -> Self {
        Self { value, list: None, unreadable: None }
    }
}

impl<'a> Fields<'a> {
    /// Notes unreadable fields in `unreadable`.
    pub fn noting(value: &'a Value, unreadable: &'a UnreadableFields) -> Self {
        Self { value, list: None, unreadable: Some(unreadable) }
    }

    pub fn value(self) -> &'a Value {
        self.value
    }

    /// Returns a field, unless it is missing or null.
    pub fn get(self, key: &str) -> Option<&'a Value> {
        self.value.get(key).filter(|value| !value.is_null())
    }

    /// Reads a field, unless it is missing or null. The field is noted as unreadable if `read` returns `None`.
    pub fn read<T>(self, key: &str, read: impl FnOnce(&'a Value) -> Option<T>) -> Option<T> {
        self.needed(key, read(self.get(key)?))
    }

    /// Returns the value of a field, which is noted as unreadable if there is no value.
    pub(crate) fn needed<T>(self, key: &str, value: Option<T>) -> Option<T> {
        if value.is_none() {
            self.note(key);
        }
        value
    }

    /// Returns a list that is needed.
    pub(crate) fn list(self, key: &str) -> Option<&'a Vec<Value>> {
        self.needed(key, self.get(key).and_then(Value::as_array))
    }

    /// Reads a number that is needed.
    pub(crate) fn needed_count(self, key: &str) -> Option<u64> {
        self.needed(key, count(self, key))
    }

    /// Returns an element of a list in this object.
    pub(crate) fn element(self, list: &'static str, value: &'a Value) -> Self {
        Self { value, list: Some(list), ..self }
    }

    /// Notes that a field is needed but cannot be read.
    pub fn note(self, key: &str) {
        let Some(UnreadableFields(noted)) = self.unreadable else { return };
        let name = self.list.map_or_else(|| key.to_owned(), |list| format!("{list}.{key}"));
        let mut noted = noted.borrow_mut();
        if !noted.iter().any(|field| field.name == name) {
            noted.push(UnreadableField { name, found: describe(self.value.get(key)) });
        }
    }
}

fn describe(found: Option<&Value>) -> &'static str {
    match found {
        None => "missing",
        Some(Value::Null) => "null",
        Some(Value::Bool(_)) => "true or false",
        Some(Value::Number(_)) => "an unexpected number",
        Some(Value::String(_)) => "unexpected text",
        Some(Value::Array(_)) => "an unexpected list",
        Some(Value::Object(_)) => "an unexpected object",
    }
}

impl UnreadableFields {
    pub fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    pub fn into_fields(self) -> Vec<UnreadableField> {
        self.0.into_inner()
    }
}

impl fmt::Display for UnreadableField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}", self.name, self.found)
    }
}

/// Reads a field as text. Numbers and booleans are formatted; null becomes `None`.
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

/// Returns the text of the first key that has non-empty text.
pub fn first_text<'a>(object: impl Into<Fields<'a>>, keys: &[&str]) -> Option<String> {
    let object = object.into();
    keys.iter().find_map(|key| text(object, key).filter(|text| !text.is_empty()))
}

/// Parses a field that is written as text, for example a keyword.
pub fn parsed<'a, T: FromStr>(object: impl Into<Fields<'a>>, key: &str) -> Option<T> {
    object.into().read(key, |value| as_text(value)?.parse().ok())
}

/// Parses the text of the first key that has text. The object is useless without this field, so a missing field is
/// noted as well.
pub fn required<'a, T: FromStr>(object: impl Into<Fields<'a>>, keys: &[&str]) -> Option<T> {
    let object = object.into();
    let value = first_text(object, keys).and_then(|text| text.parse().ok());
    if let (None, Some(key)) = (&value, keys.first()) {
        object.note(key);
    }
    value
}

/// Reads a finite number, which may be sent as text.
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

/// Reads a count. -1 and other negative numbers mean "not counted".
pub fn count<'a>(object: impl Into<Fields<'a>>, key: &str) -> Option<u64> {
    let value = number(object, key)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked bounds")]
    (0.0..=9e15).contains(&value).then_some(value as u64)
}

/// Reads a percentage and clamps it to 0-100.
pub fn percent<'a>(object: impl Into<Fields<'a>>, key: &str) -> Option<u8> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    number(object, key).map(|value| value.clamp(0.0, 100.0) as u8)
}

/// Returns a text as the service sent it, because JSON escapes what a terminal interprets.
pub(crate) fn as_received(text: &SafeText) -> String {
    text.received().to_owned()
}

/// Reads names in any shape: a string, a list of strings, a list of objects with `name`, `text`, `caption` or `id`, or
/// an object whose keys are the names.
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
            let name = item.needed("name", name);
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
                // The key is an identifier, and its value is the name.
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

/// Formats a time, in microseconds since the epoch: `2025-04-24T07:44:46.136915`.
pub fn format_iso8601(microseconds: i64) -> String {
    let format =
        format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:6]");
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(microseconds) * 1_000)
        .ok()
        .and_then(|time| time.format(format).ok())
        .unwrap_or_else(|| "1970-01-01T00:00:00.000000".to_owned())
}

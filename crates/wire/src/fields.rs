//! The fields of a response, as its reader takes them. One that is needed and cannot be read is
//! noted, so that the client can name it.

use std::{cell::RefCell, fmt};

use serde_json::Value;

/// An object of a response.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    value: &'a Value,
    /// The list that contains the object.
    list: Option<&'static str>,
    unreadable: Option<&'a UnreadableFields>,
}

/// The fields that a reader needed and could not read.
#[derive(Debug, Default)]
pub struct UnreadableFields(RefCell<Vec<UnreadableField>>);

/// A field that is needed and cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableField {
    /// With the list that contains it: `clusters.cluster_id`.
    pub name: String,
    /// What it is instead: `missing`, `a list`.
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

    /// A field, unless it is missing or null.
    pub fn get(self, key: &str) -> Option<&'a Value> {
        self.value.get(key).filter(|value| !value.is_null())
    }

    /// Reads a field, unless it is missing or null. Noted if `read` returns `None`.
    pub fn read<T>(self, key: &str, read: impl FnOnce(&'a Value) -> Option<T>) -> Option<T> {
        let read = read(self.get(key)?);
        if read.is_none() {
            self.note(key);
        }
        read
    }

    /// An element of a list in this object.
    pub fn element(self, list: &'static str, value: &'a Value) -> Self {
        Self { value, list: Some(list), ..self }
    }

    /// Notes that a field is needed and cannot be read.
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

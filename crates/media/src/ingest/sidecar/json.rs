//! Parses the JSON of sidecars leniently, value by value. Nothing is allocated for ignored values.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize,
    de::{Deserializer as _, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use super::description::push_name;

/// Parses an object. Returns `None` if `text` is anything else.
pub(crate) fn parse_object<'a, T: Deserialize<'a>>(text: &'a str) -> Option<T> {
    // Serde would also deserialize a struct from a list, so the first character is checked.
    text.trim_start().starts_with('{').then(|| serde_json::from_str(text).ok()).flatten()
}

pub(crate) fn parse_string(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}

/// Parses a box `[x, y, width, height]`. Returns `None` if `value` is anything else.
pub(crate) fn parse_box(value: &RawValue) -> Option<[f64; 4]> {
    serde_json::from_str(value.get()).ok()
}

/// Calls `take` with each element of a list. Returns `None` if `list` is not a list.
pub(crate) fn for_each_element<'a>(list: &'a str, take: impl FnMut(&'a RawValue)) -> Option<()> {
    serde_json::Deserializer::from_str(list).deserialize_seq(ElementVisitor(take)).ok()
}

/// Adds the strings of a list to `names`. Returns `None` if the list contains other values, or if `list` is not a list.
pub(crate) fn collect_names(list: &str, names: &mut Vec<String>) -> Option<()> {
    let mut texts_only = true;
    for_each_element(list, |value| match serde_json::from_str::<Cow<'_, str>>(value.get()) {
        Ok(text) => push_name(names, &text),
        Err(_) => texts_only = false,
    })?;
    texts_only.then_some(())
}

struct ElementVisitor<F>(F);

impl<'de, F: FnMut(&'de RawValue)> Visitor<'de> for ElementVisitor<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut values: A) -> Result<(), A::Error> {
        while let Some(value) = values.next_element()? {
            (self.0)(value);
        }
        Ok(())
    }
}

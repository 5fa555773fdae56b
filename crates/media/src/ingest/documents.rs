//! Parses JSON and XML from outside. JSON is parsed leniently, value by value, so that nothing is allocated for ignored
//! values. XML with a DTD is refused, so that custom entities are impossible. Everything that costs the parser much
//! time or memory is limited.

use std::fmt;

use roxmltree::{Document, Error};
use serde::{
    Deserialize,
    de::{Deserializer as _, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

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

#[derive(Clone, Copy, Debug)]
pub(crate) struct XmlLimits {
    /// Maximum number of attributes of an element. The limit is needed because the parser compares each attribute with
    /// all others.
    pub attributes: usize,
    /// Maximum number of namespaces. The limit is needed because nested namespaces take quadratic memory.
    pub namespaces: usize,
}

/// Parses a document. The error is a reason that is shown to users, without the name of the file.
pub(crate) fn parse_xml(text: &str, limits: XmlLimits) -> Result<Document<'_>, String> {
    let namespaces = text.matches("xmlns").count();
    let attributes = text.split('<').map(|tag| tag.matches('=').count()).max();
    if namespaces > limits.namespaces || attributes.is_some_and(|count| count > limits.attributes) {
        return Err("it has too many attributes or namespaces".to_owned());
    }
    Document::parse(text).map_err(|cause| match cause {
        Error::DtdDetected => "it has a DTD, which is not supported".to_owned(),
        cause => format!("line {}: invalid XML", cause.pos().row),
    })
}

//! Parses JSON and XML from outside. JSON is parsed leniently, value by value, so that nothing is allocated for ignored
//! values. XML that declares entities is refused. Everything that costs the parser much time or memory is limited.

use std::{collections::BTreeMap, fmt};

use roxmltree::{Document, Error, Node, ParsingOptions};
use serde::{
    Deserialize, Deserializer,
    de::{SeqAccess, Visitor, value::MapDeserializer},
};
use serde_json::value::RawValue;

/// Parses an object. Returns `None` if `text` is anything else. If a name occurs twice, its last value is taken, as in
/// Python.
pub(crate) fn parse_object<'a, T: Deserialize<'a>>(text: &'a str) -> Option<T> {
    // Serde would also deserialize a struct from a list, so the first character is checked.
    if !text.trim_start().starts_with('{') {
        return None;
    }
    match serde_json::from_str(text) {
        Ok(value) => Some(value),
        // The library has no kind of error for this. Other texts are not read twice.
        Err(cause) if cause.to_string().starts_with("duplicate field") => {
            let values: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
            T::deserialize(MapDeserializer::<_, serde_json::Error>::new(values.into_iter())).ok()
        }
        Err(_) => None,
    }
}

/// Parses a text.
pub(crate) fn parse_string(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}

/// Parses a name, which may be a number or `true` and `false`. A whole number keeps all of its digits.
pub(crate) fn parse_name(value: &RawValue) -> Option<String> {
    parse_string(value).or_else(|| {
        let is_flag = matches!(value.get(), "true" | "false");
        if let Some(word) = whole_number(value.get()).or(is_flag.then(|| value.get())) {
            return Some(word.to_owned());
        }
        let number: f64 = serde_json::from_str(value.get()).ok()?;
        Some(number.to_string())
    })
}

/// Returns a whole number without its decimal point, which tables with missing values write: `3.0` is `3`.
pub(crate) fn whole_number(text: &str) -> Option<&str> {
    let number = text.strip_suffix(".0").unwrap_or(text);
    let digits = number.strip_prefix('-').unwrap_or(number);
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
}

/// Passes a name, or each name of a list, to `take`. Returns `None` if one of the values is not a name.
pub(crate) fn for_each_name(text: &str, mut take: impl FnMut(&str)) -> Option<()> {
    let mut are_names = true;
    let mut take = |value: &RawValue| match parse_name(value) {
        Some(name) => take(&name),
        None => are_names = false,
    };
    match for_each_element(text, &mut take) {
        Some(()) => {}
        None => take(serde_json::from_str(text).ok()?),
    }
    are_names.then_some(())
}

/// Parses a finite number, which may be in quotes.
pub(crate) fn parse_number(value: &RawValue) -> Option<f64> {
    let text = value.get().trim_matches('"').trim();
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Converts a number that must be whole and not negative.
pub(crate) fn whole(number: f64) -> Option<u64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked before")]
    (number.fract() == 0.0 && (0.0..1e15).contains(&number)).then_some(number as u64)
}

/// Parses a list of numbers. Returns `None` if `value` is anything else.
pub(crate) fn parse_numbers(value: &RawValue) -> Option<Vec<f64>> {
    let numbers: Vec<&RawValue> = serde_json::from_str(value.get()).ok()?;
    numbers.into_iter().map(parse_number).collect()
}

/// Replaces what Python writes although it is not JSON: the numbers `NaN` and `Infinity` by `null`, and half of a
/// surrogate pair, which remains of a text that was cut in the middle of a character, by U+FFFD.
pub(crate) fn repaired(text: String) -> String {
    let is_python = |part: &&str| text.contains(*part);
    if !["NaN", "Infinity", "\\ud", "\\uD"].iter().any(is_python) {
        return text;
    }
    let mut clean = String::with_capacity(text.len());
    // Every second part is a string, because the parts are separated by quotes that are not escaped.
    let (mut rest, mut is_string) = (text.as_str(), false);
    while !rest.is_empty() {
        let end = if is_string { end_of_string(rest) } else { rest.find('"') };
        let (part, after) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
        if is_string {
            push_string(part, &mut clean);
        } else {
            let part = part.replace("-Infinity", "null").replace("Infinity", "null");
            clean += &part.replace("NaN", "null");
        }
        (rest, is_string) = (after, !is_string);
    }
    clean
}

/// Writes a string without halves of surrogate pairs.
fn push_string(mut rest: &str, clean: &mut String) {
    while let Some(at) = rest.find('\\') {
        clean.push_str(&rest[..at]);
        rest = &rest[at..];
        let pair = |first: Option<u16>, second: Option<u16>| {
            matches!((first, second), (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)))
        };
        let length = match (escaped_unit(rest), rest.get(6..).and_then(escaped_unit)) {
            (first, second) if pair(first, second) => 12,
            (Some(0xd800..=0xdfff), _) => {
                clean.push('\u{fffd}');
                rest = &rest[6..];
                continue;
            }
            // The character after the backslash must not begin an escape.
            _ => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        };
        clean.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    clean.push_str(rest);
}

/// Returns the UTF-16 unit in an escape `\uXXXX` at the start of a text.
fn escaped_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

/// Returns the position of the quote that ends a string.
fn end_of_string(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.bytes().position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    })
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

/// What may surround a document.
const PADDING: [char; 6] = ['\0', '\u{feff}', ' ', '\n', '\r', '\t'];

/// Parses a document. The error is a reason that is shown to users, without the name of the file.
pub(crate) fn parse_xml(text: &str, limits: XmlLimits) -> Result<Document<'_>, String> {
    let namespaces = text.matches("xmlns").count();
    let attributes = text.split('<').map(|tag| tag.matches('=').count()).max();
    if namespaces > limits.namespaces || attributes.is_some_and(|count| count > limits.attributes) {
        return Err("it has too many attributes or namespaces".to_owned());
    }
    // Programs pad documents with blanks and zeros, and some write blanks before the declaration.
    let document = text.trim_start_matches(PADDING);
    let lines_before = text[..text.len() - document.len()].matches('\n').count();
    let allow_dtd = !text.contains("<!ENTITY");
    let options = ParsingOptions { allow_dtd, ..ParsingOptions::default() };
    let parsed = Document::parse_with_options(document.trim_end_matches(PADDING), options);
    parsed.map_err(|cause| match cause {
        Error::DtdDetected => "it declares entities, which are not supported".to_owned(),
        cause => format!("line {}: invalid XML", lines_before + cause.pos().row as usize),
    })
}

/// Returns the text in an element. Comments and processing instructions divide it into several nodes.
pub(crate) fn text_of(element: Node<'_, '_>) -> Option<String> {
    let texts: Vec<&str> =
        element.children().filter(Node::is_text).filter_map(|it| it.text()).collect();
    (!texts.is_empty()).then(|| texts.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_python_writes_beyond_json_is_replaced() {
        for (text, clean) in [
            (r#"{"NaN": NaN, "a": -Infinity}"#, r#"{"NaN": null, "a": null}"#),
            (
                r#"{"k\ud83d": "\ud83d\ude00 \ude00\uD83D"}"#,
                "{\"k\u{fffd}\": \"\\ud83d\\ude00 \u{fffd}\u{fffd}\"}",
            ),
            (r#"["\\ud83d \"\ud83d"]"#, "[\"\\\\ud83d \\\"\u{fffd}\"]"),
            (
                r#"["\ud83dé", "\ud8", "\ud83d\u0041"]"#,
                "[\"\u{fffd}é\", \"\\ud8\", \"\u{fffd}\\u0041\"]",
            ),
        ] {
            assert_eq!(repaired(text.to_owned()), clean, "{text}");
        }
    }
}

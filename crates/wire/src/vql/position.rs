//! Where in its text a mistake of a query stands, for people who write queries by hand.

use std::collections::BTreeMap;

use serde_json::{Value, value::RawValue};

use super::VqlError;

/// A place in a text, both counted from 1; columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextPosition {
    /// The line.
    pub line: usize,
    /// The character of the line.
    pub column: usize,
}

impl TextPosition {
    /// Where the problem of a text stands: at the value that is wrong, else at the narrowest one
    /// around it; where the text is no JSON, at the character that is not.
    pub fn locate(problem: &VqlError, text: &str) -> Self {
        let Some(filter) = problem.filter else {
            return serde_json::from_str::<Value>(text).map_or_else(
                |cause| Self::from_json_position(text, cause.line(), cause.column()),
                |_| Self::from_offset(text, start_of(text)),
            );
        };
        let filters: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
        let mut narrowest = filters.get(filter).copied();
        for key in problem.field.iter().flat_map(|field| field.split('.')) {
            let inner = narrowest.and_then(|value| inside(value, key));
            let Some(inner) = inner else { break };
            narrowest = Some(inner);
        }
        // A raw value is a piece of the text itself.
        let offset = |raw: &RawValue| raw.get().as_ptr().addr() - text.as_ptr().addr();
        Self::from_offset(text, narrowest.map_or(0, offset))
    }

    /// The place of a byte.
    fn from_offset(text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line = before.rsplit('\n').next().unwrap_or(before);
        Self { line: before.matches('\n').count() + 1, column: line.chars().count() + 1 }
    }

    /// The place that the reader of JSON tells: a line from 1, and bytes of it up to the mistake.
    fn from_json_position(text: &str, line: usize, bytes: usize) -> Self {
        let words = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
        let before = words.char_indices().take_while(|(at, _)| at + 1 < bytes).count();
        Self { line: line.max(1), column: before + 1 }
    }
}

/// The value of a field, as it stands in the text.
fn inside<'a>(value: &'a RawValue, key: &str) -> Option<&'a RawValue> {
    serde_json::from_str::<BTreeMap<String, &RawValue>>(value.get()).ok()?.remove(key)
}

/// Where a JSON text begins behind blanks.
fn start_of(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

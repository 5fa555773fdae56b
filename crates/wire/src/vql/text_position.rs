//! Locates errors in `vql` texts that were written by hand.

use std::collections::BTreeMap;

use serde_json::{Value, value::RawValue};

use super::VqlError;

/// A line and a column, both counted from 1. Columns are counted in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextPosition {
    pub line: usize,
    pub column: usize,
}

impl TextPosition {
    /// Returns the position of an error: the invalid value, or the narrowest value around it. In invalid JSON, it is
    /// the first invalid character.
    pub fn locate(error: &VqlError, text: &str) -> Self {
        let Some(filter) = error.filter else {
            return serde_json::from_str::<Value>(text).map_or_else(
                |cause| Self::from_json_position(text, cause.line(), cause.column()),
                |_| Self::from_offset(text, start_of(text)),
            );
        };
        let filters: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
        let mut narrowest = filters.get(filter).copied();
        for key in error.field.iter().flat_map(|field| field.split('.')) {
            let inner = narrowest.and_then(|value| inside(value, key));
            let Some(inner) = inner else { break };
            narrowest = Some(inner);
        }
        // A raw value borrows from the text, so its address gives its offset.
        let offset = |raw: &RawValue| raw.get().as_ptr().addr() - text.as_ptr().addr();
        Self::from_offset(text, narrowest.map_or(0, offset))
    }

    fn from_offset(text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line = before.rsplit('\n').next().unwrap_or(before);
        Self { line: before.matches('\n').count() + 1, column: line.chars().count() + 1 }
    }

    /// Converts a position of the JSON parser, which is a line counted from 1 and a byte offset in the line.
    fn from_json_position(text: &str, line: usize, bytes: usize) -> Self {
        let line_text = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
        let before = line_text.char_indices().take_while(|(at, _)| at + 1 < bytes).count();
        Self { line: line.max(1), column: before + 1 }
    }
}

fn inside<'a>(value: &'a RawValue, key: &str) -> Option<&'a RawValue> {
    serde_json::from_str::<BTreeMap<String, &RawValue>>(value.get()).ok()?.remove(key)
}

fn start_of(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

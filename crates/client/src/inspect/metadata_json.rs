//! Metadata in JSON: an array of rows, or an object that contains one. Rows are parsed one by one,
//! so that memory holds the text only once.

use std::collections::BTreeMap;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::listing::{FILE_COLUMN, RowVisitor, SCORE_COLUMN};

/// Reads all rows.
pub(super) fn read_rows(text: &str, out: &mut impl RowVisitor) -> Result<(), String> {
    let rows = find_rows(text)?;
    for (index, row) in rows.iter().enumerate() {
        let fields: RowFields = serde_json::from_str(row.get())
            .map_err(|error| format!("row {}: {error}", index + 1))?;
        if index == 0 {
            out.visit_columns(fields.0.iter().map(|(name, _)| name.clone()).collect());
        }
        let field = |name: &str| fields.0.iter().find(|(known, _)| known == name);
        let score = field(SCORE_COLUMN).and_then(|(_, value)| match value {
            JsonCell::Number(number) => Some(*number),
            JsonCell::Text(text) => text.trim().parse().ok(),
            JsonCell::Other(_) => None,
        });
        let file = field(FILE_COLUMN).and_then(|(_, value)| match value {
            JsonCell::Text(text) => Some(text.as_str()),
            JsonCell::Number(_) | JsonCell::Other(_) => None,
        });
        out.visit_row(score, file);
    }
    Ok(())
}

/// Returns the unparsed rows: the array itself, or the longest array of objects at the first level.
pub(super) fn find_rows(text: &str) -> Result<Vec<&RawValue>, String> {
    let to_text = |error: serde_json::Error| error.to_string();
    if text.trim_start().starts_with('[') {
        return serde_json::from_str(text).map_err(to_text);
    }
    let map: BTreeMap<String, &RawValue> = serde_json::from_str(text).map_err(to_text)?;
    let arrays = map.values().filter_map(|value| {
        let items: Vec<&RawValue> = serde_json::from_str(value.get()).ok()?;
        items.iter().all(|item| item.get().starts_with('{')).then_some(items)
    });
    arrays.max_by_key(Vec::len).ok_or_else(|| "no rows".to_owned())
}

/// A value, as far as the inspection needs it.
#[derive(Deserialize)]
#[serde(untagged)]
enum JsonCell {
    Number(f64),
    Text(String),
    Other(serde::de::IgnoredAny),
}

/// The fields of a row, in order.
struct RowFields(Vec<(String, JsonCell)>);

impl<'de> Deserialize<'de> for RowFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RowFieldsVisitor;
        impl<'de> Visitor<'de> for RowFieldsVisitor {
            type Value = RowFields;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a row")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RowFields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(RowFields(fields))
            }
        }
        deserializer.deserialize_map(RowFieldsVisitor)
    }
}

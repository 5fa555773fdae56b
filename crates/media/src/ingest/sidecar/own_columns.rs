//! Collects the columns of tables and sidecars that this program does not know itself: texts, numbers, flags and dates
//! of the user's own. Names, values and their number are bounded. Whatever is not kept is named.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;
use tessera_model::{
    text::composed,
    vql::{ColumnName, ColumnValue, OwnColumns},
};

/// Maximum number of different columns in all sidecars of a folder.
pub(crate) const MAX_OWN_COLUMNS: usize = 64;
/// The number of columns that a message names.
const MAX_NAMED: usize = 8;
/// The largest integer up to which a floating-point number is exact.
const MAX_EXACT: u64 = 1 << 53;

/// Columns with a meaning of their own when they are read. They are never columns of the user's own.
const KNOWN: [&str; 13] = [
    "file_name",
    "caption",
    "text",
    "label",
    "labels",
    "tags",
    "user_tags",
    "objects",
    "media_id",
    "width",
    "height",
    "image",
    "metadata_items",
];
/// Further columns of exports. They win against columns of the user's own with the same names.
const EXPORTED: [&str; 13] = [
    "media_type",
    "image_filename",
    "file_path",
    "file_size",
    "modified_at",
    "video_name",
    "frame_timestamp",
    "uniqueness_score",
    "search_confidence",
    "sharpness",
    "brightness",
    "issues",
    "cluster_id",
];

/// Why a column is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Refusal {
    Exported,
    LongName,
    LongText,
    NotScalar,
    Pictures,
    TooMany,
}

impl Refusal {
    fn reason(self) -> &'static str {
        match self {
            Self::Exported => "the name belongs to a column of exports",
            Self::LongName => "the name is empty or longer than 64 characters",
            Self::LongText => "a text is longer than 1,000 characters",
            Self::NotScalar => "a value is a list or an object",
            Self::Pictures => "pictures in this column are not read",
            Self::TooMany => "a folder has at most 64 columns",
        }
    }
}

/// The columns of one sidecar that are not kept, by the reason.
#[derive(Debug, Default)]
pub(crate) struct RefusedColumns(BTreeMap<Refusal, BTreeSet<String>>);

impl RefusedColumns {
    pub fn add(&mut self, name: &str, why: Refusal) {
        let names = self.0.entry(why).or_default();
        // More names are only counted as more.
        if names.len() <= MAX_NAMED {
            names.insert(name.chars().take(ColumnName::MAX_CHARS).collect());
        }
    }

    pub fn merge(&mut self, other: Self) {
        for (why, names) in other.0 {
            for name in names {
                self.add(&name, why);
            }
        }
    }

    /// Returns a sentence for each reason.
    pub fn summary(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(why, names)| {
            let more = if names.len() > MAX_NAMED { " and more" } else { "" };
            let names: Vec<&str> = names.iter().take(MAX_NAMED).map(String::as_str).collect();
            format!("columns not kept: {}{more} ({})", names.join(", "), why.reason())
        })
    }
}

/// Whether this program reads a column itself, so that it is not a column of the user's own.
pub(crate) fn is_known(name: &str) -> bool {
    KNOWN.contains(&name)
}

/// Adds a value of a row, unless its column is known or the value is null. A row of an export has the columns of
/// exports, which are not the user's own.
pub(crate) fn push_json(
    own: &mut OwnColumns,
    name: &str,
    value: &RawValue,
    is_export: bool,
    refused: &mut RefusedColumns,
) {
    if is_known(name) || (is_export && is_exported(name)) || value.get() == "null" {
        return;
    }
    let value = match value.get().parse::<i64>() {
        Ok(number) if number.unsigned_abs() > MAX_EXACT => {
            Some(ColumnValue::Text(number.to_string()))
        }
        _ => serde_json::from_str(value.get()).ok().map(|value| match value {
            ColumnValue::Text(text) => ColumnValue::Text(without_midnight(&text).to_owned()),
            value => value,
        }),
    };
    match value {
        Some(value) => push(own, name, value, refused),
        None => refused.add(name, Refusal::NotScalar),
    }
}

/// Returns the day of a timestamp of a table at midnight in UTC, which is how a column of days is exported.
fn without_midnight(text: &str) -> &str {
    let midnight = [" 00:00:00.000000 +00:00", " 00:00:00.000 +00:00"];
    midnight.iter().find_map(|midnight| text.strip_suffix(midnight)).unwrap_or(text)
}

/// Adds a cell of a table of texts. A number that begins with a zero, such as a postal code, stays a text.
pub(crate) fn push_cell(
    own: &mut OwnColumns,
    name: &str,
    cell: &str,
    is_export: bool,
    refused: &mut RefusedColumns,
) {
    let cell = cell.trim();
    if cell.is_empty() || is_known(&name.to_lowercase()) || (is_export && is_exported(name)) {
        return;
    }
    let digits = cell.trim_start_matches('-');
    let is_code =
        digits.starts_with('0') && digits.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
    let starts_like_number = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let is_exact = !digits.bytes().all(|byte| byte.is_ascii_digit())
        || digits.parse::<u64>().is_ok_and(|number| number <= MAX_EXACT);
    let value = match (cell, cell.parse::<f64>()) {
        ("true" | "True" | "TRUE", _) => ColumnValue::Flag(true),
        ("false" | "False" | "FALSE", _) => ColumnValue::Flag(false),
        (_, Ok(number)) if starts_like_number && !is_code && is_exact && number.is_finite() => {
            ColumnValue::Number(number)
        }
        _ => ColumnValue::Text(cell.to_owned()),
    };
    push(own, name, value, refused);
}

/// Whether a column of exports has this name.
pub(crate) fn is_exported(name: &str) -> bool {
    name == "url" || EXPORTED.contains(&name)
}

fn push(own: &mut OwnColumns, name: &str, value: ColumnValue, refused: &mut RefusedColumns) {
    let Ok(column) = ColumnName::new(name) else { return refused.add(name, Refusal::LongName) };
    if is_exported(column.as_str()) {
        return refused.add(name, Refusal::Exported);
    }
    let value = match value {
        ColumnValue::Text(text) => match text.trim() {
            "" => return,
            text if text.chars().nth(ColumnValue::MAX_CHARS).is_some() => {
                return refused.add(name, Refusal::LongText);
            }
            text => ColumnValue::Text(composed(text).into_owned()),
        },
        ColumnValue::Number(number) if !number.is_finite() => return,
        value => value,
    };
    own.insert(column.as_str().to_owned(), value);
}

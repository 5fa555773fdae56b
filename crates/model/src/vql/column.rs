//! Columns of the user's own: their names, and the values that media items have in them.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

use super::{InvalidField, period::Period, values::non_blank};
use crate::text::composed;

/// The name of a column of the user's own.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ColumnName(String);

impl ColumnName {
    pub const MAX_CHARS: usize = 64;

    pub fn new(raw: &str) -> Result<Self, InvalidField> {
        let name = non_blank(&composed(raw), Self::MAX_CHARS, "a column name");
        name.map(Self).map_err(|invalid| InvalidField { field: "name", ..invalid })
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The values of a media item, by the names of their columns.
pub type ExtraColumns = BTreeMap<String, ColumnValue>;

/// A value in a column of the user's own. A text that is a day or a time counts as a date.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ColumnValue {
    Flag(bool),
    Number(f64),
    Text(String),
}

impl ColumnValue {
    pub const MAX_CHARS: usize = 1_000;

    /// The largest integer up to which a floating-point number is exact.
    const MAX_EXACT: u64 = 1 << 53;

    /// Whether a number keeps all its digits. A large whole number would lose some, so it stays a text.
    pub fn is_exact(number: &str) -> bool {
        let digits = number.trim_start_matches('-');
        !digits.bytes().all(|byte| byte.is_ascii_digit())
            || digits.parse::<u64>().is_ok_and(|number| number <= Self::MAX_EXACT)
    }

    /// Returns the number to compare by size, even if it is a text because it would lose digits.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) if !Self::is_exact(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// Reads a value as users type it, like a cell of a table of texts. A text in quotes stays a text.
    pub fn from_typed(typed: &str) -> Self {
        let typed = typed.trim();
        match typed.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            Some(text) => Self::Text(text.to_owned()),
            None => Self::from_cell(typed),
        }
    }

    /// Reads a cell of a table of texts: a number, `true`, `false`, or a text. A number that is not exact stays a text,
    /// and so does one that begins with a zero or a plus sign, such as a postal code or a phone number.
    pub fn from_cell(cell: &str) -> Self {
        let digits = cell.trim_start_matches('-');
        let is_code =
            digits.starts_with('0') && digits.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
        let starts_like_number = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        match (cell, cell.parse::<f64>()) {
            ("true" | "True" | "TRUE", _) => Self::Flag(true),
            ("false" | "False" | "FALSE", _) => Self::Flag(false),
            (_, Ok(number))
                if starts_like_number && !is_code && Self::is_exact(cell) && number.is_finite() =>
            {
                Self::Number(number)
            }
            _ => Self::Text(cell.to_owned()),
        }
    }

    /// Writes the value so that [`Self::from_typed`] reads it again.
    pub fn to_typed(&self) -> String {
        match self {
            Self::Text(text) if Self::from_typed(text) != *self => format!("\"{text}\""),
            value => value.to_string(),
        }
    }

    pub fn item(&self) -> ItemValue<'_> {
        match self {
            Self::Flag(flag) => ItemValue::Flag(*flag),
            Self::Number(number) => ItemValue::Number(*number),
            Self::Text(text) => match Period::parse_exact(text) {
                Some(date) => ItemValue::Date(date.start),
                None => ItemValue::Text(text),
            },
        }
    }

    /// Returns the start of a day or a time in microseconds since 1970, which is more exact than [`Self::item`].
    pub fn microseconds(&self) -> Option<i64> {
        let Self::Text(text) = self else { return None };
        let (start, _) = Period::parse_day_or_time(text.trim())?;
        i64::try_from(start.unix_timestamp_nanos().div_euclid(1_000)).ok()
    }
}

impl fmt::Display for ColumnValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => flag.fmt(f),
            // A number may have hundreds of digits, of which only the first 17 are significant.
            Self::Number(number) if is_long(*number) => write!(f, "{number:e}"),
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "this limit is exact")]
fn is_long(number: f64) -> bool {
    number != 0.0 && !(1e-7..=ColumnValue::MAX_EXACT as f64).contains(&number.abs())
}

/// A value of a media item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ItemValue<'a> {
    Text(&'a str),
    Number(f64),
    /// In milliseconds since 1970.
    Date(i64),
    Flag(bool),
}

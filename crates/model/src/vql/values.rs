//! Values of filters: numbers from 0.0 to 1.0, texts, labels, lists, and filters inside filters, each valid by
//! construction.

use std::fmt;

use super::{Filter, MAX_FILTERS};
use serde::{Deserialize, Serialize};

/// A number from 0.0 to 1.0. It is stored as its bits, which sort like the numbers because no number is negative.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Fraction(u64);

impl Fraction {
    pub fn new(value: f64) -> Option<Self> {
        // Adding 0.0 turns -0.0, which has different bits, into 0.0.
        (0.0..=1.0).contains(&value).then(|| Self((value + 0.0).to_bits()))
    }

    pub fn value(self) -> f64 {
        f64::from_bits(self.0)
    }

    pub(super) fn for_field(field: &'static str, value: f64) -> Result<Self, InvalidField> {
        Self::try_from(value).map_err(|reason| InvalidField::new(field, reason))
    }
}

impl TryFrom<f64> for Fraction {
    type Error = &'static str;

    fn try_from(value: f64) -> Result<Self, Self::Error> {
        Self::new(value).ok_or("must be a number from 0.0 to 1.0")
    }
}

impl From<Fraction> for f64 {
    fn from(fraction: Fraction) -> Self {
        fraction.value()
    }
}

impl fmt::Debug for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value().fmt(f)
    }
}

/// A search text. It is trimmed, not blank, and has at most [`QueryText::MAX_CHARS`] characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct QueryText(String);

impl QueryText {
    pub const MAX_CHARS: usize = 1_000;

    pub fn new(raw: &str) -> Result<Self, InvalidField> {
        non_blank(raw, Self::MAX_CHARS, "a text").map(Self)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for QueryText {
    type Error = InvalidField;

    fn try_from(raw: String) -> Result<Self, Self::Error> {
        Self::new(&raw)
    }
}

/// A classification label. It is trimmed, not blank, and has at most [`Label::MAX_CHARS`] characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(pub(super) String);

impl Label {
    pub const MAX_CHARS: usize = 256;

    pub fn new(raw: &str) -> Result<Self, InvalidField> {
        non_blank(raw, Self::MAX_CHARS, "a label").map(Self)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

pub(super) fn non_blank(raw: &str, longest: usize, what: &str) -> Result<String, InvalidField> {
    non_empty(raw.trim(), longest, what)
}

/// Like [`non_blank`], but keeps the spaces around the text, which belong to the names of files.
pub(super) fn non_empty(text: &str, longest: usize, what: &str) -> Result<String, InvalidField> {
    if text.is_empty() {
        return Err(InvalidField::new("value", format!("{what} must not be empty")));
    }
    if text.chars().nth(longest).is_some() {
        return Err(InvalidField::new("value", format!("{what} has at most {longest} characters")));
    }
    Ok(text.to_owned())
}

/// A sorted list of 1 to [`MAX_VALUES`] unique values.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueList<T>(Vec<T>);

pub const MAX_VALUES: usize = 100;

impl<T: Ord> ValueList<T> {
    pub fn new(mut values: Vec<T>) -> Result<Self, InvalidField> {
        if values.is_empty() || values.len() > MAX_VALUES {
            let reason = format!("must be a list of 1 to {MAX_VALUES} entries");
            return Err(InvalidField::new("value", reason));
        }
        values.sort_unstable();
        values.dedup();
        Ok(Self(values))
    }

    pub fn as_slice(&self) -> &[T] {
        &self.0
    }
}

/// The reason for rejecting a field of a filter or a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidField {
    /// The name of the field on the wire.
    pub field: &'static str,
    pub reason: String,
}

impl fmt::Display for InvalidField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.reason)
    }
}

impl std::error::Error for InvalidField {}

impl InvalidField {
    pub fn new(field: &'static str, reason: impl Into<String>) -> Self {
        Self { field, reason: reason.into() }
    }
}

/// Filters of which at least one must match. None of them is such a list itself, which bounds the depth.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Alternatives(Vec<Filter>);

impl Alternatives {
    pub fn new(filters: Vec<Filter>) -> Result<Self, InvalidField> {
        if filters.is_empty() || filters.len() > MAX_FILTERS {
            return Err(InvalidField::new("", format!("must have 1 to {MAX_FILTERS} filters")));
        }
        filters.iter().try_for_each(require_condition)?;
        if filters.iter().any(Filter::has_alternatives) {
            return Err(InvalidField::new("", "must not contain any_of again"));
        }
        Ok(Self(filters))
    }

    pub fn as_slice(&self) -> &[Filter] {
        &self.0
    }
}

/// A filter that must not match.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NegatedFilter(Box<Filter>);

impl NegatedFilter {
    pub fn new(filter: Filter) -> Result<Self, InvalidField> {
        require_condition(&filter)?;
        if matches!(filter, Filter::Not(_)) {
            return Err(InvalidField::new("", "must not contain not again"));
        }
        Ok(Self(Box::new(filter)))
    }

    pub fn filter(&self) -> &Filter {
        &self.0
    }
}

fn require_condition(filter: &Filter) -> Result<(), InvalidField> {
    match filter {
        Filter::FullText(_) | Filter::Semantic { .. } | Filter::Similar { .. } => {
            let reason = "must not contain text or similarity, because these rank the results";
            Err(InvalidField::new("", reason))
        }
        _ => Ok(()),
    }
}

/// A finite number, which is stored as an integer that sorts like the number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Number(i64);

impl Number {
    pub fn new(value: f64) -> Result<Self, InvalidField> {
        if !value.is_finite() {
            return Err(InvalidField::new("value", "must be a finite number"));
        }
        // Adding 0.0 turns -0.0, which has different bits, into 0.0.
        Ok(Self(flip_negative((value + 0.0).to_bits().cast_signed())))
    }

    pub fn value(self) -> f64 {
        f64::from_bits(flip_negative(self.0).cast_unsigned())
    }
}

/// Flips the bits of negative numbers except the sign, because larger bits are smaller negative numbers.
fn flip_negative(bits: i64) -> i64 {
    bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value().fmt(f)
    }
}

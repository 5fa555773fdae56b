//! The values of filters: each can only be made from what the interface allows.

use std::fmt;

use super::InvalidField;

/// A number from 0.0 to 1.0.
///
/// Held as its bits, which for numbers that are not negative have the order of the numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fraction(u64);

impl Fraction {
    /// The fraction, unless it is out of its range.
    pub fn new(value: f64) -> Option<Self> {
        // Adding 0.0 makes of -0.0 the zero that has no bit set.
        (0.0..=1.0).contains(&value).then(|| Self((value + 0.0).to_bits()))
    }

    /// The number.
    pub fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl fmt::Debug for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value().fmt(f)
    }
}

/// A text to search for: not blank, at most [`QueryText::LONGEST`] characters, trimmed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QueryText(String);

impl QueryText {
    /// Characters it may have.
    pub const MAX_CHARS: usize = 1_000;

    /// The text, trimmed.
    ///
    /// # Errors
    /// It is blank or too long.
    pub fn new(raw: &str) -> Result<Self, InvalidField> {
        non_blank(raw, Self::MAX_CHARS, "a text").map(Self)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A classification label: not blank, at most [`Label::LONGEST`] characters, trimmed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(pub(super) String);

impl Label {
    /// Characters it may have.
    pub const MAX_CHARS: usize = 256;

    /// The label, trimmed.
    ///
    /// # Errors
    /// It is blank or too long.
    pub fn new(raw: &str) -> Result<Self, InvalidField> {
        non_blank(raw, Self::MAX_CHARS, "a label").map(Self)
    }

    /// The label.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

pub(super) fn non_blank(raw: &str, longest: usize, what: &str) -> Result<String, InvalidField> {
    let text = raw.trim();
    if text.is_empty() {
        return Err(InvalidField::new("value", format!("{what} must not be empty")));
    }
    if text.chars().nth(longest).is_some() {
        return Err(InvalidField::new("value", format!("{what} has at most {longest} characters")));
    }
    Ok(text.to_owned())
}

/// A list that is not empty and has at most [`MOST_VALUES`] entries, each once and in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueList<T>(Vec<T>);

/// Most entries of a list in a filter.
pub const MAX_VALUES: usize = 100;

impl<T: Ord> ValueList<T> {
    /// The list, in order and without repetitions.
    ///
    /// # Errors
    /// It is empty or too long.
    pub fn new(mut values: Vec<T>) -> Result<Self, InvalidField> {
        if values.is_empty() || values.len() > MAX_VALUES {
            let reason = format!("must be a list of 1 to {MAX_VALUES} entries");
            return Err(InvalidField::new("value", reason));
        }
        values.sort_unstable();
        values.dedup();
        Ok(Self(values))
    }

    /// The entries.
    pub fn as_slice(&self) -> &[T] {
        &self.0
    }
}

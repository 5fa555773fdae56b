//! Why a `vql` text is rejected.

use std::fmt;

/// The reason for rejecting a `vql` text. Prints as one sentence with its location:
/// `filter 2, labels.value: must be a list of texts`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VqlError {
    /// 0-based; `None` when the text as a whole is invalid.
    pub filter: Option<usize>,
    /// A key, or a key and the name of its part.
    pub field: Option<String>,
    pub reason: String,
}

impl fmt::Display for VqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.filter, &self.field) {
            (Some(filter), Some(field)) => write!(f, "filter {filter}, {field}: ")?,
            (Some(filter), None) => write!(f, "filter {filter}: ")?,
            (None, _) => {}
        }
        f.write_str(&self.reason)
    }
}

impl std::error::Error for VqlError {}

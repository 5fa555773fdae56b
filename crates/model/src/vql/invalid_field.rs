//! Why a filter or a request is rejected.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidField {
    /// The name on the wire.
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

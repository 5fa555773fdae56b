//! Filters of the query language (`vql`).
//!
//! A [`Filter`] is valid by construction. The `wire` crate reads and writes them as JSON.

mod explain;
mod filter;
mod invalid_field;
mod issue;
mod value;
mod warnings;

pub use filter::{Filter, LabelRule, MAX_FILTERS};
pub use invalid_field::InvalidField;
pub use issue::{IssueFilter, IssueKind, IssueMode, IssueName};
pub use value::{Fraction, Label, MAX_VALUES, QueryText, ValueList};
pub use warnings::{long_query_warning, unpublished_issue_warning};

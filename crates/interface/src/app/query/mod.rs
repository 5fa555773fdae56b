//! Keeps the model of the query builder, which is a draft of filters, as a form and as the JSON
//! that is sent.
//!
//! The form and the JSON are two views of one list of rows. Invalid JSON is kept as it was typed,
//! and the rows do not change until the JSON is valid.

mod chips;
mod diagnostics;
mod draft;
mod known_values;
mod row;

pub(in crate::app) use chips::filter_summary;
pub use chips::{Chip, ChipState, chip_areas, chips};
pub use diagnostics::{Diagnostic, Severity, diagnostics, missing_enrichment};
pub use draft::{JsonEditor, QueryDraft, TextArea};
pub use known_values::{KnownValues, Suggestion};
pub use row::{FilterField, FilterKind, FilterRow};

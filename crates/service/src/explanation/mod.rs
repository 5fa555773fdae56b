//! What this service does where the interface document is silent, and how a lenient service differs: tables
//! for `serve --explain` and for the documentation.

mod choices;
mod compatibility;
mod limits;
mod table;

pub use table::{ExplanationTable, explanation_tables, serve_explanation};

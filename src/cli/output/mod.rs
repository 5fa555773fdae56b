//! The output of a command on standard output: a table in a terminal, tab-separated rows in a pipe,
//! or a JSON or CSV document.

mod document;
mod escaped_json;
pub(super) mod jq;
mod table;
mod writer;

pub use document::{Column, Document};
pub use writer::Output;

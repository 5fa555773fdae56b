//! Standard output: a table in a terminal, tab-separated in a pipe, or a JSON or CSV document.

mod document;
pub(super) mod jq;
mod table;
mod writer;

pub use document::{Column, Document};
pub use writer::{Output, write_candidates, write_picture, write_stdout};

//! The boolean full-text query language: words (all required), `AND`, `OR`, `-without`, `"exact
//! phrase"` and parentheses.
//!
//! Queries are parsed here and every word becomes the quoted FTS5 string of its stem, so that user input never
//! reaches FTS5 as syntax.

mod lexer;
mod parser;

pub use lexer::SyntaxError;
pub use parser::{FtsExpression, parse};

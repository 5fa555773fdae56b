//! The boolean full-text query language: words (all required), `AND`, `OR`, `-without`, `"exact
//! phrase"` and parentheses.
//!
//! Queries are parsed here and every word becomes a quoted FTS5 string, so that user input never
//! reaches FTS5 as syntax.

mod lexer;
mod parser;

pub use lexer::SyntaxError;
pub use parser::{FtsExpression, parse};

//! The boolean full-text query language: words (all required), `AND`, `OR`, `-without`, `"exact
//! phrase"` and parentheses.
//!
//! Queries are parsed to expressions over the stems of their words.

mod expression;
mod lexer;
mod parser;

pub use expression::{FullTextQuery, TextExpression};
pub use lexer::SyntaxError;
pub use parser::parse;

//! The database engine behind the store: connections, rows and errors, independent of the engine.
//!
//! Values of columns and parameters are those of `rusqlite`, whatever the engine.

mod connection;
mod error;
pub mod query;
mod row;

pub use connection::{Connection, Transaction};
pub use error::{QueryError, Result};
pub use row::Row;
/// The parameters of a statement: `params![first, second]` are `?1` and `?2`.
pub use rusqlite::params;

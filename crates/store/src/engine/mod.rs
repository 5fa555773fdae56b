//! Connections, rows and errors, which are the same for both engines.
//!
//! The values of columns and parameters have the types of `rusqlite`, whichever engine is used.

mod connection;
pub mod query;

pub use connection::{Connection, QueryError, Result, Row, Transaction};
pub(crate) use connection::{
    EngineConnection, EngineRow, Params, ReadRow, SqlDialect, WaitingRows,
};
pub use query::StatementBatch;
pub(crate) use rusqlite::types::{ToSqlOutput, Value, ValueRef};
/// The parameters of a statement. `params![first, second]` gives the values of `?1` and `?2`.
pub use rusqlite::{ToSql, params};

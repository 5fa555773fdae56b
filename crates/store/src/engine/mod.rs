//! Connections, rows and errors, which are the same for both engines.
//!
//! The values of columns and parameters have the types of `rusqlite`, whichever engine is used.

mod connection;
mod error;
pub mod query;
mod row_batch;

pub use connection::{Connection, Transaction};
pub(crate) use connection::{EngineConnection, ReadRow, SqlDialect};
pub use error::{QueryError, Result};
pub use query::Row;
pub(crate) use query::{EngineRow, Params};
pub use row_batch::StatementBatch;
pub(crate) use row_batch::WaitingRows;
/// The parameters of a statement. `params![first, second]` gives the values of `?1` and `?2`.
pub use rusqlite::{ToSql, params};

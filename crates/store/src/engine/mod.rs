//! The database engine behind the store: connections, rows and errors, independent of the engine.
//!
//! Values of columns and parameters are those of `rusqlite`, whatever the engine.

mod column_types;
mod connection;
mod error;
mod postgres;
pub mod query;
mod tls;

pub use connection::{Connection, Transaction};
pub use error::{QueryError, Result};
pub use postgres::PostgresConnection;
pub use query::{Row, StatementBatch};
/// The parameters of a statement: `params![first, second]` are `?1` and `?2`.
pub use rusqlite::{ToSql, params};
pub use tls::ServerVerification;

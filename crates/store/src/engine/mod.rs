//! The database engine behind the store. Connections, rows and errors have one interface for both engines.
//!
//! The values of columns and parameters have the types of `rusqlite`, whichever engine is used.

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
/// The parameters of a statement. `params![first, second]` gives the values of `?1` and `?2`.
pub use rusqlite::{ToSql, params};
pub use tls::ServerVerification;

//! The database engine behind the store: connections, rows and errors, independent of the engine.
//!
//! Values of columns and parameters are those of `rusqlite`, whatever the engine.

mod column_types;
mod connection;
mod encryption;
mod error;
mod postgres;
pub mod query;
mod row;
mod server_certificate;
mod statement_batch;

pub use connection::{Connection, Transaction};
pub use error::{QueryError, Result};
pub use postgres::PostgresConnection;
pub use row::Row;
/// The parameters of a statement: `params![first, second]` are `?1` and `?2`.
pub use rusqlite::{ToSql, params};
pub use server_certificate::ServerVerification;
pub use statement_batch::StatementBatch;

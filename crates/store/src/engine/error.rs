//! The errors of a database, whichever engine it has.

use std::{error::Error, fmt};

use rusqlite::types::FromSqlError;

type Cause = Box<dyn Error + Send + Sync>;

/// The reason why a statement failed, or why its result cannot be read.
#[derive(Debug)]
pub enum QueryError {
    /// The engine refused or failed.
    Failed(Cause),
    /// The disk of the database is full.
    StorageFull(Cause),
    /// The server does not respond, so that the result of a statement is unknown.
    Unresponsive,
    /// The server ended the connection, for example because it was restarted, so that the result of a statement is
    /// unknown.
    Disconnected(Cause),
    /// Another connection has locked the rows or tables for too long.
    Locked(Cause),
    /// The database is damaged, or is not a database of this program.
    Damaged(Cause),
    /// The server ended the transaction because it and another transaction waited for each other.
    Deadlock(Cause),
    /// A table no longer exists.
    MissingTable(Cause),
    /// A statement that must return a row returned none.
    NoRow,
    /// Another worker has taken over the task whose result was to be stored.
    LeaseLost,
    /// The task that ran a statement must stop.
    Stopped,
    /// A value cannot be stored, or a column contains an unexpected value.
    Value(Cause),
}

pub type Result<T, E = QueryError> = std::result::Result<T, E>;

impl QueryError {
    pub fn value(cause: impl Into<Cause>) -> Self {
        Self::Value(cause.into())
    }
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(cause)
            | Self::StorageFull(cause)
            | Self::Disconnected(cause)
            | Self::Locked(cause)
            | Self::Damaged(cause)
            | Self::Deadlock(cause)
            | Self::MissingTable(cause) => cause.fmt(f),
            Self::Unresponsive => f.write_str("the server does not respond"),
            Self::NoRow => f.write_str("a row is missing"),
            Self::LeaseLost => f.write_str("another worker has taken over this task"),
            Self::Stopped => f.write_str("the task was stopped"),
            Self::Value(cause) => write!(f, "a value has the wrong type ({cause})"),
        }
    }
}

impl Error for QueryError {}

impl From<FromSqlError> for QueryError {
    fn from(cause: FromSqlError) -> Self {
        Self::value(cause)
    }
}

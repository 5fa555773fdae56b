//! The errors of a database, whichever engine it has.

use std::{error::Error, fmt};

use rusqlite::{ErrorCode, types::FromSqlError};
use tokio_postgres::error::SqlState;

/// The reason why a statement failed, or why its result cannot be read.
#[derive(Debug)]
pub enum QueryError {
    Sqlite(rusqlite::Error),
    Postgres(tokio_postgres::Error),
    /// TLS cannot be used, for example because the certificates of authorities are missing.
    Encryption(String),
    /// A statement that must return a row returned none.
    NoRow,
    /// Another worker has taken over the task whose result was to be stored.
    LeaseLost,
    /// The task that ran a statement must stop.
    Stopped,
    /// A value cannot be stored, or a column contains an unexpected value.
    Value(Box<dyn Error + Send + Sync>),
}

pub type Result<T, E = QueryError> = std::result::Result<T, E>;

impl QueryError {
    pub fn value(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Value(cause.into())
    }

    /// Whether the database is damaged, or is not a database of this program. The code `Unknown` is an error in SQL,
    /// such as a missing table.
    pub fn is_damage(&self) -> bool {
        let Self::Sqlite(cause) = self else { return false };
        matches!(
            cause.sqlite_error_code(),
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt | ErrorCode::Unknown)
        )
    }

    /// Whether the server ended the transaction because it and another transaction waited for each other.
    pub fn is_deadlock(&self) -> bool {
        let is_deadlock = |code: &SqlState| *code == SqlState::T_R_DEADLOCK_DETECTED;
        matches!(self, Self::Postgres(cause) if cause.code().is_some_and(is_deadlock))
    }

    /// Whether a table no longer exists.
    pub fn is_missing_table(&self) -> bool {
        matches!(self, Self::Postgres(cause) if cause.code() == Some(&SqlState::UNDEFINED_TABLE))
    }
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(cause) => cause.fmt(f),
            // The server's own message is shown, because the library's message would only be "db error".
            Self::Postgres(cause) => match cause.as_db_error() {
                Some(reason) => reason.fmt(f),
                None => match cause.source() {
                    Some(source) => write!(f, "{cause}: {source}"),
                    None => cause.fmt(f),
                },
            },
            Self::Encryption(cause) => f.write_str(cause),
            Self::NoRow => f.write_str("a row is missing"),
            Self::LeaseLost => f.write_str("another worker has taken over this task"),
            Self::Stopped => f.write_str("the task was stopped"),
            Self::Value(cause) => write!(f, "a value has the wrong type ({cause})"),
        }
    }
}

impl Error for QueryError {}

impl From<rusqlite::Error> for QueryError {
    fn from(cause: rusqlite::Error) -> Self {
        Self::Sqlite(cause)
    }
}

impl From<tokio_postgres::Error> for QueryError {
    fn from(cause: tokio_postgres::Error) -> Self {
        Self::Postgres(cause)
    }
}

impl From<FromSqlError> for QueryError {
    fn from(cause: FromSqlError) -> Self {
        Self::value(cause)
    }
}

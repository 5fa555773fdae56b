//! A connection to a database file.

use rusqlite::{ErrorCode, types::ValueRef};

use super::recovery::register_functions;
use crate::engine::{EngineConnection, EngineRow, Params, ReadRow, SqlDialect, WaitingRows};
use crate::prelude::*;

/// Only one transaction at a time changes the file.
static DIALECT: SqlDialect = SqlDialect {
    begin: "BEGIN IMMEDIATE",
    begin_snapshot: "BEGIN DEFERRED",
    begin_rows: "BEGIN IMMEDIATE",
    skip_locked: "",
    keep_row: "",
    server_clock: None,
};

impl EngineConnection for rusqlite::Connection {
    fn dialect(&self) -> &'static SqlDialect {
        &DIALECT
    }

    fn execute_batch(&self, sql: &str) -> Result<()> {
        Ok(self.execute_batch(sql)?)
    }

    fn change(&self, sql: &str, params: Params) -> Result<u64> {
        Ok(self.prepare_cached(sql)?.execute(params)? as u64)
    }

    fn read_rows(&self, sql: &str, params: Params, each: ReadRow) -> Result<()> {
        let mut statement = self.prepare_cached(sql)?;
        let mut rows = statement.query(params)?;
        while let Some(row) = rows.next()? {
            if each(&Row(row))?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Runs the statement at once, because nothing waits for a network.
    fn add_to_batch(
        &self,
        sql: &str,
        params: Params,
        _: &mut WaitingRows,
        each: ReadRow,
    ) -> Result<()> {
        self.read_rows(sql, params, each)
    }
}

impl EngineRow for rusqlite::Row<'_> {
    fn value(&self, column: usize) -> Result<ValueRef<'_>> {
        Ok(self.get_ref(column)?)
    }
}

impl From<rusqlite::Error> for QueryError {
    /// The code `Unknown` is an error in SQL, such as a missing table, which shows that this program did not create the
    /// database.
    fn from(cause: rusqlite::Error) -> Self {
        match cause.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt | ErrorCode::Unknown) => {
                Self::Damaged(cause.into())
            }
            Some(ErrorCode::DiskFull) => Self::StorageFull(cause.into()),
            _ => Self::Failed(cause.into()),
        }
    }
}

/// Returns a connection to an opened file, with the functions that check its rows.
pub fn connection(file: rusqlite::Connection) -> Result<Connection> {
    register_functions(&file)?;
    Ok(Connection::new(file))
}

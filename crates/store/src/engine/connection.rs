//! Connections to a database, and transactions on them.

use std::{ops::Deref, sync::atomic::AtomicBool};

use super::{PostgresConnection, Result};

/// A connection to the database of one engine.
#[derive(Debug)]
pub enum Connection {
    Sqlite(rusqlite::Connection),
    Postgres(PostgresConnection),
}

/// The statement that begins a transaction which excludes all others. `PostgreSQL` would allow several transactions to
/// change the store at the same time, but some rules, such as the limit of unfinished exports and the status that
/// allows an indexing task, are checked by reading first. Each schema has its own lock.
const BEGIN_POSTGRES: &str = "BEGIN; SELECT pg_advisory_xact_lock(hashtext(current_schema()), 1)";

impl Connection {
    /// Starts a transaction that changes the store. No other transaction of this kind can start until it ends.
    pub fn begin(&self) -> Result<Transaction<'_>> {
        self.start(match self {
            Self::Sqlite(_) => "BEGIN IMMEDIATE",
            Self::Postgres(_) => BEGIN_POSTGRES,
        })
    }

    /// Starts a transaction that reads a snapshot of the store.
    pub fn begin_snapshot(&self) -> Result<Transaction<'_>> {
        self.start(match self {
            Self::Sqlite(_) => "BEGIN DEFERRED",
            Self::Postgres(_) => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        })
    }

    /// Runs statements that have neither parameters nor results, separated by semicolons.
    pub fn execute_batch(&self, sql: &str) -> Result<()> {
        match self {
            Self::Sqlite(connection) => Ok(connection.execute_batch(sql)?),
            Self::Postgres(connection) => connection.execute_batch(sql),
        }
    }

    /// Runs one statement that takes long, such as building an index. A server cancels the statement when `stop` is
    /// set.
    pub fn execute_batch_until(&self, sql: &str, stop: &AtomicBool) -> Result<()> {
        match self {
            Self::Sqlite(_) => self.execute_batch(sql),
            Self::Postgres(connection) => connection.execute_batch_until(sql, stop),
        }
    }

    /// Starts a transaction that waits only for the rows that it changes. It is meant for tasks, whose leases keep
    /// other tasks from changing the same rows. In a database file, only one transaction at a time changes the store.
    pub(crate) fn begin_rows(&self) -> Result<Transaction<'_>> {
        self.start(match self {
            Self::Sqlite(_) => "BEGIN IMMEDIATE",
            Self::Postgres(_) => "BEGIN ISOLATION LEVEL READ COMMITTED",
        })
    }

    /// Returns the end of a query for rows that will be changed. On a server, the query skips rows that another
    /// transaction is changing.
    pub(crate) fn skip_locked(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "",
            Self::Postgres(_) => " FOR UPDATE SKIP LOCKED",
        }
    }

    /// Returns the end of a query for a row that must not be removed before the transaction ends. The query waits for a
    /// transaction that is removing the row.
    pub(crate) fn keep_row(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "",
            Self::Postgres(_) => " FOR KEY SHARE",
        }
    }

    /// Whether the server or the network has closed the connection.
    pub(crate) fn is_closed(&self) -> bool {
        matches!(self, Self::Postgres(connection) if connection.is_closed())
    }

    fn start(&self, sql: &str) -> Result<Transaction<'_>> {
        let transaction = Transaction { connection: self, is_open: true };
        self.execute_batch(sql)?;
        Ok(transaction)
    }
}

/// A transaction on a connection. It is rolled back unless it is committed.
#[derive(Debug)]
pub struct Transaction<'a> {
    connection: &'a Connection,
    is_open: bool,
}

impl Transaction<'_> {
    pub fn commit(self) -> Result<()> {
        self.end("COMMIT")
    }

    pub fn rollback(self) -> Result<()> {
        self.end("ROLLBACK")
    }

    /// Ends the transaction. If a commit fails, the transaction is rolled back.
    fn end(mut self, sql: &str) -> Result<()> {
        self.connection.execute_batch(sql)?;
        self.is_open = false;
        Ok(())
    }
}

impl Deref for Transaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // Some errors have already ended the transaction, so an error here is ignored.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }
}

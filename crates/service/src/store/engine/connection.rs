//! Connections to a database, and transactions on them.

use std::ops::Deref;

use super::Result;

/// A connection to the database of one engine.
#[derive(Debug)]
pub enum Connection {
    Sqlite(rusqlite::Connection),
}

impl Connection {
    /// Starts a transaction that changes the store; no other can start until it ends.
    pub fn begin(&self) -> Result<Transaction<'_>> {
        let Self::Sqlite(_) = self;
        self.start("BEGIN IMMEDIATE")
    }

    /// Starts a transaction that reads a snapshot of the store.
    pub fn begin_snapshot(&self) -> Result<Transaction<'_>> {
        let Self::Sqlite(_) = self;
        self.start("BEGIN DEFERRED")
    }

    /// Runs statements without parameters and results, separated by semicolons.
    pub fn execute_batch(&self, sql: &str) -> Result<()> {
        let Self::Sqlite(connection) = self;
        Ok(connection.execute_batch(sql)?)
    }

    fn start(&self, sql: &str) -> Result<Transaction<'_>> {
        self.execute_batch(sql)?;
        Ok(Transaction { connection: self, is_open: true })
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

    /// A commit that fails is rolled back.
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
            // Some errors have already ended it.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }
}

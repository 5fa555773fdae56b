//! One statement with many rows of parameters.

use rusqlite::ToSql;

use super::{Connection, QueryError, Result, Row, column_types::Parameter, query::Params};

/// Rows that are sent to a server together.
const SENT_ROWS: usize = 500;
/// Fewer rows, if they are this large.
const SENT_BYTES: usize = 4 << 20;

/// Runs a statement once for each row of parameters. On a server, many rows wait only once for the network:
/// those of an `INSERT ... VALUES (?1, ..., ?n)` are one statement, so they must not change the same row twice.
#[must_use = "rows may be waiting to be sent"]
pub struct StatementBatch<'a, T = ()> {
    connection: &'a Connection,
    sql: &'a str,
    /// How a returned row is read; without it, none is.
    read: Option<fn(&Row) -> Result<T>>,
    returned: Vec<T>,
    waiting: Vec<Vec<Parameter<'static>>>,
    waiting_bytes: usize,
}

impl<'a> StatementBatch<'a> {
    pub fn new(connection: &'a Connection, sql: &'a str) -> Self {
        Self::reading(connection, sql, None)
    }
}

impl<'a, T> StatementBatch<'a, T> {
    /// For a statement that returns rows. Those of an INSERT can be in any order.
    pub fn returning(
        connection: &'a Connection,
        sql: &'a str,
        read: fn(&Row) -> Result<T>,
    ) -> Self {
        Self::reading(connection, sql, Some(read))
    }

    fn reading(
        connection: &'a Connection,
        sql: &'a str,
        read: Option<fn(&Row) -> Result<T>>,
    ) -> Self {
        let (returned, waiting) = (Vec::new(), Vec::new());
        Self { connection, sql, read, returned, waiting, waiting_bytes: 0 }
    }

    /// Runs the statement with one more row, or keeps the row until it is sent with others.
    pub fn add(&mut self, params: Params) -> Result<()> {
        let Connection::Sqlite(connection) = self.connection else {
            return self.wait(params);
        };
        let mut statement = connection.prepare_cached(self.sql)?;
        let Some(read) = self.read else {
            statement.execute(params)?;
            return Ok(());
        };
        let mut rows = statement.query(params)?;
        while let Some(row) = rows.next()? {
            self.returned.push(read(&Row::Sqlite(row))?);
        }
        Ok(())
    }

    fn wait(&mut self, params: Params) -> Result<()> {
        let owned = |value: &&dyn ToSql| -> Result<_> {
            Parameter::owned(value.to_sql()?).map_err(QueryError::Value)
        };
        let row: Vec<_> = params.iter().map(owned).collect::<Result<_>>()?;
        self.waiting_bytes += row.iter().map(Parameter::size).sum::<usize>();
        self.waiting.push(row);
        if self.waiting.len() >= SENT_ROWS || self.waiting_bytes >= SENT_BYTES {
            self.send()?;
        }
        Ok(())
    }

    fn send(&mut self) -> Result<()> {
        let Connection::Postgres(connection) = self.connection else { return Ok(()) };
        let rows = std::mem::take(&mut self.waiting);
        self.waiting_bytes = 0;
        for row in connection.query_for_all(self.sql, rows)? {
            if let Some(read) = self.read {
                self.returned.push(read(&Row::Postgres(&row))?);
            }
        }
        Ok(())
    }

    /// Runs what waits, and returns what all rows returned.
    pub fn finish(mut self) -> Result<Vec<T>> {
        if !self.waiting.is_empty() {
            self.send()?;
        }
        Ok(self.returned)
    }
}

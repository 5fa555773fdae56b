//! Runs one statement with many rows of parameters, which a server receives together.

use std::ops::ControlFlow;

use rusqlite::types::{ToSqlOutput, Value};

use super::{Connection, QueryError, Result, Row, query::Params};

/// Rows of parameters that wait to be sent together. A database file runs each at once.
#[derive(Debug, Default)]
pub(crate) struct WaitingRows {
    pub rows: Vec<Vec<Value>>,
    /// The memory of their texts and blobs.
    pub bytes: usize,
}

impl WaitingRows {
    pub fn add(&mut self, params: Params) -> Result<()> {
        let row: Vec<Value> =
            params.iter().map(|value| owned(value.to_sql()?)).collect::<Result<_>>()?;
        for value in &row {
            self.bytes += match value {
                Value::Text(text) => text.len(),
                Value::Blob(bytes) => bytes.len(),
                Value::Null | Value::Integer(_) | Value::Real(_) => 0,
            };
        }
        self.rows.push(row);
        Ok(())
    }

    /// Returns the rows, which wait no longer.
    pub fn take(&mut self) -> Vec<Vec<Value>> {
        std::mem::take(self).rows
    }
}

fn owned(value: ToSqlOutput) -> Result<Value> {
    match value {
        ToSqlOutput::Borrowed(value) => Ok(value.try_into()?),
        ToSqlOutput::Owned(value) => Ok(value),
        _ => Err(QueryError::value("this kind of parameter cannot wait")),
    }
}

/// Runs a statement once for each row of parameters. On a server, many rows wait for the network only once. The rows of
/// an `INSERT ... VALUES (?1, ..., ?n)` become one statement, so they must not change the same row twice.
#[must_use = "rows may be waiting to be sent"]
pub struct StatementBatch<'a, T = ()> {
    connection: &'a Connection,
    sql: &'a str,
    /// Reads a returned row. `None` if the statement returns no rows.
    read: Option<fn(&Row) -> Result<T>>,
    returned: Vec<T>,
    waiting: WaitingRows,
}

impl<'a> StatementBatch<'a> {
    pub fn new(connection: &'a Connection, sql: &'a str) -> Self {
        Self::reading(connection, sql, None)
    }
}

impl<'a, T> StatementBatch<'a, T> {
    /// Creates a batch of a statement that returns rows. The rows of an INSERT may be in any order.
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
        Self { connection, sql, read, returned: Vec::new(), waiting: WaitingRows::default() }
    }

    /// Runs the statement with one more row, or keeps the row until it is sent together with others.
    pub fn add(&mut self, params: Params) -> Result<()> {
        let Self { connection, sql, read, returned, waiting } = self;
        let engine = connection.engine();
        engine.add_to_batch(sql, params, waiting, &mut |row| collect(*read, returned, row))
    }

    /// Runs the statement with the waiting rows, and returns the results of all rows.
    pub fn finish(self) -> Result<Vec<T>> {
        let Self { connection, sql, read, mut returned, mut waiting } = self;
        let each = &mut |row: &Row| collect(read, &mut returned, row);
        connection.engine().send_batch(sql, &mut waiting, each)?;
        Ok(returned)
    }
}

fn collect<T>(
    read: Option<fn(&Row) -> Result<T>>,
    returned: &mut Vec<T>,
    row: &Row,
) -> Result<ControlFlow<()>> {
    returned.extend(read.map(|read| read(row)).transpose()?);
    Ok(ControlFlow::Continue(()))
}

//! Runs SQL statements: one at a time, or one statement with many rows of parameters. A connection prepares each
//! statement once. Functions of the store run SQL only through this file, and read rows of results without knowing the
//! engine.

use std::ops::ControlFlow;

use rusqlite::ToSql;

use super::{Connection, Params, QueryError, Result, Row, WaitingRows};

pub fn execute(connection: &Connection, sql: &str, params: Params) -> Result<()> {
    change(connection, sql, params).map(drop)
}

/// Runs a statement and returns the number of rows that it changed.
pub fn change(connection: &Connection, sql: &str, params: Params) -> Result<u64> {
    connection.engine().change(sql, params)
}

/// Reads the first row. Fails if there is no row.
pub fn one<T>(
    connection: &Connection,
    sql: &str,
    params: Params,
    read: impl FnOnce(&Row) -> Result<T>,
) -> Result<T> {
    find(connection, sql, params, read)?.ok_or(QueryError::NoRow)
}

/// Reads the first row, if there is one.
pub fn find<T>(
    connection: &Connection,
    sql: &str,
    params: Params,
    read: impl FnOnce(&Row) -> Result<T>,
) -> Result<Option<T>> {
    let (mut read, mut found) = (Some(read), None);
    connection.engine().read_rows(sql, params, &mut |row| {
        found = read.take().map(|read| read(row)).transpose()?;
        Ok(ControlFlow::Break(()))
    })?;
    Ok(found)
}

pub fn all<T, C: FromIterator<T>>(
    connection: &Connection,
    sql: &str,
    params: Params,
    mut read: impl FnMut(&Row) -> Result<T>,
) -> Result<C> {
    let mut values = Vec::new();
    connection.engine().read_rows(sql, params, &mut |row| {
        values.push(read(row)?);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(values.into_iter().collect())
}

/// Reads the rows whose number or identifier is in a list, in any order. The list is appended to the statement, and
/// `params` are the values before it. The last value is repeated up to a round length, so that lists of similar lengths
/// share a prepared statement.
pub(crate) fn all_listed<V: ToSql, T, C: FromIterator<T> + Default>(
    connection: &Connection,
    sql: &str,
    params: Params,
    listed: &[V],
    read: impl FnMut(&Row) -> Result<T>,
) -> Result<C> {
    let Some(last) = listed.last() else { return Ok(C::default()) };
    let count = listed.len().next_power_of_two();
    let listed = listed.iter().chain(std::iter::repeat(last)).take(count);
    let params: Vec<&dyn ToSql> =
        params.iter().copied().chain(listed.map(|value| value as &dyn ToSql)).collect();
    let places: Vec<String> =
        (params.len() - count..params.len()).map(|number| format!("?{}", number + 1)).collect();
    all(connection, &format!("{sql} ({})", places.join(", ")), &params, read)
}

/// Calls `each` with every row, without keeping the rows in memory. `each` may run other statements.
pub fn for_each<E: From<QueryError>>(
    connection: &Connection,
    sql: &str,
    params: Params,
    mut each: impl FnMut(&Row) -> Result<(), E>,
) -> Result<(), E> {
    let mut failure = None;
    connection.engine().stream_rows(sql, params, &mut |row| {
        failure = each(row).err();
        Ok(if failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    failure.map_or(Ok(()), Err)
}

/// Runs a statement once for each item, in a [`StatementBatch`]. `each` passes the parameters of its item to the
/// function that it gets.
pub(crate) fn execute_each<T>(
    connection: &Connection,
    sql: &str,
    items: impl IntoIterator<Item = T>,
    mut each: impl FnMut(T, &mut dyn FnMut(Params) -> Result<()>) -> Result<()>,
) -> Result<()> {
    let mut batch = StatementBatch::new(connection, sql);
    for item in items {
        each(item, &mut |params| batch.add(params))?;
    }
    batch.finish().map(drop)
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

//! Runs SQL statements. A connection prepares each statement once. Functions of the store run SQL only through this file, and read rows of results without knowing the
//! engine.

use std::ops::ControlFlow;

use rusqlite::{
    ToSql,
    types::{FromSql, ValueRef},
};

use super::{Connection, QueryError, Result};

/// A row as an engine returns it.
pub(crate) trait EngineRow {
    /// Returns the value of a column, numbered from 0, without copying it.
    fn value(&self, column: usize) -> Result<ValueRef<'_>>;
}

/// One row of a result. Columns are numbered from 0.
#[derive(Clone, Copy)]
pub struct Row<'a>(pub(crate) &'a dyn EngineRow);

impl Row<'_> {
    pub fn get<T: FromSql>(&self, column: usize) -> Result<T> {
        Ok(T::column_result(self.get_ref(column)?)?)
    }

    /// Returns the value of a column without copying it.
    pub fn get_ref(&self, column: usize) -> Result<ValueRef<'_>> {
        self.0.value(column)
    }
}

/// The values of `?1`, `?2` and so on, made by `params!`.
pub(crate) type Params<'a> = &'a [&'a dyn ToSql];

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

/// Reads the rows whose number is in a list, in any order. The list is appended to the statement, and `params` are the
/// values before it. The last number is repeated up to a round length, so that lists of similar lengths share a
/// prepared statement.
pub(crate) fn all_listed<T, C: FromIterator<T> + Default>(
    connection: &Connection,
    sql: &str,
    params: Params,
    numbers: &[i64],
    read: impl FnMut(&Row) -> Result<T>,
) -> Result<C> {
    let Some(last) = numbers.last() else { return Ok(C::default()) };
    let count = numbers.len().next_power_of_two();
    let numbers = numbers.iter().chain(std::iter::repeat(last)).take(count);
    let params: Vec<&dyn ToSql> =
        params.iter().copied().chain(numbers.map(|number| number as &dyn ToSql)).collect();
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

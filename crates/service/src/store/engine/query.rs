//! Running one SQL statement, prepared once for each connection. Store functions run SQL only by these.

use rusqlite::ToSql;

use super::{Connection, QueryError, Result, Row};

/// The values of `?1`, `?2` and so on, made by `params!`.
type Params<'a> = &'a [&'a dyn ToSql];

pub fn execute(connection: &Connection, sql: &str, params: Params) -> Result<()> {
    let Connection::Sqlite(connection) = connection;
    connection.prepare_cached(sql)?.execute(params)?;
    Ok(())
}

/// Reads the first row. Fails if there is none.
pub fn one<T>(
    connection: &Connection,
    sql: &str,
    params: Params,
    read: impl FnOnce(&Row) -> Result<T>,
) -> Result<T> {
    find(connection, sql, params, read)?.ok_or(QueryError::NoRow)
}

/// Reads the first row.
pub fn find<T>(
    connection: &Connection,
    sql: &str,
    params: Params,
    read: impl FnOnce(&Row) -> Result<T>,
) -> Result<Option<T>> {
    let Connection::Sqlite(connection) = connection;
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    rows.next()?.map(|row| read(&Row::Sqlite(row))).transpose()
}

pub fn all<T, C: FromIterator<T>>(
    connection: &Connection,
    sql: &str,
    params: Params,
    mut read: impl FnMut(&Row) -> Result<T>,
) -> Result<C> {
    let mut values = Vec::new();
    for_each(connection, sql, params, |row| {
        values.push(read(row)?);
        Ok::<_, QueryError>(())
    })?;
    Ok(values.into_iter().collect())
}

/// Calls `each` with every row, without keeping them in memory. It may run other statements.
pub fn for_each<E: From<QueryError>>(
    connection: &Connection,
    sql: &str,
    params: Params,
    mut each: impl FnMut(&Row) -> Result<(), E>,
) -> Result<(), E> {
    let Connection::Sqlite(connection) = connection;
    let mut statement = connection.prepare_cached(sql).map_err(QueryError::from)?;
    let mut rows = statement.query(params).map_err(QueryError::from)?;
    while let Some(row) = rows.next().map_err(QueryError::from)? {
        each(&Row::Sqlite(row))?;
    }
    Ok(())
}

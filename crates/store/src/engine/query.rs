//! Running one SQL statement, prepared once for each connection. Store functions run SQL only by these.

use rusqlite::ToSql;

use super::{Connection, QueryError, Result, Row};

/// The values of `?1`, `?2` and so on, made by `params!`.
pub(super) type Params<'a> = &'a [&'a dyn ToSql];

pub fn execute(connection: &Connection, sql: &str, params: Params) -> Result<()> {
    change(connection, sql, params).map(drop)
}

/// Returns the number of rows that were changed.
pub fn change(connection: &Connection, sql: &str, params: Params) -> Result<u64> {
    match connection {
        Connection::Sqlite(connection) => {
            Ok(connection.prepare_cached(sql)?.execute(params)? as u64)
        }
        Connection::Postgres(connection) => connection.execute(sql, params),
    }
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
    match connection {
        Connection::Sqlite(connection) => {
            let mut statement = connection.prepare_cached(sql)?;
            let mut rows = statement.query(params)?;
            rows.next()?.map(|row| read(&Row::Sqlite(row))).transpose()
        }
        Connection::Postgres(connection) => {
            let rows = connection.query(sql, params)?;
            rows.first().map(|row| read(&Row::Postgres(row))).transpose()
        }
    }
}

pub fn all<T, C: FromIterator<T>>(
    connection: &Connection,
    sql: &str,
    params: Params,
    mut read: impl FnMut(&Row) -> Result<T>,
) -> Result<C> {
    match connection {
        Connection::Sqlite(connection) => {
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map(params, |row| Ok(read(&Row::Sqlite(row))))?;
            rows.map(|row| row?).collect()
        }
        Connection::Postgres(connection) => {
            connection.query(sql, params)?.iter().map(|row| read(&Row::Postgres(row))).collect()
        }
    }
}

/// Reads the rows whose number is in a list, in any order. The statement ends before the list; `params` are the
/// values before it. Lists of similar lengths share a prepared statement: the last number is repeated.
pub fn all_listed<T, C: FromIterator<T> + Default>(
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

/// Calls `each` with every row, without keeping them in memory. It may run other statements.
pub fn for_each<E: From<QueryError>>(
    connection: &Connection,
    sql: &str,
    params: Params,
    mut each: impl FnMut(&Row) -> Result<(), E>,
) -> Result<(), E> {
    let connection = match connection {
        Connection::Sqlite(connection) => connection,
        Connection::Postgres(connection) => {
            return connection.for_each(sql, params, |row| each(&Row::Postgres(row)));
        }
    };
    let mut statement = connection.prepare_cached(sql).map_err(QueryError::from)?;
    let mut rows = statement.query(params).map_err(QueryError::from)?;
    while let Some(row) = rows.next().map_err(QueryError::from)? {
        each(&Row::Sqlite(row))?;
    }
    Ok(())
}

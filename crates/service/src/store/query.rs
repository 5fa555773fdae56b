//! Running one SQL statement, prepared once for each connection.

use rusqlite::{Connection, OptionalExtension as _, Params, Result, Row};

pub(super) fn execute(connection: &Connection, sql: &str, params: impl Params) -> Result<()> {
    connection.prepare_cached(sql)?.execute(params).map(drop)
}

pub(super) fn one<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnOnce(&Row) -> Result<T>,
) -> Result<T> {
    connection.prepare_cached(sql)?.query_row(params, read)
}

pub(super) fn find<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnOnce(&Row) -> Result<T>,
) -> Result<Option<T>> {
    one(connection, sql, params, read).optional()
}

pub(super) fn all<T, C: FromIterator<T>>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnMut(&Row) -> Result<T>,
) -> Result<C> {
    connection.prepare_cached(sql)?.query_map(params, read)?.collect()
}

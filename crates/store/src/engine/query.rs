//! Runs SQL statements: one at a time, or one statement with many rows of parameters. A connection prepares each
//! statement once. Functions of the store run SQL only through this file, and read rows of results without knowing the
//! engine.

use rusqlite::{
    ToSql,
    types::{FromSql, ValueRef},
};

use super::{
    Connection, QueryError, Result,
    column_types::{ColumnValue, Parameter},
};

/// One row of a result. Columns are numbered from 0.
#[derive(Clone, Copy, Debug)]
pub enum Row<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    Postgres(&'a tokio_postgres::Row),
}

impl Row<'_> {
    pub fn get<T: FromSql>(&self, column: usize) -> Result<T> {
        Ok(T::column_result(self.get_ref(column)?)?)
    }

    /// Returns the value of a column without copying it.
    pub fn get_ref(&self, column: usize) -> Result<ValueRef<'_>> {
        match self {
            Self::Sqlite(row) => Ok(row.get_ref(column)?),
            Self::Postgres(row) => {
                let ColumnValue(value) = row.try_get(column)?;
                Ok(value)
            }
        }
    }
}

/// The values of `?1`, `?2` and so on, made by `params!`.
type Params<'a> = &'a [&'a dyn ToSql];

pub fn execute(connection: &Connection, sql: &str, params: Params) -> Result<()> {
    change(connection, sql, params).map(drop)
}

/// Runs a statement and returns the number of rows that it changed.
pub fn change(connection: &Connection, sql: &str, params: Params) -> Result<u64> {
    match connection {
        Connection::Sqlite(connection) => {
            Ok(connection.prepare_cached(sql)?.execute(params)? as u64)
        }
        Connection::Postgres(connection) => connection.execute(sql, params),
    }
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

/// Reads the rows whose number is in a list, in any order. The list is appended to the statement, and `params` are the
/// values before it. The last number is repeated up to a round length, so that lists of similar lengths share a
/// prepared statement.
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

/// Calls `each` with every row, without keeping the rows in memory. `each` may run other statements.
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

/// The maximum number of rows that are sent to a server together.
const SENT_ROWS: usize = 500;
/// The number of bytes after which fewer rows are sent together.
const SENT_BYTES: usize = 4 << 20;

/// Runs a statement once for each row of parameters. On a server, many rows wait for the network only once. The rows of
/// an `INSERT ... VALUES (?1, ..., ?n)` become one statement, so they must not change the same row twice.
#[must_use = "rows may be waiting to be sent"]
pub struct StatementBatch<'a, T = ()> {
    connection: &'a Connection,
    sql: &'a str,
    /// Reads a returned row. `None` if the statement returns no rows.
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
        let (returned, waiting) = (Vec::new(), Vec::new());
        Self { connection, sql, read, returned, waiting, waiting_bytes: 0 }
    }

    /// Runs the statement with one more row, or keeps the row until it is sent together with others.
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

    /// Runs the statement with the waiting rows, and returns the results of all rows.
    pub fn finish(mut self) -> Result<Vec<T>> {
        if !self.waiting.is_empty() {
            self.send()?;
        }
        Ok(self.returned)
    }
}

//! Connections to a database, transactions on them, and the rows that they read and send. What each engine does in its
//! own way is behind [`EngineConnection`], which `sqlite` and `postgres` implement.

use std::{
    error::Error,
    fmt,
    ops::{ControlFlow, Deref},
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use rusqlite::{
    ToSql,
    types::{FromSql, FromSqlError, ToSqlOutput, Value, ValueRef},
};

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

/// Rows of parameters that wait to be sent together. With a database file, no rows wait, because each statement runs at
/// once.
#[derive(Debug, Default)]
pub(crate) struct WaitingRows {
    pub rows: Vec<Vec<Value>>,
    /// The memory of the texts and blobs in the rows.
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

    /// Returns the rows and removes them from the waiting ones.
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

/// A function that is called with each row of a result, and returns whether to read the next one.
pub(crate) type ReadRow<'a> = &'a mut dyn FnMut(&Row) -> Result<ControlFlow<()>>;

/// A connection of one engine.
pub(crate) trait EngineConnection: fmt::Debug + Send {
    fn dialect(&self) -> &'static SqlDialect;

    /// Runs statements that have neither parameters nor results, separated by semicolons.
    fn execute_batch(&self, sql: &str) -> Result<()>;

    /// Runs one statement that takes long. A server cancels the statement when `stop` is set.
    fn execute_batch_until(&self, sql: &str, _stop: &AtomicBool) -> Result<()> {
        self.execute_batch(sql)
    }

    /// Runs a statement and returns the number of rows that it changed.
    fn change(&self, sql: &str, params: Params) -> Result<u64>;

    /// Reads a result. A server sends all rows at once.
    fn read_rows(&self, sql: &str, params: Params, each: ReadRow) -> Result<()>;

    /// Reads a large result in parts, so that other statements can run meanwhile. Needs a transaction.
    fn stream_rows(&self, sql: &str, params: Params, each: ReadRow) -> Result<()> {
        self.read_rows(sql, params, each)
    }

    /// Runs a statement with one more row of parameters, or keeps the row in `waiting`.
    fn add_to_batch(
        &self,
        sql: &str,
        params: Params,
        waiting: &mut WaitingRows,
        each: ReadRow,
    ) -> Result<()>;

    /// Runs a statement with the waiting rows.
    fn send_batch(&self, _sql: &str, _waiting: &mut WaitingRows, _each: ReadRow) -> Result<()> {
        Ok(())
    }

    /// Whether the server or the network has closed the connection.
    fn is_closed(&self) -> bool {
        false
    }
}

/// The SQL that an engine writes in its own way.
pub(crate) struct SqlDialect {
    /// Starts a transaction that excludes all others of its kind.
    pub begin: &'static str,
    /// Starts a transaction that reads a snapshot.
    pub begin_snapshot: &'static str,
    /// Starts a transaction that waits only for the rows that it changes.
    pub begin_rows: &'static str,
    /// Ends a query for rows that will be changed. The query skips rows that another transaction is changing.
    pub skip_locked: &'static str,
    /// Ends a query for a row that must not be removed before the transaction ends. The query waits for a transaction
    /// that is removing the row.
    pub keep_row: &'static str,
    /// Reads the clock of the server, in microseconds since 1970. The value is `None` if only this machine uses the
    /// database.
    pub server_clock: Option<&'static str>,
}

/// A connection to the database, whichever engine it has.
#[derive(Debug)]
pub struct Connection {
    engine: Box<dyn EngineConnection>,
    /// The folder in which uploads and opened archives are. It is empty for a connection outside a store.
    index_folder: PathBuf,
}

impl Connection {
    pub(crate) fn new(connection: impl EngineConnection + 'static) -> Self {
        Self { engine: Box::new(connection), index_folder: PathBuf::new() }
    }

    pub(crate) fn of_index_folder(self, folder: &Path) -> Self {
        Self { index_folder: folder.to_owned(), ..self }
    }

    pub(crate) fn index_folder(&self) -> &Path {
        &self.index_folder
    }

    pub(crate) fn engine(&self) -> &dyn EngineConnection {
        &*self.engine
    }

    pub(crate) fn dialect(&self) -> &'static SqlDialect {
        self.engine.dialect()
    }

    /// Whether other processes may use the database.
    pub(crate) fn is_on_server(&self) -> bool {
        self.dialect().server_clock.is_some()
    }

    /// Starts a transaction that changes the store. No other transaction of this kind can start until it ends.
    pub fn begin(&self) -> Result<Transaction<'_>> {
        self.start(self.dialect().begin)
    }

    /// Starts a transaction that reads a snapshot of the store.
    pub(crate) fn begin_snapshot(&self) -> Result<Transaction<'_>> {
        self.start(self.dialect().begin_snapshot)
    }

    /// Starts a transaction that waits only for the rows that it changes. It is meant for tasks, whose leases keep
    /// other tasks from changing the same rows. In a database file, only one transaction at a time changes the store.
    pub(crate) fn begin_rows(&self) -> Result<Transaction<'_>> {
        self.start(self.dialect().begin_rows)
    }

    /// Runs statements that have neither parameters nor results, separated by semicolons.
    pub fn execute_batch(&self, sql: &str) -> Result<()> {
        self.engine.execute_batch(sql)
    }

    /// Runs one statement that takes long, such as building an index. A server cancels the statement when `stop` is
    /// set.
    pub fn execute_batch_until(&self, sql: &str, stop: &AtomicBool) -> Result<()> {
        self.engine.execute_batch_until(sql, stop)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.engine.is_closed()
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

// The errors of a database, whichever engine it has.

type Cause = Box<dyn Error + Send + Sync>;

/// The reason why a statement failed, or why its result cannot be read.
#[derive(Debug)]
pub enum QueryError {
    /// The engine refused or failed.
    Failed(Cause),
    /// The disk of the database is full.
    StorageFull(Cause),
    /// The server does not respond, so that the result of a statement is unknown.
    Unresponsive,
    /// The server cannot be reached, has no free connection, or ended the connection. The result of a statement is
    /// unknown.
    Disconnected(Cause),
    /// Another connection has locked the rows or tables for too long.
    Locked(Cause),
    /// The server refused, and what its operator can do about it.
    Refused(Cause, &'static str),
    /// The server accepts no changes, like a standby, or a server whose operator protects a disk that is almost full.
    ReadOnly(Cause),
    /// The database is damaged, or is not a database of this program.
    Damaged(Cause),
    /// The server ended the transaction because it and another transaction waited for each other.
    Deadlock(Cause),
    /// A table no longer exists.
    MissingTable(Cause),
    /// A statement that must return a row returned none.
    NoRow,
    /// Another worker has taken over the task whose result was to be stored.
    LeaseLost,
    /// The task that ran a statement must stop.
    Stopped,
    /// A value cannot be stored, or a column contains an unexpected value.
    Value(Cause),
}

pub type Result<T, E = QueryError> = std::result::Result<T, E>;

impl QueryError {
    pub fn value(cause: impl Into<Cause>) -> Self {
        Self::Value(cause.into())
    }

    /// Returns what the operator of the store can do about the error.
    pub(crate) fn remedy(&self) -> &'static str {
        match self {
            Self::Refused(_, remedy) => remedy,
            Self::Disconnected(_) | Self::Unresponsive => "check the server and --store",
            Self::Locked(_) => "end the session on the server that has the lock",
            Self::ReadOnly(_) => "connect to the primary, or ask its operator",
            _ => "check free space and permissions",
        }
    }
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(cause)
            | Self::StorageFull(cause)
            | Self::Disconnected(cause)
            | Self::Locked(cause)
            | Self::Refused(cause, _)
            | Self::ReadOnly(cause)
            | Self::Damaged(cause)
            | Self::Deadlock(cause)
            | Self::MissingTable(cause) => cause.fmt(f),
            Self::Unresponsive => f.write_str("the server does not respond"),
            Self::NoRow => f.write_str("a row is missing"),
            Self::LeaseLost => f.write_str("another worker has taken over this task"),
            Self::Stopped => f.write_str("the task was stopped"),
            Self::Value(cause) => write!(f, "a value has the wrong type ({cause})"),
        }
    }
}

impl Error for QueryError {}

impl From<FromSqlError> for QueryError {
    fn from(cause: FromSqlError) -> Self {
        Self::value(cause)
    }
}

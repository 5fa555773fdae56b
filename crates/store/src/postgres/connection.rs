//! A connection to PostgreSQL. Its functions may block on any thread, even on a thread of an async runtime.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    error::Error as _,
    future::poll_fn,
    io,
    ops::ControlFlow,
    pin::pin,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::future::{Either, join, select, try_join_all};
use tokio::{
    runtime::{Builder, Runtime},
    task::unconstrained,
    time::{sleep, timeout},
};
use tokio_postgres::{
    AsyncMessage, Client, Config, Row as PostgresRow, Statement,
    error::SqlState,
    types::{ToSql, Type},
};

use super::{
    column_types::{ColumnValue, Parameter},
    tls::{Encryption, ServerVerification},
};
use crate::engine::{
    EngineConnection, EngineRow, Params, QueryError, ReadRow, Result, Row, SqlDialect, ToSqlOutput,
    Value, ValueRef, WaitingRows,
};

/// The number of rows that are in memory at a time while a large result is read.
const FETCHED_ROWS: usize = 500;

/// Makes PostgreSQL plan a cursor for all of its rows. By default, it plans for the first tenth, with an index that
/// gives the order, and then compares all rows.
const READ_CURSORS_TO_THE_END: &str = "SET cursor_tuple_fraction = 1";

/// Ends a statement that waits long for a lock of another connection, unless the server or the address of the store
/// says how long. Otherwise a forgotten transaction of an administrator would stop all requests.
const LIMIT_LOCK_WAITS: &str =
    "SELECT set_config('lock_timeout', '15s', false) WHERE current_setting('lock_timeout') = '0'";

/// The maximum number of rows that are sent to the server together.
const SENT_ROWS: usize = 500;
/// The number of bytes after which fewer rows are sent together.
const SENT_BYTES: usize = 4 << 20;

/// The interval at which a long statement checks whether it must stop.
const STOP_CHECKS: Duration = Duration::from_millis(50);

/// The time after which a statement checks whether the server still runs it. The server may take longer.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(5);
/// The number of successive checks without the statement after which a connection is lost. The statement, or its result,
/// can be on its way for a while on a slow network.
const MISSES: u32 = 6;
/// What a check counts that does not even find the process of the server. A single check can come at the moment when
/// this process ends.
const MISSES_WITHOUT_PROCESS: u32 = MISSES / 2;
/// The time that the server has to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Names the process of the server that works for this connection. Another process can have the same number later.
const SESSION: &str =
    "SELECT concat(pid, ' ', extract(epoch FROM backend_start)) FROM pg_stat_activity
     WHERE pid = pg_backend_pid()";
/// Whether the process with this name runs a statement.
const IS_BUSY: &str = "SELECT coalesce(state NOT LIKE 'idle%', true) FROM pg_stat_activity
     WHERE concat(pid, ' ', extract(epoch FROM backend_start)) = $1";

/// The number of statements that stay prepared. The functions of the store have about a hundred.
const MAX_STATEMENTS: usize = 500;

#[derive(Debug)]
pub(crate) struct PostgresConnection {
    client: Client,
    config: Config,
    /// The process of the server that works for this connection, as [`SESSION`] names it.
    session: String,
    /// Whether the server did not respond, so that the connection cannot be used any more.
    is_abandoned: Cell<bool>,
    /// The encryption of the connection that cancels a statement.
    encryption: Encryption,
    statements: RefCell<HashMap<String, Statement>>,
    /// The number of cursors that were opened, from which their names are made.
    cursors: Cell<u64>,
}

impl PostgresConnection {
    /// Connects to a server. `on_notification` is called on another thread after each notification that the server
    /// sends.
    ///
    /// # Errors
    /// The server refuses the connection, or does not respond in time.
    pub(crate) fn connect(
        config: &Config,
        verification: &ServerVerification,
        on_notification: impl Fn() + Send + 'static,
    ) -> Result<Self> {
        let encryption = Encryption::new(verification).map_err(QueryError::value)?;
        let runtime = network_runtime().map_err(QueryError::value)?;
        let entered = runtime.handle().clone();
        let (config, tls) = (config.clone(), encryption.clone());
        let target = config.clone();
        let connecting =
            entered.spawn(async move { timeout(CONNECT_TIMEOUT, target.connect(tls)).await });
        let connected = block_on(connecting).map_err(QueryError::value)?;
        let (client, mut connection) = connected.map_err(|_| QueryError::Unresponsive)??;
        // The connection task ends when the client is dropped. The functions of the client return its errors.
        entered.spawn(async move {
            while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await
            {
                if let AsyncMessage::Notification(_) = message {
                    on_notification();
                }
            }
        });
        let (statements, cursors) = (RefCell::default(), Cell::new(0));
        let (session, is_abandoned) = (String::new(), Cell::new(false));
        let mut connected =
            Self { client, config, session, is_abandoned, encryption, statements, cursors };
        for setting in [READ_CURSORS_TO_THE_END, LIMIT_LOCK_WAITS] {
            connected.wait(connected.client.batch_execute(setting))?;
        }
        connected.session = connected.wait(connected.client.query_one(SESSION, &[]))?.try_get(0)?;
        Ok(connected)
    }

    /// Waits for the server as long as it runs the statement, which may take long. A server that does not respond to
    /// another connection either has stopped. A server that responds there but does not run the statement has lost this
    /// connection, for example because another server has replaced it, or because a firewall forgot the connection.
    fn wait<T>(&self, work: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Result<T> {
        if self.is_abandoned.get() {
            return Err(QueryError::Unresponsive);
        }
        let runtime = network_runtime().map_err(QueryError::value)?;
        let _timers = runtime.enter();
        block_on(async {
            let mut work = pin!(work);
            let mut misses = 0;
            loop {
                if let Either::Left((done, _)) =
                    select(&mut work, pin!(sleep(RESPONSE_TIMEOUT))).await
                {
                    return Ok(done?);
                }
                let check =
                    is_busy(self.config.clone(), self.encryption.clone(), self.session.clone());
                misses = match timeout(CONNECT_TIMEOUT, runtime.spawn(check)).await {
                    Ok(Ok(Ok(Some(false)))) => misses + 1,
                    Ok(Ok(Ok(None))) => misses + MISSES_WITHOUT_PROCESS,
                    // A server that refuses the connection responds.
                    Ok(_) => 0,
                    Err(_) => MISSES,
                };
                if misses >= MISSES {
                    self.is_abandoned.set(true);
                    return Err(QueryError::Unresponsive);
                }
            }
        })
    }

    /// Runs a statement once for each row of parameters, without waiting between the rows.
    fn query_for_all(&self, sql: &str, rows: Vec<Vec<Value>>) -> Result<Vec<PostgresRow>> {
        let parameter = |value| Parameter(ToSqlOutput::Owned(value));
        let rows: Vec<Vec<_>> =
            rows.into_iter().map(|row| row.into_iter().map(parameter).collect()).collect();
        let statement = self.prepare(sql)?;
        if let Some(insert) = insert_of_arrays(sql, statement.params()) {
            let columns = columns_of(rows);
            return self.wait(self.client.query(&self.prepare(&insert)?, &references(&columns)));
        }
        let rows: Vec<_> = rows.iter().map(|row| references(row)).collect();
        let running = rows.iter().map(|row| self.client.query(&statement, row));
        let mut returned = Vec::new();
        for found in self.wait(try_join_all(running))? {
            returned.extend(found);
        }
        Ok(returned)
    }

    /// Opens a cursor. Returns the statement that fetches its next rows.
    fn open_cursor(&self, number: u64, sql: &str, params: Params) -> Result<Statement> {
        let values = parameters(params)?;
        let declare = format!("DECLARE cursor_{number} NO SCROLL CURSOR FOR {}", in_postgres(sql));
        self.wait(self.client.execute(&declare, &references(&values)))?;
        let fetch = format!("FETCH {FETCHED_ROWS} FROM cursor_{number}");
        self.wait(self.client.prepare(&fetch))
    }

    fn prepare(&self, sql: &str) -> Result<Statement> {
        if let Some(statement) = self.statements.borrow().get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.wait(self.client.prepare(&in_postgres(sql)))?;
        let mut statements = self.statements.borrow_mut();
        if statements.len() == MAX_STATEMENTS {
            statements.clear();
        }
        statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}

/// A transaction that changes the store takes a lock of its schema. `PostgreSQL` would allow several such transactions
/// at the same time, but some rules, such as the limit of unfinished exports, are checked by reading first.
static DIALECT: SqlDialect = SqlDialect {
    begin: "BEGIN; SELECT pg_advisory_xact_lock(hashtext(current_schema()), 1)",
    begin_snapshot: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    begin_rows: "BEGIN ISOLATION LEVEL READ COMMITTED",
    skip_locked: " FOR UPDATE SKIP LOCKED",
    keep_row: " FOR KEY SHARE",
    server_clock: Some("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)"),
};

impl EngineConnection for PostgresConnection {
    fn dialect(&self) -> &'static SqlDialect {
        &DIALECT
    }

    fn execute_batch(&self, sql: &str) -> Result<()> {
        self.wait(self.client.batch_execute(sql))
    }

    /// Cancels the statement when `stop` is set, and then fails with [`QueryError::Stopped`].
    fn execute_batch_until(&self, sql: &str, stop: &AtomicBool) -> Result<()> {
        let is_done = self.wait(async {
            let mut run = pin!(self.client.batch_execute(sql));
            if let Either::Left((done, _)) = select(&mut run, pin!(until_set(stop))).await {
                return done.map(|()| true);
            }
            loop {
                // A cancel request that arrives before the statement has no effect, so it is repeated.
                let token = self.client.cancel_token();
                token.cancel_query(self.encryption.clone()).await?;
                if let Either::Left(_) = select(&mut run, pin!(sleep(STOP_CHECKS))).await {
                    return Ok(false);
                }
            }
        })?;
        if is_done { Ok(()) } else { Err(QueryError::Stopped) }
    }

    fn change(&self, sql: &str, params: Params) -> Result<u64> {
        let values = parameters(params)?;
        self.wait(self.client.execute(&self.prepare(sql)?, &references(&values)))
    }

    fn read_rows(&self, sql: &str, params: Params, each: ReadRow) -> Result<()> {
        let values = parameters(params)?;
        let rows = self.wait(self.client.query(&self.prepare(sql)?, &references(&values)))?;
        read_all(&rows, each).map(drop)
    }

    fn stream_rows(&self, sql: &str, params: Params, each: ReadRow) -> Result<()> {
        let number = self.cursors.get() + 1;
        self.cursors.set(number);
        let fetch = self.open_cursor(number, sql, params)?;
        loop {
            let rows = self.wait(self.client.query(&fetch, &[]))?;
            if read_all(&rows, each)?.is_break() || rows.len() < FETCHED_ROWS {
                break;
            }
        }
        self.execute_batch(&format!("CLOSE cursor_{number}"))
    }

    fn add_to_batch(
        &self,
        sql: &str,
        params: Params,
        waiting: &mut WaitingRows,
        each: ReadRow,
    ) -> Result<()> {
        waiting.add(params)?;
        if waiting.rows.len() >= SENT_ROWS || waiting.bytes >= SENT_BYTES {
            self.send_batch(sql, waiting, each)?;
        }
        Ok(())
    }

    fn send_batch(&self, sql: &str, waiting: &mut WaitingRows, each: ReadRow) -> Result<()> {
        if waiting.rows.is_empty() {
            return Ok(());
        }
        read_all(&self.query_for_all(sql, waiting.take())?, each).map(drop)
    }

    fn is_closed(&self) -> bool {
        self.client.is_closed() || self.is_abandoned.get()
    }
}

fn read_all(rows: &[PostgresRow], each: ReadRow) -> Result<ControlFlow<()>> {
    for row in rows {
        if each(&Row(row))?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

impl EngineRow for PostgresRow {
    fn value(&self, column: usize) -> Result<ValueRef<'_>> {
        let ColumnValue(value) = self.try_get(column)?;
        Ok(value)
    }
}

impl From<tokio_postgres::Error> for QueryError {
    fn from(cause: tokio_postgres::Error) -> Self {
        // The server's own message is shown, because the library's message would only be "db error".
        let message = match (cause.as_db_error(), cause.source()) {
            (Some(reason), _) => reason.to_string(),
            (None, Some(source)) => format!("{cause}: {source}"),
            (None, None) => cause.to_string(),
        };
        if cause.is_closed() || is_network_error(&cause) {
            return Self::Disconnected(message.into());
        }
        of_server(cause.code().map_or("", SqlState::code), message)
    }
}

/// Converts an error of the server, given by its code (`SQLSTATE`), whose first two characters are its class.
fn of_server(code: &str, message: String) -> QueryError {
    let error = match code {
        "25006" => QueryError::ReadOnly,
        "40001" | "40P01" => QueryError::Deadlock,
        "42P01" => QueryError::MissingTable,
        "53100" => QueryError::StorageFull,
        "55P03" => QueryError::Locked,
        // The server or a pool before it stops, starts or has too many connections, or has ended an idle one.
        "25P03" | "53300" | "57P01" | "57P02" | "57P03" | "57P05" => QueryError::Disconnected,
        _ if code.starts_with("08") => QueryError::Disconnected,
        _ => return refused(code, message),
    };
    error(message.into())
}

fn refused(code: &str, message: String) -> QueryError {
    let remedy = match (code.get(..2).unwrap_or_default(), code) {
        // A statement or a cursor is missing on the session, or is of another client.
        (_, "26000" | "34000" | "42P05") => {
            "use a connection pool that keeps a session for each connection, like PgBouncer with pool_mode = session"
        }
        ("28", _) => {
            "check the user and the password in the address of the store, and pg_hba.conf of the server"
        }
        (_, "3D000" | "57P04") => {
            "create the database, or name another one in the address of the store"
        }
        (_, "3F000") => "create the schema that search_path names",
        (_, "42501") => "allow the user of the store to create and change tables in its schema",
        ("53", _) => "give the server more memory, or raise its limits",
        (_, "57014") => "raise statement_timeout for the user of the store",
        ("58" | "XX", _) => "read the log of the server, and check its disk",
        _ => return QueryError::Failed(message.into()),
    };
    QueryError::Refused(message.into(), remedy)
}

/// Whether the network is the cause, for example because no server accepts the connection. Messages of a server that
/// cannot be read are errors of other kinds.
fn is_network_error(cause: &tokio_postgres::Error) -> bool {
    let cause = cause.source().and_then(|source| source.downcast_ref::<io::Error>());
    cause.is_some_and(|cause| {
        !matches!(cause.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData)
    })
}

/// Asks the server over another connection whether it runs a statement of this session. Returns `None` if the server has
/// no such session.
async fn is_busy(
    config: Config,
    tls: Encryption,
    session: String,
) -> Result<Option<bool>, tokio_postgres::Error> {
    let (client, connection) = config.connect(tls).await?;
    let ask = async {
        let found = client.query_opt(IS_BUSY, &[&session]).await;
        // The connection ends when its client is dropped.
        drop(client);
        found?.map(|row| row.try_get(0)).transpose()
    };
    join(ask, connection).await.0
}

/// Waits for a future on this thread. A task of a runtime may be this thread's work, and tokio lets a task poll only
/// a limited number of times before it must yield. A task that waits here never yields, so without `unconstrained` the
/// future would never be ready again beyond that limit.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    futures_executor::block_on(unconstrained(future))
}

async fn until_set(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        sleep(STOP_CHECKS).await;
    }
}

/// Translates our SQL to that of PostgreSQL. `?1` becomes `$1`. `require(...)`, which checks the checksum of a row in
/// `SQLite`, becomes `true`, because the server has checksums for its pages. No text in our SQL contains a question
/// mark.
fn in_postgres(sql: &str) -> String {
    let mut parts = sql.split("require(");
    let mut translated = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        translated += "true";
        translated += after_parentheses(part);
    }
    translated.replace('?', "$")
}

/// Returns the text after the parenthesis that ends the arguments of a function.
fn after_parentheses(arguments: &str) -> &str {
    let mut depth = 1;
    for (position, character) in arguments.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &arguments[position + 1..];
        }
    }
    ""
}

fn parameters(params: Params<'_>) -> Result<Vec<Parameter<'_>>> {
    params.iter().map(|value| Ok(Parameter(value.to_sql()?))).collect()
}

fn references<T: ToSql + Sync>(values: &[T]) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

/// Converts a statement `INSERT ... VALUES (?1, ..., ?n)` for one row to a statement that inserts all rows of `n`
/// arrays.
fn insert_of_arrays(sql: &str, types: &[Type]) -> Option<String> {
    let (head, rest) = sql.split_once("VALUES (?1")?;
    let (_, tail) = rest.split_once(')')?;
    let array = |(number, column): (usize, &Type)| {
        format!("?{number}::{}.{}[]", column.schema(), column.name())
    };
    let arrays = (1..).zip(types).map(array);
    let arrays = arrays.collect::<Vec<_>>().join(", ");
    Some(format!("{head}SELECT * FROM unnest({arrays}){tail}"))
}

/// Returns the values of each column of some rows.
fn columns_of<T>(rows: Vec<Vec<T>>) -> Vec<Vec<T>> {
    let mut columns: Vec<Vec<T>> = Vec::new();
    for row in rows {
        columns.resize_with(row.len(), Vec::new);
        for (column, value) in columns.iter_mut().zip(row) {
            column.push(value);
        }
    }
    columns
}

/// Returns the runtime that transfers the bytes of all connections. Threads that wait for the bytes therefore need no
/// runtime of their own.
fn network_runtime() -> io::Result<&'static Runtime> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    if RUNTIME.get().is_none() {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("database")
            .enable_all()
            .build()?;
        // Another thread may have created the runtime first.
        if let Err(second) = RUNTIME.set(runtime) {
            second.shutdown_background();
        }
    }
    RUNTIME.get().ok_or_else(|| io::Error::other("the runtime for the database is missing"))
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read as _, Write as _},
        net::TcpListener,
        thread,
    };

    use super::*;

    /// Connects to a server that refuses the connection with this code.
    fn refusal(code: &str) -> QueryError {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let fields = format!("SFATAL\0C{code}\0Mrefused\0\0");
        let server = thread::spawn(move || {
            let (mut client, _) = listener.accept().unwrap();
            let _ = client.read(&mut [0; 1024]).unwrap();
            let length = u32::try_from(fields.len() + 4).unwrap().to_be_bytes();
            client.write_all(&[b"E", &length[..], fields.as_bytes()].concat()).unwrap();
        });
        let refusal = connect(port);
        server.join().unwrap();
        refusal
    }

    fn connect(port: u16) -> QueryError {
        let config = format!("host=127.0.0.1 port={port} user=ann sslmode=disable");
        let verification = ServerVerification::Unverified;
        PostgresConnection::connect(&config.parse().unwrap(), &verification, || {}).unwrap_err()
    }

    #[test]
    fn a_server_that_is_stopped_starting_or_full_is_disconnected() {
        for code in ["08006", "25P03", "53300", "57P01", "57P02", "57P03", "57P05"] {
            assert!(matches!(refusal(code), QueryError::Disconnected(_)), "{code}");
        }
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        assert!(matches!(connect(closed), QueryError::Disconnected(_)));
    }

    #[test]
    fn each_class_of_errors_has_its_remedy() {
        for (code, remedy) in [
            ("28P01", "the password"),
            ("3D000", "create the database"),
            ("3F000", "search_path"),
            ("42501", "allow the user"),
            ("42P05", "pool_mode = session"),
            ("53200", "more memory"),
            ("57014", "statement_timeout"),
            ("58030", "log of the server"),
            ("XX001", "log of the server"),
            ("08P01", "check the server and --store"),
            ("42601", "check free space and permissions"),
        ] {
            let error = crate::StoreError::from(refusal(code)).to_string();
            assert!(error.contains("refused") && error.contains(remedy), "{code}: {error}");
        }
    }

    #[test]
    fn checksums_are_not_required_of_a_server() {
        let sql = "SELECT a, require(coalesce(b.intact, b.media IS NULL)), c FROM b
                   WHERE require(intact) AND media IN (?1, ?2)";
        let translated = "SELECT a, true, c FROM b
                   WHERE true AND media IN ($1, $2)";
        assert_eq!(in_postgres(sql), translated);
    }
}

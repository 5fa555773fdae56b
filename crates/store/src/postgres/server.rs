//! Opens a store on a server, creates its tables, and describes it to its operator: its version and size, its clock,
//! its extensions and its workers.

use super::{StoreAddress, connection::PostgresConnection, schema};
use crate::{
    StoreError,
    engine::{Connection, Result, params},
    indexing_task::{self, UnfinishedTasks},
    now_micros, query, setting,
    several_processes::{
        lease,
        search_table::{self, VectorSupport},
    },
    store_now,
    table_definitions::VERSION,
};

/// A schema of a server with the tables of this version.
pub(crate) struct PostgresServer {
    address: StoreAddress,
}

impl PostgresServer {
    pub fn open(address: &StoreAddress) -> Result<Self, StoreError> {
        let connection = connect(address)?;
        require_known(address, schema::version(&connection)?)?;
        Ok(Self { address: address.clone() })
    }

    pub fn connect(&self) -> Result<Connection> {
        self.connect_listening(|| {})
    }

    /// Returns a connection that calls `wake` on another thread after each notification.
    pub(crate) fn connect_listening(&self, wake: impl Fn() + Send + 'static) -> Result<Connection> {
        connect_to(&self.address, wake)
    }
}

/// What the operator of a store on a server wants to know about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreStatus {
    /// The version of the server, such as "16.4".
    pub server_version: String,
    /// The version of the schema, or 0 if there are no tables.
    pub schema_version: usize,
    /// The schema version that this program uses.
    pub known_version: usize,
    /// Whether large datasets are searched by the database.
    pub vectors: VectorSupport,
    /// Whether the server detects damaged pages.
    pub has_page_checksums: bool,
    pub datasets: u64,
    pub media: u64,
    /// Size of the database on disk, in bytes.
    pub size: u64,
}

/// Creates the tables of a store, if there are none, and the extension that searches its vectors.
///
/// # Errors
/// The server cannot be reached, refuses the connection, or contains tables of another version.
pub fn init(address: &StoreAddress) -> Result<StoreStatus, StoreError> {
    let connection = connect(address)?;
    require_known(address, schema::create(&connection)?)?;
    search_table::create(&connection)?;
    Ok(describe(&connection)?)
}

/// Allows the next process to choose the bucket and the model of a store again. The tables of the store must exist.
///
/// # Errors
/// The server cannot be reached or refuses the connection.
pub fn reset_settings(address: &StoreAddress) -> Result<(), StoreError> {
    Ok(setting::forget_common(&connect(address)?)?)
}

/// Describes a store, which may have no tables.
///
/// # Errors
/// The server cannot be reached or refuses the connection.
pub fn status(address: &StoreAddress) -> Result<StoreStatus, StoreError> {
    Ok(describe(&connect(address)?)?)
}

fn describe(connection: &Connection) -> Result<StoreStatus> {
    let schema_version = schema::version(connection)?;
    let count = |table: &str| -> Result<u64> {
        if schema_version == 0 {
            return Ok(0);
        }
        let sql = format!("SELECT count(*) FROM {table}");
        query::one(connection, &sql, params![], |row| row.get(0))
    };
    let (datasets, media) = (count("dataset")?, count("media")?);
    let vectors = search_table::support(connection)?;
    let sql = "SELECT current_setting('server_version'), current_setting('data_checksums') = 'on',
                      pg_database_size(current_database())";
    query::one(connection, sql, params![], |row| {
        Ok(StoreStatus {
            server_version: row.get(0)?,
            schema_version,
            known_version: VERSION,
            vectors,
            has_page_checksums: row.get(1)?,
            datasets,
            media,
            size: row.get(2)?,
        })
    })
}

/// Returns a connection for statements that are not those of the store functions.
pub fn connect(address: &StoreAddress) -> Result<Connection, StoreError> {
    connect_to(address, || {}).map_err(|cause| StoreError::Unreachable(address.clone(), cause))
}

fn connect_to(address: &StoreAddress, wake: impl Fn() + Send + 'static) -> Result<Connection> {
    let connected = PostgresConnection::connect(address.config(), address.verification(), wake);
    connected.map(Connection::new)
}

fn require_known(address: &StoreAddress, found_version: usize) -> Result<(), StoreError> {
    if found_version == VERSION {
        return Ok(());
    }
    Err(StoreError::ServerVersion { address: address.clone(), found_version })
}

/// The state of a store on a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreHealth {
    /// The time by which the clock of the server is ahead of the clock of this machine, in microseconds.
    pub clock_ahead: i64,
    /// Whether the server has pgvector.
    pub vectors: VectorSupport,
    /// The number of workers that are alive.
    pub workers: u64,
    /// The number of indexing tasks and exports that wait for a worker.
    pub waiting: u64,
    /// The time for which the oldest of the waiting tasks has waited, in seconds.
    pub longest_wait: u64,
}

/// Examines a store whose tables exist.
///
/// # Errors
/// The server cannot be reached or refuses the connection.
pub fn health(address: &StoreAddress) -> Result<StoreHealth, StoreError> {
    let connection = connect(address)?;
    let sent = now_micros();
    let now = store_now(&connection)?;
    // The server is assumed to have read its clock in the middle of the request.
    let here = sent + (now_micros() - sent) / 2;
    let vectors = search_table::support(&connection)?;
    let tasks = indexing_task::unfinished_tasks(&connection)?;
    let waited = |since: i64| (now - since).max(0).unsigned_abs() / 1_000_000;
    let waits = tasks.iter().filter_map(|tasks: &UnfinishedTasks| tasks.oldest_queued).map(waited);
    Ok(StoreHealth {
        clock_ahead: now - here,
        vectors,
        workers: lease::counts(&connection)?.workers,
        waiting: tasks.iter().map(|tasks| tasks.queued).sum(),
        longest_wait: waits.max().unwrap_or_default(),
    })
}

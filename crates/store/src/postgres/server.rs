//! Opens a store on a server, creates its tables, and describes it to its operator: its version and size, its clock,
//! its extensions and its workers.

use super::{StoreAddress, connection::PostgresConnection, full_text};
use crate::prelude::*;
use crate::{
    StoreError,
    indexing_task::{self, UnfinishedTasks},
    now_micros, setting,
    several_processes::{
        extraction, lease,
        search_table::{self, VectorSupport},
        similarity_range, task_listener,
    },
    store_now,
    table_definitions::{ALLOWED_TRANSITIONS, TABLES, VERSION},
};

/// Returns a connection to a store, whose tables must have the version of this program.
pub(crate) fn open(address: &StoreAddress) -> Result<Connection, StoreError> {
    let connection = connect(address)?;
    require_known(address, schema_version(&connection)?)?;
    Ok(connection)
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
    require_known(address, create_tables(&connection)?)?;
    search_table::create(&connection)?;
    Ok(describe(&connection)?)
}

/// Allows the next process to choose the bucket and the model of a store again. The tables of the store must exist.
///
/// # Errors
/// The server cannot be reached or refuses the connection.
pub fn reset_settings(address: &StoreAddress) -> Result<(), StoreError> {
    let connection = connect(address)?;
    let transaction = connection.begin()?;
    setting::forget_common(&transaction)?;
    Ok(transaction.commit()?)
}

/// Describes a store, which may have no tables.
///
/// # Errors
/// The server cannot be reached or refuses the connection.
pub fn status(address: &StoreAddress) -> Result<StoreStatus, StoreError> {
    Ok(describe(&connect(address)?)?)
}

fn describe(connection: &Connection) -> Result<StoreStatus> {
    let schema_version = schema_version(connection)?;
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

/// Returns a connection that calls `wake` on another thread after each notification.
pub(crate) fn connect_to(
    address: &StoreAddress,
    wake: impl Fn() + Send + 'static,
) -> Result<Connection> {
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
    /// Why tasks wait that a worker gave back.
    pub waiting_reasons: Vec<String>,
    /// Whether the server accepts no changes.
    pub is_read_only: bool,
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
    let sql = "SELECT current_setting('transaction_read_only') = 'on'";
    let is_read_only = query::one(&connection, sql, params![], |row| row.get(0))?;
    let waits = tasks.iter().filter_map(|tasks: &UnfinishedTasks| tasks.oldest_queued).map(waited);
    Ok(StoreHealth {
        clock_ahead: now - here,
        vectors,
        workers: lease::counts(&connection)?.workers,
        waiting: tasks.iter().map(|tasks| tasks.queued).sum(),
        longest_wait: waits.max().unwrap_or_default(),
        waiting_reasons: lease::waiting_reasons(&connection)?,
        is_read_only,
    })
}

// Creates the tables of a schema on a server, and reads their version. This file has what only PostgreSQL has:
// triggers, functions and indexes. The rows need no checksums, because the server has checksums for its pages.

const CREATE_VERSIONS: &str = "CREATE TABLE IF NOT EXISTS schema_version (
                                 version    integer PRIMARY KEY,
                                 applied_at timestamptz NOT NULL DEFAULT now()
                               )";

/// JPEG data is stored without compression, because it is compressed already. The indexes find waiting tasks without
/// reading the tasks that have ended.
const STORAGE: &str = "
ALTER TABLE thumbnail ALTER jpeg SET STORAGE EXTERNAL;
ALTER TABLE frame_picture ALTER jpeg SET STORAGE EXTERNAL;
CREATE INDEX unfinished_indexing_task ON indexing_task (row) WHERE stage = 'RUNNING';
CREATE INDEX unfinished_export ON export (created_at) WHERE status IN ('INIT', 'IN_PROGRESS');

CREATE FUNCTION hex(id uuid) RETURNS text
  LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN upper(replace(id::text, '-', ''));
";

/// Keeps the counts of a dataset up to date with its media. The triggers run once per statement, because each update of
/// a row copies the row.
const MEDIA_COUNTS: &str = "
CREATE FUNCTION count_media() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  sign integer := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  UPDATE dataset SET n_images = n_images + sign * counted.images,
                     n_videos = n_videos + sign * counted.videos,
                     n_frames = n_frames + sign * counted.frames,
                     n_objects = n_objects + sign * counted.objects
  FROM (SELECT changed.dataset, count(*) FILTER (WHERE kind = 'IMAGE') AS images,
               count(*) FILTER (WHERE frame = 1) AS videos,
               count(*) FILTER (WHERE kind = 'FRAME') AS frames,
               count(*) FILTER (WHERE kind = 'OBJECT') AS objects
        FROM changed GROUP BY changed.dataset) AS counted
  WHERE dataset.id = counted.dataset;
  RETURN NULL;
END $$;
CREATE TRIGGER media_added AFTER INSERT ON media REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_media();
CREATE TRIGGER media_removed AFTER DELETE ON media REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_media();
";

/// Returns the version of a schema, or 0 if it has no tables.
fn schema_version(connection: &Connection) -> Result<usize> {
    let sql = "SELECT to_regclass('schema_version') IS NOT NULL";
    if !query::one(connection, sql, params![], |row| row.get(0))? {
        return Ok(0);
    }
    let sql = "SELECT coalesce(max(version), 0) FROM schema_version";
    query::one(connection, sql, params![], |row| row.get(0))
}

/// Creates the tables in one transaction. Another process that creates the tables at the same time waits. If there are
/// tables, nothing is changed. Returns the version.
fn create_tables(connection: &Connection) -> Result<usize> {
    let transaction = connection.begin()?;
    transaction.execute_batch(CREATE_VERSIONS)?;
    let found = schema_version(&transaction)?;
    if found > 0 {
        return Ok(found);
    }
    let tables = TABLES.replace(" WITHOUT ROWID", "");
    let transitions = check_of_transitions();
    for sql in [
        &tables,
        STORAGE,
        MEDIA_COUNTS,
        &transitions,
        full_text::TABLES,
        full_text::WORD_COUNTS,
        search_table::TABLES,
        extraction::TABLES,
        similarity_range::TABLES,
        task_listener::ANNOUNCEMENTS,
    ] {
        transaction.execute_batch(sql)?;
    }
    let sql = "INSERT INTO schema_version (version) VALUES (?1)";
    query::execute(&transaction, sql, params![VERSION])?;
    transaction.commit()?;
    Ok(VERSION)
}

fn check_of_transitions() -> String {
    format!(
        "
CREATE FUNCTION check_transition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (old.status || ' > ' || new.status) NOT IN ({ALLOWED_TRANSITIONS}) THEN
    RAISE EXCEPTION 'no such transition of a dataset';
  END IF;
  RETURN new;
END $$;
CREATE TRIGGER transition BEFORE UPDATE OF status ON dataset
  FOR EACH ROW WHEN (new.status <> old.status) EXECUTE FUNCTION check_transition();
"
    )
}

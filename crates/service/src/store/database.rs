//! Opening, reading and writing the database file.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use uuid::Uuid;

use super::{
    StoreError, checksum, clean_shutdown, file_system::network_file_system_of, integrity,
    process_lock, query, recovery, schema,
};
use crate::ingest::staging::{ensure_private_dir, private_file, restrict, sync_dir};

/// First `SQLite` release with the fix for the WAL-reset corruption bug.
const MIN_SQLITE_VERSION: i32 = 3_051_003;

pub struct Store {
    data: PathBuf,
    writer: Mutex<Connection>,
    readers: Mutex<Vec<Connection>>,
    link_key: [u8; 32],
    /// The network file system that it is on.
    network: Option<&'static str>,
    recovery_notice: Option<String>,
    has_damage: AtomicBool,
    /// Held for the lifetime of the store.
    _lock: File,
}

impl Store {
    /// Opens the store in `data`, creating the directory (mode 0700) and the tables if needed. A
    /// damaged database is set aside.
    ///
    /// # Errors
    /// Another process uses it, a newer version wrote it, or the directory cannot be written.
    pub fn open(data: &Path) -> Result<Self, StoreError> {
        Self::open_on(data, network_file_system_of)
    }

    /// Opens the store of a directory whose network file system `network_of` returns.
    pub fn open_on(
        data: &Path,
        network_of: impl FnOnce(&Path) -> Option<&'static str>,
    ) -> Result<Self, StoreError> {
        if rusqlite::version_number() < MIN_SQLITE_VERSION {
            return Err(StoreError::OldSqlite(rusqlite::version()));
        }
        let disk = |cause| StoreError::Io(data.to_owned(), cause);
        for folder in ["", "exports", "uploads"] {
            ensure_private_dir(&data.join(folder)).map_err(disk)?;
        }
        let network = network_of(data);
        let lock = process_lock::acquire(data)?;
        restrict_database(data).map_err(disk)?;
        for folder in data.ancestors().take(2).filter(|folder| !folder.as_os_str().is_empty()) {
            sync_dir(folder).map_err(disk)?;
        }
        let log = data.join(recovery::DATABASE_FILES[1]);
        let is_intact = clean_shutdown::take(data, &database_file(data), &log).map_err(disk)?;
        let (writer, recovery_notice) = match open_existing(data, network, is_intact) {
            Ok(Some(writer)) => (writer, None),
            Err(cause) if !cause.is_damage() => return Err(cause),
            Ok(None) | Err(_) => create(data, network)?,
        };
        let link_key = load_or_create_link_key(&writer)?;
        Ok(Self {
            data: data.to_owned(),
            writer: Mutex::new(writer),
            readers: Mutex::default(),
            link_key,
            network,
            recovery_notice,
            has_damage: AtomicBool::new(false),
            _lock: lock,
        })
    }

    /// Runs `query` on a snapshot of the store.
    pub fn read<T>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let idle = lock(&self.readers).pop();
        let mut reader = match idle {
            Some(reader) => reader,
            None => open_connection(&self.data, self.network)?,
        };
        let read = || {
            let snapshot = reader.transaction()?;
            let value = query(&snapshot)?;
            snapshot.finish()?;
            Ok(value)
        };
        let value = self.note_damage(read())?;
        lock(&self.readers).push(reader);
        Ok(value)
    }

    /// Runs `change` as one durable transaction.
    pub fn write<T>(
        &self,
        change: impl FnOnce(&Transaction) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let mut writer = lock(&self.writer);
        let write = || {
            let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let outcome = change(&transaction)?;
            transaction.commit()?;
            Ok(outcome)
        };
        self.note_damage(write())
    }

    /// A store in which damage was found is checked at its next opening.
    fn note_damage<T>(&self, outcome: rusqlite::Result<T>) -> Result<T, StoreError> {
        let outcome = outcome.map_err(StoreError::from);
        if outcome.as_ref().is_err_and(StoreError::is_damage) {
            self.has_damage.store(true, Ordering::Relaxed);
        }
        outcome
    }

    /// Marks the database as closed.
    fn close(&self) -> Result<(), StoreError> {
        lock(&self.readers).clear();
        let writer = lock(&self.writer);
        if self.has_damage.load(Ordering::Relaxed) {
            return Ok(());
        }
        let disk = |cause| StoreError::Io(self.data.clone(), cause);
        let is_busy: bool =
            writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
        if is_busy {
            return Ok(());
        }
        clean_shutdown::put(&self.data, &database_file(&self.data)).map_err(disk)
    }

    /// The path of the archive of a completed export.
    pub fn export_archive_path(&self, export: Uuid) -> PathBuf {
        self.exports_dir().join(format!("{export}.zip"))
    }

    pub fn exports_dir(&self) -> PathBuf {
        self.data.join("exports")
    }

    /// The folder with one subfolder for each batch of added media.
    pub fn uploads_dir(&self) -> PathBuf {
        self.data.join("uploads")
    }

    /// The file that keeps the login of the service over restarts.
    pub fn login_file(&self) -> PathBuf {
        self.data.join("login.json")
    }

    /// What happened to a missing or damaged database when the store was opened.
    pub fn recovery_notice(&self) -> Option<&str> {
        self.recovery_notice.as_deref()
    }

    /// The network file system that the store is on. There, no write can be committed while
    /// another connection reads.
    pub fn network_file_system(&self) -> Option<&'static str> {
        self.network
    }

    /// The secret that signs links; it does not change during the lifetime of the store.
    pub fn link_key(&self) -> &[u8; 32] {
        &self.link_key
    }
}

/// Locks a mutex, ignoring poisoning: its value is never left half-changed by a panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Store {
    fn drop(&mut self) {
        // Without the mark, the next opening checks the database.
        let _ = self.close();
    }
}

/// Opens the database, and checks it unless it is known to be intact. `None` if it is missing, has
/// never had tables, or is of a version that cannot be migrated.
fn open_existing(
    data: &Path,
    network: Option<&str>,
    is_intact: bool,
) -> Result<Option<Connection>, StoreError> {
    // SQLite would delete the log of an empty file.
    if fs::metadata(database_file(data)).map_or(0, |file| file.len()) == 0 {
        return Ok(None);
    }
    let mut existing = open_connection(data, network)?;
    if !schema::is_migratable(&existing)? {
        return Ok(None);
    }
    if !is_intact && schema::version(&existing)? <= schema::VERSION {
        integrity::check(&existing)?;
    }
    migrate(data, &mut existing)?;
    Ok(Some(existing))
}

/// Sets aside what is left of a database, and creates a new one with its datasets.
fn create(data: &Path, network: Option<&str>) -> Result<(Connection, Option<String>), StoreError> {
    let disk = |cause| StoreError::Io(data.to_owned(), cause);
    let remains = recovery::set_aside(data).map_err(disk)?;
    restrict_database(data).map_err(disk)?;
    let mut writer = open_connection(data, network)?;
    migrate(data, &mut writer)?;
    let Some(remains) = remains else { return Ok((writer, None)) };
    let is_restored = remains.restore_datasets(open_connection(data, network)?).is_ok();
    Ok((writer, Some(remains.notice(is_restored))))
}

fn migrate(data: &Path, writer: &mut Connection) -> Result<(), StoreError> {
    if let Some(found_version) = schema::migrate(writer)? {
        return Err(StoreError::NewerSchema {
            data: data.to_owned(),
            found_version,
            known_version: schema::VERSION,
        });
    }
    Ok(())
}

/// Makes the database readable by its owner only; creates an empty file if there is none. `SQLite`
/// gives its log files the mode of the database.
fn restrict_database(data: &Path) -> io::Result<()> {
    private_file().create(true).truncate(false).open(database_file(data))?;
    let files = recovery::DATABASE_FILES.map(|name| data.join(name));
    files.iter().filter(|file| file.exists()).try_for_each(|file| restrict(file, 0o600))
}

fn database_file(data: &Path) -> PathBuf {
    data.join(recovery::DATABASE_FILES[0])
}

fn open_connection(data: &Path, network: Option<&str>) -> rusqlite::Result<Connection> {
    let connection = Connection::open(database_file(data))?;
    checksum::register_functions(&connection)?;
    // With a log, no reader waits for a writer; with a journal, each waits for all others.
    let (journal, timeout) = match network {
        None => ("WAL", Duration::from_secs(10)),
        Some(_) => ("TRUNCATE", Duration::from_mins(10)),
    };
    connection.busy_timeout(timeout)?;
    connection.pragma_update(None, "journal_mode", journal)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(connection)
}

fn load_or_create_link_key(connection: &Connection) -> rusqlite::Result<[u8; 32]> {
    let sql = "SELECT value FROM setting WHERE name = 'link_key'";
    if let Some(key) = query::find(connection, sql, [], |row| row.get(0))? {
        return Ok(key);
    }
    // Two random UUIDs contain 244 unpredictable bits.
    let seed = [Uuid::new_v4().into_bytes(), Uuid::new_v4().into_bytes()].concat();
    let key = blake3::derive_key("tessera local deployment: signed links", &seed);
    query::execute(connection, "INSERT INTO setting VALUES ('link_key', ?1)", [key])?;
    Ok(key)
}

//! Opening, reading and writing the store.

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use uuid::Uuid;

use super::{
    StoreError,
    engine::{Connection, Result, Transaction, params},
    lease,
    postgres::{PostgresServer, StoreAddress},
    process_lock, query,
    sqlite::{DatabaseFile, OpenedDatabase, network_file_system_of},
};
use crate::ingest::staging::ensure_private_dir;

/// Idle connections that are kept; on a server, each needs memory.
const MAX_IDLE_READERS: usize = 16;

enum Engine {
    Sqlite(DatabaseFile),
    Postgres(PostgresServer),
}

impl Engine {
    fn connect(&self) -> Result<Connection> {
        match self {
            Self::Sqlite(file) => file.connect(),
            Self::Postgres(server) => server.connect(),
        }
    }

    fn connect_writer(&self) -> Result<Connection, StoreError> {
        match self {
            Self::Sqlite(file) => Ok(file.connect()?),
            Self::Postgres(server) => server.connect_writer(),
        }
    }
}

pub struct Store {
    data: PathBuf,
    engine: Engine,
    writer: Mutex<Connection>,
    readers: Mutex<Vec<Connection>>,
    link_key: [u8; 32],
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
        prepare_directory(data)?;
        let network = network_of(data);
        let lock = process_lock::acquire(data)?;
        let OpenedDatabase { file, writer, recovery_notice } = DatabaseFile::open(data, network)?;
        Self::new(data, lock, Engine::Sqlite(file), writer, recovery_notice)
    }

    /// Opens a store on a server, which `store init` has created. Uploads and archives are in `data`.
    pub fn open_on_server(data: &Path, address: &StoreAddress) -> Result<Self, StoreError> {
        prepare_directory(data)?;
        let lock = process_lock::acquire(data)?;
        let server = PostgresServer::open(address)?;
        let writer = server.connect_writer()?;
        Self::new(data, lock, Engine::Postgres(server), writer, None)
    }

    fn new(
        data: &Path,
        lock: File,
        engine: Engine,
        writer: Connection,
        recovery_notice: Option<String>,
    ) -> Result<Self, StoreError> {
        // Their holders had the lock of this store.
        lease::expire_all(&writer)?;
        let link_key = load_or_create_link_key(&writer)?;
        Ok(Self {
            data: data.to_owned(),
            engine,
            writer: Mutex::new(writer),
            readers: Mutex::default(),
            link_key,
            recovery_notice,
            has_damage: AtomicBool::new(false),
            _lock: lock,
        })
    }

    /// Runs `query` on a snapshot of the store.
    pub fn read<T>(&self, query: impl FnOnce(&Connection) -> Result<T>) -> Result<T, StoreError> {
        let idle = lock(&self.readers).pop();
        let reader = match idle.filter(|reader| !reader.is_closed()) {
            Some(reader) => reader,
            None => self.engine.connect()?,
        };
        let read = || {
            let snapshot = reader.begin_snapshot()?;
            let value = query(&snapshot)?;
            snapshot.rollback()?;
            Ok(value)
        };
        let value = self.note_damage(read())?;
        let mut idle = lock(&self.readers);
        if idle.len() < MAX_IDLE_READERS {
            idle.push(reader);
        }
        Ok(value)
    }

    /// Runs `change` as one durable transaction.
    pub fn write<T>(
        &self,
        change: impl FnOnce(&Transaction) -> Result<T>,
    ) -> Result<T, StoreError> {
        let mut writer = lock(&self.writer);
        self.reconnect(&mut writer)?;
        let write = || {
            let transaction = writer.begin()?;
            let outcome = change(&transaction)?;
            transaction.commit()?;
            Ok(outcome)
        };
        self.note_damage(write())
    }

    /// Fails if nothing can be written. A change that is being written shows that it can.
    pub fn check_writable(&self) -> Result<(), StoreError> {
        match self.writer.try_lock() {
            Ok(mut writer) => {
                self.reconnect(&mut writer)?;
                self.note_damage(writer.begin().and_then(Transaction::rollback))
            }
            Err(_) => Ok(()),
        }
    }

    /// Replaces a connection that the server has closed.
    fn reconnect(&self, writer: &mut Connection) -> Result<(), StoreError> {
        if writer.is_closed() {
            *writer = self.engine.connect_writer()?;
        }
        Ok(())
    }

    /// A store in which damage was found is checked at its next opening.
    fn note_damage<T>(&self, outcome: Result<T>) -> Result<T, StoreError> {
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
        match &self.engine {
            Engine::Sqlite(file) => file.close(&writer),
            Engine::Postgres(_) => Ok(PostgresServer::close(&writer)?),
        }
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

    /// The folder with files that are derived from the database and make searches fast.
    pub fn indexes_dir(&self) -> PathBuf {
        self.data.join("indexes")
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
        match &self.engine {
            Engine::Sqlite(file) => file.network_file_system(),
            Engine::Postgres(_) => None,
        }
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

/// Creates the data directory (mode 0700), if needed, with its folders.
fn prepare_directory(data: &Path) -> Result<(), StoreError> {
    ["", "exports", "uploads"].into_iter().try_for_each(|folder| {
        ensure_private_dir(&data.join(folder))
            .map_err(|cause| StoreError::Io(data.to_owned(), cause))
    })
}

fn load_or_create_link_key(connection: &Connection) -> Result<[u8; 32]> {
    let sql = "SELECT value FROM setting WHERE name = 'link_key'";
    if let Some(key) = query::find(connection, sql, params![], |row| row.get(0))? {
        return Ok(key);
    }
    // Two random UUIDs contain 244 unpredictable bits.
    let seed = [Uuid::new_v4().into_bytes(), Uuid::new_v4().into_bytes()].concat();
    let key = blake3::derive_key("tessera local deployment: signed links", &seed);
    query::execute(connection, "INSERT INTO setting VALUES ('link_key', ?1)", params![key])?;
    Ok(key)
}

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
    lease, process_lock, query,
    sqlite::{DatabaseFile, network_file_system_of},
};
use crate::ingest::staging::ensure_private_dir;

pub struct Store {
    data: PathBuf,
    file: DatabaseFile,
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
        let disk = |cause| StoreError::Io(data.to_owned(), cause);
        for folder in ["", "exports", "uploads"] {
            ensure_private_dir(&data.join(folder)).map_err(disk)?;
        }
        let network = network_of(data);
        let lock = process_lock::acquire(data)?;
        let opened = DatabaseFile::open(data, network)?;
        // Their holders had the lock of this store.
        lease::expire_all(&opened.writer)?;
        let link_key = load_or_create_link_key(&opened.writer)?;
        Ok(Self {
            data: data.to_owned(),
            file: opened.file,
            writer: Mutex::new(opened.writer),
            readers: Mutex::default(),
            link_key,
            recovery_notice: opened.recovery_notice,
            has_damage: AtomicBool::new(false),
            _lock: lock,
        })
    }

    /// Runs `query` on a snapshot of the store.
    pub fn read<T>(&self, query: impl FnOnce(&Connection) -> Result<T>) -> Result<T, StoreError> {
        let idle = lock(&self.readers).pop();
        let reader = match idle {
            Some(reader) => reader,
            None => self.file.connect()?,
        };
        let read = || {
            let snapshot = reader.begin_snapshot()?;
            let value = query(&snapshot)?;
            snapshot.rollback()?;
            Ok(value)
        };
        let value = self.note_damage(read())?;
        lock(&self.readers).push(reader);
        Ok(value)
    }

    /// Runs `change` as one durable transaction.
    pub fn write<T>(
        &self,
        change: impl FnOnce(&Transaction) -> Result<T>,
    ) -> Result<T, StoreError> {
        let writer = lock(&self.writer);
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
            Ok(writer) => self.note_damage(writer.begin().and_then(Transaction::rollback)),
            Err(_) => Ok(()),
        }
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
        self.file.close(&writer)
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
        self.file.network_file_system()
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

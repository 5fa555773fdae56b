//! Opening, reading and writing the store.

use std::{
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use uuid::Uuid;

use super::{
    StoreError,
    connection_pool::ConnectionPool,
    engine::{Connection, QueryError, Result, Transaction},
    postgres::{PostgresServer, StoreAddress},
    process_lock::FolderLock,
    setting,
    several_processes::{former_workers, lease, task_listener::TaskListener},
    sqlite::{DatabaseFile, OpenedDatabase},
};
use tessera_files::ensure_private_dir;
use tessera_media::network_file_system::network_file_system_of;

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

    /// Lets the next opening check the store; a server checks its own.
    fn distrust(&self) {
        if let Self::Sqlite(file) = self {
            file.distrust();
        }
    }
}

pub struct Store {
    data: PathBuf,
    engine: Engine,
    writer: Mutex<Connection>,
    /// Connections besides the one that writes.
    pool: ConnectionPool,
    link_key: [u8; 32],
    recovery_notice: Option<String>,
    has_damage: AtomicBool,
    /// Held for the lifetime of the store.
    folder_lock: FolderLock,
}

impl Store {
    /// Opens the store in `data`, creating the directory (mode 0700) and the tables if needed. A
    /// damaged database is set aside.
    ///
    /// # Errors
    /// Another process uses it, another version wrote it, or the directory cannot be written.
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
        let lock = FolderLock::take(data)?;
        let OpenedDatabase { file, writer, recovery_notice } = DatabaseFile::open(data, network)?;
        // Their holders had the lock of this folder.
        lease::expire_all(&writer)?;
        Self::new(data, lock, Engine::Sqlite(file), writer, recovery_notice)
    }

    /// Opens a store on a server, which `store init` has created. Uploads and archives are in `data`, which
    /// processes with a store on a server may share.
    pub fn open_on_server(data: &Path, address: &StoreAddress) -> Result<Self, StoreError> {
        prepare_directory(data)?;
        let lock = FolderLock::take_shared(data)?;
        let server = PostgresServer::open(address)?;
        let writer = server.connect()?;
        if lock.is_exclusive() {
            let disk = |cause| StoreError::Io(data.to_owned(), cause);
            let transaction = writer.begin()?;
            for worker in former_workers::take_all(data).map_err(disk)? {
                lease::release_all(&transaction, worker)?;
            }
            transaction.commit()?;
        }
        Self::new(data, lock, Engine::Postgres(server), writer, None)
    }

    fn new(
        data: &Path,
        folder_lock: FolderLock,
        engine: Engine,
        writer: Connection,
        recovery_notice: Option<String>,
    ) -> Result<Self, StoreError> {
        let link_key = load_or_create_link_key(&writer)?;
        Ok(Self {
            data: data.to_owned(),
            engine,
            writer: Mutex::new(writer),
            pool: ConnectionPool::default(),
            link_key,
            recovery_notice,
            has_damage: AtomicBool::new(false),
            folder_lock,
        })
    }

    /// Runs `query` on a snapshot of the store.
    pub fn read<T>(&self, query: impl FnOnce(&Connection) -> Result<T>) -> Result<T, StoreError> {
        self.with_connection(|connection| {
            let snapshot = connection.begin_snapshot()?;
            let value = query(&snapshot)?;
            snapshot.rollback()?;
            Ok(value)
        })
    }

    /// Runs `work` on a connection that nothing else uses.
    fn with_connection<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T>,
    ) -> Result<T, StoreError> {
        let connect = || Ok(self.engine.connect()?);
        self.pool.with_connection(connect, |connection| self.note(work(connection)))
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
        self.note(write())
    }

    /// Runs `change` as one durable transaction, which on a server waits only for the rows that it changes.
    pub fn write_rows<T>(
        &self,
        change: impl FnOnce(&Transaction) -> Result<T>,
    ) -> Result<T, StoreError> {
        if let Engine::Sqlite(_) = self.engine {
            return self.write(change);
        }
        self.with_connection(|connection| {
            let transaction = connection.begin_rows()?;
            let outcome = change(&transaction)?;
            transaction.commit()?;
            Ok(outcome)
        })
    }

    /// Runs statements that take long, each as a change of its own, until `stop` is set.
    pub fn execute_until(
        &self,
        statements: &[String],
        stop: &AtomicBool,
    ) -> Result<(), StoreError> {
        self.with_connection(|connection| {
            statements.iter().try_for_each(|sql| connection.execute_batch_until(sql, stop))
        })
    }

    /// Whether other processes may use the store.
    pub fn is_on_server(&self) -> bool {
        matches!(self.engine, Engine::Postgres(_))
    }

    /// Notes a worker of this process, whose leases end when no process uses the folder any more.
    pub fn note_worker(&self, worker: Uuid) -> Result<(), StoreError> {
        former_workers::add(&self.data, worker)
            .map_err(|cause| StoreError::Io(self.data.clone(), cause))
    }

    /// Calls `wake` when a task may be waiting. `None` in a file, which only this process changes.
    pub fn listen(
        &self,
        wake: impl Fn() + Send + 'static,
    ) -> Result<Option<TaskListener>, StoreError> {
        match &self.engine {
            Engine::Sqlite(_) => Ok(None),
            Engine::Postgres(server) => TaskListener::start(server, wake).map(Some),
        }
    }

    /// Whether no other process uses the folder of uploads, archives and index files.
    pub fn has_folder_alone(&self) -> bool {
        self.folder_lock.is_exclusive()
    }

    /// Lets other processes with a store on a server use the folder.
    pub fn share_folder(&self) -> Result<(), StoreError> {
        match self.engine {
            Engine::Sqlite(_) => Ok(()),
            Engine::Postgres(_) => self.folder_lock.share(),
        }
    }

    /// Fails if nothing can be written. A change that is being written shows that it can.
    pub fn check_writable(&self) -> Result<(), StoreError> {
        match self.writer.try_lock() {
            Ok(mut writer) => {
                self.reconnect(&mut writer)?;
                self.note(writer.begin().and_then(Transaction::rollback))
            }
            Err(_) => Ok(()),
        }
    }

    /// Replaces a connection that the server has closed.
    fn reconnect(&self, writer: &mut Connection) -> Result<(), StoreError> {
        if writer.is_closed() {
            *writer = self.engine.connect()?;
        }
        Ok(())
    }

    /// A store in which damage was found is checked at its next opening.
    fn note<T>(&self, outcome: Result<T>) -> Result<T, StoreError> {
        outcome.map_err(|cause| {
            let error = StoreError::from(cause);
            if error.is_damage() && !self.has_damage.swap(true, Ordering::Relaxed) {
                self.engine.distrust();
            }
            error
        })
    }

    /// Marks the database as closed.
    fn close(&self) -> Result<(), StoreError> {
        self.pool.clear();
        let writer = lock(&self.writer);
        if self.has_damage.load(Ordering::Relaxed) {
            return Ok(());
        }
        match &self.engine {
            Engine::Sqlite(file) => file.close(&writer),
            Engine::Postgres(_) => Ok(()),
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

    /// The file that the process has locked which computes neighbors and near-duplicates.
    pub fn computation_lock_file(&self) -> PathBuf {
        self.data.join("computation-lock")
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

    /// Distinguishes what this store has in a bucket from what others have there. It says nothing about the secret.
    pub fn id(&self) -> Uuid {
        let hash = blake3::derive_key("tessera: identifier of a store", &self.link_key);
        let (chunks, _) = hash.as_chunks();
        Uuid::from_bytes(chunks[0])
    }
}

/// Locks a mutex, ignoring poisoning: its value is never left half-changed by a panic.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Store {
    fn drop(&mut self) {
        // Without the mark, the next opening checks the database.
        let _ = self.close();
    }
}

/// Creates the index folder (mode 0700), if needed, with its folders.
fn prepare_directory(data: &Path) -> Result<(), StoreError> {
    ["", "exports", "uploads"].into_iter().try_for_each(|folder| {
        ensure_private_dir(&data.join(folder))
            .map_err(|cause| StoreError::Io(data.to_owned(), cause))
    })
}

fn load_or_create_link_key(connection: &Connection) -> Result<[u8; 32]> {
    // Two random UUIDs contain 244 unpredictable bits.
    let seed = [Uuid::new_v4().into_bytes(), Uuid::new_v4().into_bytes()].concat();
    let key = blake3::derive_key("tessera local deployment: signed links", &seed);
    let stored = setting::find_or_insert(connection, setting::LINK_KEY, &key)?;
    stored.try_into().map_err(|_| QueryError::value("the key of links has another length"))
}

//! Opens, reads and writes the store, whichever engine it uses.

use std::{
    borrow::Cow,
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use parking_lot::Mutex;

use super::prelude::*;
use super::{
    StoreError,
    columns::{OPENED_ARCHIVES, UPLOADS},
    connection_pool::{ConnectionPool, Outage},
    postgres::{self, StoreAddress},
    setting,
    several_processes::{
        folder_lock::{self, FolderLock, TaskLock},
        lease,
        task_listener::TaskListener,
    },
    sqlite::{DatabaseFile, FileChanges, OpenedDatabase},
};
use tessera_files::ensure_private_dir;
use tessera_media::network_file_system::network_file_system_of;
use uuid::Uuid;

/// The location of a database, with everything that its engine does in addition to running SQL.
enum Location {
    File(DatabaseFile),
    Server(StoreAddress),
}

pub struct Store {
    data: PathBuf,
    location: Location,
    writer: Mutex<Connection>,
    /// The connections that read. The connection that writes is separate.
    pool: ConnectionPool,
    outage: Outage,
    id: Uuid,
    recovery_notice: Option<String>,
    has_damage: AtomicBool,
    task_lock: TaskLock,
    /// The lock of the index folder, which is held as long as the store is open.
    folder_lock: FolderLock,
}

impl Store {
    /// Opens the store in `data`. The directory (mode 0700) and the tables are created if needed, and a damaged
    /// database is set aside. Other processes may use the same store. While one of them checks it, this process waits.
    ///
    /// # Errors
    /// Another version of this program wrote the store, or the directory cannot be written.
    pub fn open(data: &Path) -> Result<Self, StoreError> {
        Self::open_on(data, network_file_system_of)
    }

    /// Opens the store of a directory. `network_of` returns the network file system of the directory, if it is on one.
    pub fn open_on(
        data: &Path,
        network_of: impl FnOnce(&Path) -> Option<&'static str>,
    ) -> Result<Self, StoreError> {
        Self::open_file(data, network_of)
            .map_err(|error| error.or_full_disk(|| tessera_files::is_disk_full(data)))
    }

    fn open_file(
        data: &Path,
        network_of: impl FnOnce(&Path) -> Option<&'static str>,
    ) -> Result<Self, StoreError> {
        let data = &prepare_directory(data)?;
        let network = network_of(data);
        let lock = FolderLock::take(data)?;
        let OpenedDatabase { file, writer, recovery_notice } = if lock.is_exclusive() {
            DatabaseFile::open(data, network)?
        } else {
            DatabaseFile::share(data, network)?
        };
        Self::new(data, lock, Location::File(file), writer, recovery_notice)
    }

    /// Opens a store on a server, which `store init` has created. `data` contains uploads and archives.
    pub fn open_on_server(data: &Path, address: &StoreAddress) -> Result<Self, StoreError> {
        let data = &prepare_directory(data)?;
        let lock = FolderLock::take(data)?;
        let writer = postgres::open(address)?;
        if lock.is_exclusive() {
            let disk = |cause| StoreError::Io(data.to_owned(), cause);
            let transaction = writer.begin()?;
            for worker in folder_lock::take_former_workers(data).map_err(disk)? {
                lease::remove_worker(&transaction, worker)?;
            }
            transaction.commit()?;
        }
        Self::new(data, lock, Location::Server(address.clone()), writer, None)
    }

    fn new(
        data: &Path,
        folder_lock: FolderLock,
        location: Location,
        writer: Connection,
        recovery_notice: Option<String>,
    ) -> Result<Self, StoreError> {
        let id = identifier(&load_or_create_first_link_key(&writer)?);
        Ok(Self {
            data: data.to_owned(),
            location,
            writer: Mutex::new(writer.of_index_folder(data)),
            pool: ConnectionPool::default(),
            outage: Outage::default(),
            id,
            recovery_notice,
            has_damage: AtomicBool::new(false),
            task_lock: TaskLock::new(data),
            folder_lock,
        })
    }

    fn connect(&self) -> Result<Connection> {
        let connection = match &self.location {
            Location::File(file) => file.connect(),
            Location::Server(address) => postgres::connect_to(address, || {}),
        };
        Ok(connection?.of_index_folder(&self.data))
    }

    fn file(&self) -> Option<&DatabaseFile> {
        if let Location::File(file) = &self.location { Some(file) } else { None }
    }

    fn server(&self) -> Option<&StoreAddress> {
        if let Location::Server(address) = &self.location { Some(address) } else { None }
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
        self.outage.check()?;
        let connect = || self.note(self.connect());
        self.pool.with_connection(connect, |connection| self.note(work(connection)))
    }

    /// Runs `change` as one durable transaction.
    pub fn write<T>(
        &self,
        change: impl FnOnce(&Transaction) -> Result<T>,
    ) -> Result<T, StoreError> {
        let mut writer = self.writer.lock();
        self.outage.check()?;
        self.reconnect(&mut writer)?;
        let write = || {
            let transaction = writer.begin()?;
            let outcome = change(&transaction)?;
            transaction.commit()?;
            Ok(outcome)
        };
        self.note(write())
    }

    /// Runs `change` as one durable transaction. On a server, this transaction waits only for the rows that it changes.
    pub fn write_rows<T>(
        &self,
        change: impl FnOnce(&Transaction) -> Result<T>,
    ) -> Result<T, StoreError> {
        if !self.is_on_server() {
            return self.write(change);
        }
        self.with_connection(|connection| {
            let transaction = connection.begin_rows()?;
            let outcome = change(&transaction)?;
            transaction.commit()?;
            Ok(outcome)
        })
    }

    /// Runs statements that take long, each as a separate change, until `stop` is set.
    pub fn execute_until(
        &self,
        statements: &[String],
        stop: &AtomicBool,
    ) -> Result<(), StoreError> {
        self.with_connection(|connection| {
            statements.iter().try_for_each(|sql| connection.execute_batch_until(sql, stop))
        })
    }

    /// Whether the store is on a server, whose processes all run tasks.
    pub fn is_on_server(&self) -> bool {
        self.server().is_some()
    }

    /// Records a worker of this process. Its leases end when no process uses the folder any more.
    pub fn note_worker(&self, worker: Uuid) -> Result<(), StoreError> {
        folder_lock::add_former_worker(&self.data, worker)
            .map_err(|cause| StoreError::Io(self.data.clone(), cause))
    }

    /// Whether this process may run tasks now. Processes with a store on a server always may. Of the processes with a
    /// store in a file, the one that calls this first runs the tasks until it ends.
    pub fn may_run_tasks(&self) -> Result<bool, StoreError> {
        if self.is_on_server() {
            return Ok(true);
        }
        // The holders of all leases have ended, because they must have had the lock.
        self.task_lock.take(|| self.write(|tx| lease::expire_all(tx)))
    }

    /// Whether this process runs the tasks of the store.
    pub fn runs_tasks(&self) -> bool {
        self.is_on_server() || self.task_lock.is_held()
    }

    /// Returns a counter of the changes of a database file, or `None` for a server, which announces changes.
    pub fn changes(&self) -> Result<Option<FileChanges>, StoreError> {
        Ok(self.file().map(DatabaseFile::changes).transpose()?)
    }

    /// Calls `wake` when a task may be waiting. Returns `None` for a database file, which announces nothing.
    pub fn listen(
        &self,
        wake: impl Fn() + Send + 'static,
    ) -> Result<Option<TaskListener>, StoreError> {
        let Some(address) = self.server() else { return Ok(None) };
        Ok(Some(TaskListener::start(postgres::connect_to(address, wake)?)?))
    }

    /// Whether no other process uses the index folder, because this one has not shared it yet.
    pub fn has_folder_alone(&self) -> bool {
        self.folder_lock.is_exclusive()
    }

    /// Allows other processes to use the index folder.
    pub fn share_folder(&self) -> Result<(), StoreError> {
        self.folder_lock.share()
    }

    /// Fails if nothing can be written. If a change is being written at the moment, writing is assumed to work.
    pub fn check_writable(&self) -> Result<(), StoreError> {
        let Some(mut writer) = self.writer.try_lock() else { return Ok(()) };
        self.outage.check()?;
        self.reconnect(&mut writer)?;
        self.note(writer.begin().and_then(|transaction| {
            setting::change_nothing(&transaction)?;
            transaction.rollback()
        }))
    }

    /// Replaces a connection that the server has closed.
    fn reconnect(&self, writer: &mut Connection) -> Result<(), StoreError> {
        if writer.is_closed() {
            *writer = self.note(self.connect())?;
        }
        Ok(())
    }

    /// Records whether an error shows damage. A store in which damage was found is checked at the next start.
    fn note<T>(&self, outcome: Result<T>) -> Result<T, StoreError> {
        outcome.inspect(|_| self.outage.end()).map_err(|cause| {
            let error = StoreError::from(cause);
            if error.is_unresponsive() {
                self.outage.begin();
                // What ended the connection has probably ended those that wait for work, too.
                self.pool.clear();
            }
            if error.is_damage() && !self.has_damage.swap(true, Ordering::Relaxed) {
                self.file().inspect(|file| file.distrust());
            }
            error
        })
    }

    /// Marks the database file as closed, if no other process uses it.
    fn close(&self) -> Result<(), StoreError> {
        self.pool.clear();
        let writer = self.writer.lock();
        if self.has_damage.load(Ordering::Relaxed) || !self.folder_lock.is_last() {
            return Ok(());
        }
        self.file().map_or(Ok(()), |file| file.close(&writer))
    }

    /// Returns the path of the archive of a completed export.
    pub fn export_archive_path(&self, export: Uuid) -> PathBuf {
        self.exports_dir().join(format!("{export}.zip"))
    }

    pub fn exports_dir(&self) -> PathBuf {
        self.data.join("exports")
    }

    /// Returns the folder that has one subfolder for each batch of added media.
    pub fn uploads_dir(&self) -> PathBuf {
        self.data.join(UPLOADS)
    }

    /// Returns the folder with the files of archives that were opened like folders.
    pub fn opened_archives_dir(&self) -> PathBuf {
        self.data.join(OPENED_ARCHIVES)
    }

    /// Returns what identifies a folder, which stays the same when the index folder is moved.
    pub fn folder_identity<'a>(&self, folder: &'a Path) -> Cow<'a, [u8]> {
        folder_to_bytes(&self.data, folder)
    }

    /// Returns the folder with files that are derived from the database and make searches fast.
    pub fn indexes_dir(&self) -> PathBuf {
        self.data.join("indexes")
    }

    /// Returns the lock file for computing neighbors and near-duplicates. Only the process that has locked it may
    /// compute them.
    pub fn computation_lock_file(&self) -> PathBuf {
        self.data.join("computation-lock")
    }

    /// Returns the file that keeps the login of the service across restarts.
    pub fn login_file(&self) -> PathBuf {
        self.data.join("login.json")
    }

    /// Returns what happened to a missing or damaged database when the store was opened.
    pub fn recovery_notice(&self) -> Option<&str> {
        self.recovery_notice.as_deref()
    }

    /// Returns the network file system on which the store is. On a network file system, no write can be committed while
    /// another connection reads.
    pub fn network_file_system(&self) -> Option<&'static str> {
        self.file().and_then(DatabaseFile::network_file_system)
    }

    /// Returns the secret that signs links. It stays the same until it is revoked, by this process or another one.
    pub fn link_key(&self) -> Result<[u8; 32], StoreError> {
        let stored = self.read(|c| {
            let current = setting::find(c, setting::LINK_KEY)?;
            let first = || setting::find(c, setting::FIRST_LINK_KEY);
            current.map_or_else(first, |key| Ok(Some(key)))
        })?;
        Ok(read_key(stored.ok_or(QueryError::NoRow)?)?)
    }

    /// Replaces the secret that signs links, so that no earlier link is valid any more.
    pub fn revoke_links(&self) -> Result<(), StoreError> {
        self.write(|tx| setting::replace(tx, setting::LINK_KEY, &random_key()))
    }

    /// Returns an identifier that distinguishes the objects of this store in a bucket from those of other stores. It
    /// reveals nothing about the secret, and stays the same when the secret is revoked.
    pub fn id(&self) -> Uuid {
        self.id
    }

    /// Returns an identifier that distinguishes what this store writes into folders from what other stores write there.
    /// A copy of an index folder has another one than the original, although both contain the same secret.
    ///
    /// # Errors
    /// The index folder does not exist any more, or cannot be examined.
    pub fn writer_id(&self) -> Result<Uuid, StoreError> {
        if self.is_on_server() {
            return Ok(self.id);
        }
        let folder = fs::metadata(&self.data);
        let folder = folder.map_err(|cause| StoreError::Io(self.data.clone(), cause))?;
        Ok(Uuid::new_v5(&self.id, format!("{}/{}", folder.dev(), folder.ino()).as_bytes()))
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // If the mark cannot be written, the next start checks the database.
        let _ = self.close();
    }
}

/// Creates the index folder (mode 0700) and its subfolders if needed. Returns its canonical path, because the
/// folders in it are recognized by their paths, and another process may reach the folder through a link.
fn prepare_directory(data: &Path) -> Result<PathBuf, StoreError> {
    let prepare = || {
        for folder in ["", "exports", UPLOADS] {
            ensure_private_dir(&data.join(folder))?;
        }
        data.canonicalize()
    };
    prepare().map_err(|cause| StoreError::Io(data.to_owned(), cause))
}

fn load_or_create_first_link_key(connection: &Connection) -> Result<[u8; 32]> {
    read_key(setting::find_or_insert(connection, setting::FIRST_LINK_KEY, &random_key())?)
}

fn random_key() -> [u8; 32] {
    // Two random UUIDs contain 244 unpredictable bits, which are enough for a key.
    let seed = [Uuid::new_v4().into_bytes(), Uuid::new_v4().into_bytes()].concat();
    blake3::derive_key("tessera local deployment: signed links", &seed)
}

fn read_key(stored: Vec<u8>) -> Result<[u8; 32]> {
    stored.try_into().map_err(|_| QueryError::value("the key of links has another length"))
}

fn identifier(first_link_key: &[u8; 32]) -> Uuid {
    let hash = blake3::derive_key("tessera: identifier of a store", first_link_key);
    let (chunks, _) = hash.as_chunks();
    Uuid::from_bytes(chunks[0])
}

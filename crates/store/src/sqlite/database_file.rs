//! Opens, checks and closes the database file.
//!
//! Marks show whether the next start has to check the file. A file that was closed has the mark of a clean
//! shutdown, which is its size and time. A file that is open has the mark of the start of the operating system in
//! which it was opened, because the kernel still holds all writes of a process that was killed. Without either
//! mark, the file is checked.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection as SqliteConnection, OpenFlags, ffi};

use super::{recovery, schema};
use crate::{
    StoreError,
    engine::{Connection, QueryError, params, query},
    table_definitions::VERSION,
};
use tessera_files::{
    TEMPORARY_PREFIX, if_exists, private_file, restrict, sync_dir, synced, write_durably,
};

/// The first `SQLite` release with the fix for the WAL-reset corruption bug.
const MIN_SQLITE_VERSION: i32 = 3_051_003;

/// The time for which a transaction waits for one of another process. The transaction that ends the indexing of a
/// million media items takes minutes on a slow disk.
const BUSY_TIMEOUT: Duration = Duration::from_mins(10);

/// The database of an index folder.
pub(crate) struct DatabaseFile {
    data: PathBuf,
    /// The network file system on which the file is, if it is on one.
    network: Option<&'static str>,
}

/// An opened database.
pub(crate) struct OpenedDatabase {
    pub file: DatabaseFile,
    pub writer: Connection,
    /// What happened to a missing or damaged database.
    pub recovery_notice: Option<String>,
}

impl DatabaseFile {
    /// Opens the database of an index folder that no other process uses. The database is created if needed, and a
    /// damaged one is set aside. A disk is refused on which `SQLite` cannot lock or sync files.
    pub fn open(data: &Path, network: Option<&'static str>) -> Result<OpenedDatabase, StoreError> {
        let file = Self::new(data, network)?;
        let disk = |cause| StoreError::Io(data.to_owned(), cause);
        let probe = tempfile::Builder::new().prefix(TEMPORARY_PREFIX).tempfile_in(data);
        require_locks_and_syncs(data, probe.map_err(disk)?.path(), |file| file.sync_all())?;
        file.restrict().map_err(disk)?;
        for folder in data.ancestors().take(2).filter(|folder| !folder.as_os_str().is_empty()) {
            sync_dir(folder).map_err(disk)?;
        }
        let log = data.join(recovery::DATABASE_FILES[1]);
        let was_closed = take_shutdown_mark(data, &file.path(), &log).map_err(disk)?;
        let was_killed = network.is_none() && was_opened_in_this_start(data, &file.path());
        // The mark is removed until the database is known to be intact, in case this process is killed meanwhile.
        remove_open_mark(data).map_err(disk)?;
        let (writer, recovery_notice) = match file.open_existing(was_closed || was_killed) {
            Ok(Some(writer)) => (writer, None),
            Err(cause) if !cause.is_damage() => return Err(cause),
            Ok(None) | Err(_) => file.create()?,
        };
        put_open_mark(data, &file.path());
        Ok(OpenedDatabase { file, writer: Connection::new(writer), recovery_notice })
    }

    /// Opens the database of an index folder that another process has opened before. This process must not open the
    /// file by any other function, because closing it would end the locks of `SQLite`.
    pub fn share(data: &Path, network: Option<&'static str>) -> Result<OpenedDatabase, StoreError> {
        let file = Self::new(data, network)?;
        let writer = file.open_connection()?;
        file.require_version(schema::version(&writer)?)?;
        file.require_known(&writer)?;
        Ok(OpenedDatabase { file, writer: Connection::new(writer), recovery_notice: None })
    }

    fn new(data: &Path, network: Option<&'static str>) -> Result<Self, StoreError> {
        if rusqlite::version_number() < MIN_SQLITE_VERSION {
            return Err(StoreError::OldSqlite(rusqlite::version()));
        }
        Ok(Self { data: data.to_owned(), network })
    }

    fn require_version(&self, found_version: usize) -> Result<(), StoreError> {
        if found_version == VERSION {
            return Ok(());
        }
        Err(StoreError::FileVersion { data: self.data.clone(), found_version })
    }

    /// Refuses a file of a program that has other tables of the same version. No released program wrote
    /// such a file.
    fn require_known(&self, connection: &SqliteConnection) -> Result<(), StoreError> {
        if schema::is_known(connection)? {
            return Ok(());
        }
        Err(StoreError::FileVersion { data: self.data.clone(), found_version: VERSION })
    }

    pub fn connect(&self) -> Result<Connection, QueryError> {
        Ok(Connection::new(self.open_connection()?))
    }

    /// Returns a counter of the changes by all processes.
    pub fn changes(&self) -> Result<FileChanges, QueryError> {
        Ok(FileChanges { connection: self.open_connection()?, version: None })
    }

    /// Marks the database as closed. No process may use it any more, except for `writer`.
    pub fn close(&self, writer: &Connection) -> Result<(), StoreError> {
        let disk = |cause| StoreError::Io(self.data.clone(), cause);
        if !open_mark(&self.data).try_exists().map_err(disk)? {
            // A process has found damage.
            return Ok(());
        }
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        let is_busy: bool = query::one(writer, checkpoint, params![], |row| row.get(0))?;
        if is_busy {
            return Ok(());
        }
        remove_open_mark(&self.data).map_err(disk)?;
        put_shutdown_mark(&self.data, &self.path()).map_err(disk)
    }

    /// Makes the next start check the database.
    pub(crate) fn distrust(&self) {
        // An error is ignored: if the folder cannot be written, the damage is found again when it is read.
        let _ = remove_open_mark(&self.data);
    }

    pub fn network_file_system(&self) -> Option<&'static str> {
        self.network
    }

    /// Opens the database, and checks it unless it is known to be intact. Returns `None` if it is missing or never had
    /// tables.
    fn open_existing(&self, is_intact: bool) -> Result<Option<SqliteConnection>, StoreError> {
        // An empty file is not opened, because SQLite would delete its log.
        if fs::metadata(self.path()).map_or(0, |file| file.len()) == 0 {
            return Ok(None);
        }
        let existing = self.open_connection()?;
        if !self.has_tables(&existing)? {
            return Ok(None);
        }
        if !is_intact {
            recovery::check(&existing)?;
        }
        Ok(Some(existing))
    }

    /// Whether the database has tables, which must be those of this program. They are always checked, because nothing
    /// can be read without them, and the check is cheap. A file of another build is refused before the rest is checked,
    /// which can take minutes.
    fn has_tables(&self, connection: &SqliteConnection) -> Result<bool, StoreError> {
        match schema::version(connection)? {
            0 => return Ok(false),
            found_version => self.require_version(found_version)?,
        }
        recovery::check_definitions(connection)?;
        self.require_known(connection)?;
        Ok(true)
    }

    /// Sets aside what is left of a database, and creates a new one with the same datasets.
    fn create(&self) -> Result<(SqliteConnection, Option<String>), StoreError> {
        let disk = |cause| StoreError::Io(self.data.clone(), cause);
        let remains = recovery::set_aside(&self.data).map_err(disk)?;
        self.restrict().map_err(disk)?;
        let mut writer = self.open_connection()?;
        schema::create(&mut writer)?;
        let Some(remains) = remains else { return Ok((writer, None)) };
        let restored = remains.restore_datasets(self.open_connection()?).ok();
        Ok((writer, Some(remains.notice(restored))))
    }

    /// Makes the database readable only by its owner. An empty file is created if there is none. `SQLite` gives its log
    /// files the mode of the database.
    fn restrict(&self) -> io::Result<()> {
        private_file().create(true).truncate(false).open(self.path())?;
        let files = recovery::DATABASE_FILES.map(|name| self.data.join(name));
        files.iter().filter(|file| file.exists()).try_for_each(|file| restrict(file, 0o600))
    }

    fn path(&self) -> PathBuf {
        self.data.join(recovery::DATABASE_FILES[0])
    }

    fn open_connection(&self) -> rusqlite::Result<SqliteConnection> {
        let connection = SqliteConnection::open(self.path())?;
        recovery::register_functions(&connection)?;
        // With a write-ahead log, no reader waits for a writer. With a rollback journal, each connection waits for all
        // others.
        let journal = if self.network.is_some() { "TRUNCATE" } else { "WAL" };
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.pragma_update(None, "journal_mode", journal)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "trusted_schema", false)?;
        Ok(connection)
    }
}

/// Checks that this program can open the database of an index folder, without changing it. The rows are not checked,
/// because that can take minutes. This process must not have opened the database, because closing it again would end the
/// locks of `SQLite`.
pub fn check_file(data: &Path) -> Result<(), StoreError> {
    let file = DatabaseFile::new(data, None)?;
    if fs::metadata(file.path()).map_or(0, |file| file.len()) == 0 {
        return Ok(());
    }
    let connection =
        SqliteConnection::open_with_flags(file.path(), OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    recovery::register_functions(&connection)?;
    file.has_tables(&connection).map(drop)
}

/// Refuses a disk that cannot lock or sync a file, with an empty file that no other process uses. `SQLite` reports the
/// locks of a disk without locks as those of another process, and would wait for their end.
fn require_locks_and_syncs(
    data: &Path,
    probe: &Path,
    sync: impl FnOnce(File) -> io::Result<()>,
) -> Result<(), StoreError> {
    let disk = |cause| StoreError::Io(data.to_owned(), cause);
    let unsuitable = |reason| disk(io::Error::new(io::ErrorKind::Unsupported, reason));
    let connection = SqliteConnection::open(probe)?;
    connection.busy_timeout(Duration::ZERO)?;
    let locked = connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK");
    let cause = locked.as_ref().err().and_then(rusqlite::Error::sqlite_error);
    match cause.map(|cause| cause.extended_code) {
        Some(
            ffi::SQLITE_BUSY
            | ffi::SQLITE_IOERR_LOCK
            | ffi::SQLITE_IOERR_RDLOCK
            | ffi::SQLITE_IOERR_CHECKRESERVEDLOCK,
        ) => {
            return Err(unsuitable("its disk has no file locks, so another disk is needed"));
        }
        _ => locked?,
    }
    let result = sync(File::open(probe).map_err(disk)?);
    let can_sync = result.is_ok();
    synced(result).map_err(disk)?;
    if can_sync {
        Ok(())
    } else {
        Err(unsuitable("its disk cannot sync files, so another disk is needed"))
    }
}

/// Notices the transactions of this process and of others.
pub struct FileChanges {
    connection: SqliteConnection,
    /// A number that `SQLite` changes when another connection has committed a change.
    version: Option<i64>,
}

impl FileChanges {
    /// Whether the database has changed since the last call. The first call returns true.
    pub fn has_changed(&mut self) -> Result<bool, QueryError> {
        let version = self.connection.pragma_query_value(None, "data_version", |row| row.get(0))?;
        Ok(self.version.replace(version) != Some(version))
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(cause: rusqlite::Error) -> Self {
        QueryError::from(cause).into()
    }
}

/// Creates a store in memory, for tests of single functions.
pub fn open_in_memory() -> Result<Connection, QueryError> {
    let mut connection = SqliteConnection::open_in_memory()?;
    recovery::register_functions(&connection)?;
    schema::create(&mut connection)?;
    Ok(Connection::new(connection))
}

const SHUTDOWN_MARK: &str = "clean-shutdown";

/// Removes the shutdown mark. Returns whether the database has not changed since it was closed.
fn take_shutdown_mark(data: &Path, database: &Path, log: &Path) -> io::Result<bool> {
    let mark = data.join(SHUTDOWN_MARK);
    let Some(written) = if_exists(fs::read_to_string(&mark))? else { return Ok(false) };
    fs::remove_file(&mark)?;
    sync_dir(data)?;
    let has_log = fs::metadata(log).is_ok_and(|log| log.len() > 0);
    Ok(!has_log && describe_file(database).is_ok_and(|found| found == written))
}

fn put_shutdown_mark(data: &Path, database: &Path) -> io::Result<()> {
    write_durably(&data.join(SHUTDOWN_MARK), describe_file(database)?)
}

/// Returns the size in bytes, and the seconds and nanoseconds of the last change. A hash is not used, because it would
/// read gigabytes at every start.
fn describe_file(database: &Path) -> io::Result<String> {
    let file = fs::metadata(database)?;
    Ok(format!("{} {}.{:09}", file.len(), file.mtime(), file.mtime_nsec()))
}

const OPEN_MARK: &str = "opened";
/// A file in which Linux keeps a random identifier of each boot. On systems without this file, a database that was not
/// closed is always checked.
const SYSTEM_START: &str = "/proc/sys/kernel/random/boot_id";

/// Whether the database was opened since the last boot, was intact then, and has not been closed since.
fn was_opened_in_this_start(data: &Path, database: &Path) -> bool {
    let found = fs::read_to_string(open_mark(data));
    found.is_ok_and(|found| describe_start(database).is_ok_and(|expected| found == expected))
}

/// Writes the mark of an open file. The mark need not survive a crash of the system, because it is invalid after one.
fn put_open_mark(data: &Path, database: &Path) {
    // If the mark cannot be written, the next start checks the database.
    let _ = write_open_mark(data, database);
}

fn write_open_mark(data: &Path, database: &Path) -> io::Result<()> {
    let mark = describe_start(database)?;
    let mut file = private_file().create(true).truncate(true).open(open_mark(data))?;
    file.write_all(mark.as_bytes())
}

fn remove_open_mark(data: &Path) -> io::Result<()> {
    if_exists(fs::remove_file(open_mark(data))).map(drop)
}

fn open_mark(data: &Path) -> PathBuf {
    data.join(OPEN_MARK)
}

/// Describes the boot of the system and the file. A copy of the folder, or a disk that was removed meanwhile, gives a
/// different description.
fn describe_start(database: &Path) -> io::Result<String> {
    let (start, file) = (fs::read_to_string(SYSTEM_START)?, fs::metadata(database)?);
    Ok(format!("{} {} {}", start.trim(), file.dev(), file.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;

    #[test]
    fn a_disk_without_locks_or_syncs_is_refused_at_once() {
        let data = tempfile::tempdir().unwrap();
        let probe = data.path().join("probe");
        let refusal = |synced: io::Result<()>| {
            let refused = require_locks_and_syncs(data.path(), &probe, |_| synced);
            refused.err().map(|refused| refused.to_string()).unwrap_or_default()
        };
        let unsupported = || Err(io::ErrorKind::Unsupported.into());
        assert_eq!(refusal(Ok(())), "");
        assert!(
            refusal(unsupported())
                .contains("its disk cannot sync files, so another disk is needed")
        );
        assert!(refusal(Err(io::ErrorKind::StorageFull.into())).contains("free space"));
        // A lock that cannot be taken on a file of one process looks like one that the disk does not have.
        let other = SqliteConnection::open(&probe).unwrap();
        other.execute_batch("BEGIN EXCLUSIVE").unwrap();
        assert!(refusal(Ok(())).contains("its disk has no file locks, so another disk is needed"));
    }

    #[test]
    fn a_file_with_other_tables_of_the_same_version_is_refused_before_its_rows_are_checked() {
        let data = tempfile::tempdir().unwrap();
        drop(Store::open(data.path()).unwrap());
        let connection = DatabaseFile::new(data.path(), None).unwrap().open_connection().unwrap();
        connection.execute_batch("CREATE TABLE earlier (name text)").unwrap();
        let sql = "UPDATE setting SET value = ?1 WHERE name = 'definitions'";
        let hash = schema::hash_of_definitions(&connection).unwrap();
        connection.execute(sql, [hash]).unwrap();
        connection.execute("INSERT INTO setting VALUES ('note', ?1)", [&b"unharmed"[..]]).unwrap();
        drop(connection);
        let file = data.path().join(recovery::DATABASE_FILES[0]);
        let mut bytes = fs::read(&file).unwrap();
        let row = bytes.windows(8).position(|found| found == b"unharmed").unwrap();
        bytes[row] = b'U';
        fs::write(&file, bytes).unwrap();
        let refusal = Store::open(data.path()).err().unwrap().to_string();
        assert!(refusal.contains("of another version of tessera (its tables differ)"), "{refusal}");
    }
}

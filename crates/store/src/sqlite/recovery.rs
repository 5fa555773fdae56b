//! Sets aside what a missing or damaged database leaves behind, and restores its datasets. Accepted uploads stay where
//! they are, because their paths identify their media items.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crc32fast::Hasher;
use rusqlite::{
    Connection, Error, Result, Transaction,
    ffi::{self, SQLITE_CORRUPT},
    functions::{Context, FunctionFlags},
    types::ValueRef,
};

use super::schema;
use crate::{columns::UPLOADS, now_micros, upload};
use tessera_files::{create_private_dir, if_exists, staging::staging_dirs};
use tessera_media::ingest::file_names::printable_path;

/// The database and its log files.
pub(super) const DATABASE_FILES: [&str; 3] = ["tessera.db", "tessera.db-wal", "tessera.db-shm"];

/// The folder to which the remains are moved one after the other.
const UNFINISHED: &str = "set-aside-unfinished";

/// What is left of a database.
pub(super) struct Remains {
    uploads: PathBuf,
    /// The folder to which it was moved, or `None` if there was nothing to move.
    folder: Option<PathBuf>,
}

/// Moves the remains of the database, its archives, and uploads without a record into a new subfolder of the index
/// folder. Returns `None` if there is no sign of a former database.
pub(super) fn set_aside(data: &Path) -> io::Result<Option<Remains>> {
    let uploads = data.join(UPLOADS);
    let (accepted, unrecorded): (Vec<PathBuf>, Vec<PathBuf>) =
        staging_dirs(&uploads)?.into_iter().partition(|staging| upload::is_accepted(staging));
    let database = DATABASE_FILES.map(|name| data.join(name)).into_iter();
    let mut paths: Vec<PathBuf> =
        database.filter(|file| is_filled(file)).chain(unrecorded).collect();
    for archive in fs::read_dir(data.join("exports"))? {
        paths.push(archive?.path());
    }
    if paths.is_empty() && !data.join(UNFINISHED).exists() {
        let indexes = if_exists(fs::read_dir(data.join("indexes")))?;
        let has_indexes = indexes.is_some_and(|mut indexes| indexes.next().is_some());
        let is_lost = has_indexes || !accepted.is_empty();
        return Ok(is_lost.then_some(Remains { uploads, folder: None }));
    }
    // All files of the database must get into the same folder, even if the process is killed in between.
    let unfinished = data.join(UNFINISHED);
    create_private_dir(&unfinished)?;
    for path in paths {
        fs::rename(&path, unfinished.join(path.file_name().unwrap_or_default()))?;
    }
    let folder = data.join(format!("set-aside-{}", now_micros()));
    fs::rename(unfinished, &folder)?;
    Ok(Some(Remains { uploads, folder: Some(folder) }))
}

/// Whether a file exists and is not empty.
fn is_filled(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|file| file.len() > 0)
}

const RESTORE_DATASETS: &str = "
    INSERT INTO dataset (id, name, folder, status, progress, created_at, extractor, model,
                         patterns)
      SELECT id, name, folder, 'INDEXING', 0, created_at, 0, model, patterns FROM old.dataset;
    INSERT INTO source (dataset, folder) SELECT id, folder FROM dataset ORDER BY created_at;
    INSERT INTO indexing_task (dataset, kind, stage, reindex, created_at)
      SELECT id, 'DATASET_CREATION', 'RUNNING', 0, created_at FROM dataset;
";
const RESTORE_SOURCES: &str = "INSERT OR IGNORE INTO source (dataset, folder)
                               SELECT dataset, folder FROM old.source ORDER BY row";
/// The tables with the tags and ratings of users, and their columns. Only the tags of a folder on this machine are also
/// in a file.
const TAG_TABLES: [(&str, &str); 2] = [
    ("tag", "row, id, dataset, name, color"),
    ("tagged_media", "media, dataset, folder, path, seconds, region, content, tags, rating"),
];
/// The tables that are restored only with all tags, because they describe these.
const TABLES_OF_ALL_TAGS: [(&str, &str); 2] = [
    ("tag_state", "dataset, revision, written, file"),
    ("tag_change", "row, id, dataset, description, groups, media"),
];
const CAPTION_LANGUAGE: (&str, &str) = ("caption_language", "dataset, indexed, chosen");

impl Remains {
    /// Copies all datasets into a new database, in which they are indexed again, and their tags. Fails if the datasets
    /// are damaged. Returns whether all tags are intact.
    pub(crate) fn restore_datasets(&self, mut new: Connection) -> Result<bool> {
        let database = self.folder.as_ref().map(|folder| folder.join(DATABASE_FILES[0]));
        let database = database.as_ref().and_then(|path| path.to_str()).unwrap_or_default();
        new.execute("ATTACH ?1 AS old", [database])?;
        copy_datasets(new.transaction()?)?;
        // Without this table, the language is detected again.
        let _ = copy_table(&new, CAPTION_LANGUAGE);
        let is_intact = !TAG_TABLES.map(|table| copy_table(&new, table).is_ok()).contains(&false);
        if is_intact {
            // Without the state, the tags in the file beside a dataset replace those that were restored.
            let _ = TABLES_OF_ALL_TAGS.map(|table| copy_table(&new, table));
        }
        Ok(is_intact)
    }

    /// Returns what the user needs to know. `restored` says whether the tags of the restored datasets are intact.
    pub fn notice(&self, restored: Option<bool>) -> String {
        let mut notice = match restored {
            Some(true) => "the store was damaged; its datasets are indexed again".to_owned(),
            Some(false) => "the store was damaged; its datasets are indexed again. Tags and ratings that are not in \
                            .tessera/tags.jsonl in the folder of a dataset may be lost, because their tables are \
                            damaged"
                .to_owned(),
            None => format!(
                "the store was missing or damaged and a new one was created; open each folder again to \
                 rebuild it. The uploads are kept in {} and are added again with their folder",
                printable_path(&self.uploads)
            ),
        };
        if let Some(folder) = &self.folder {
            notice += ". What was left of the store was moved to ";
            notice += printable_path(folder).as_str();
        }
        notice
    }
}

/// Copies the datasets from the attached database.
fn copy_datasets(transaction: Transaction) -> Result<()> {
    check_table(&transaction, "old", "dataset")?;
    transaction.execute_batch(RESTORE_DATASETS)?;
    check_table(&transaction, "old", "source")?;
    transaction.execute(RESTORE_SOURCES, [])?;
    transaction.commit()
}

/// Copies a table from the attached database.
fn copy_table(connection: &Connection, (table, columns): (&str, &str)) -> Result<()> {
    check_table(connection, "old", table)?;
    let copy = format!("INSERT INTO {table} ({columns}) SELECT {columns} FROM old.{table}");
    connection.execute(&copy, []).map(drop)
}

// Finds damage in the database file. The checksum of a row is verified whenever a query reads the row. The whole file
// is checked if it was not closed, or has changed since it was closed.
//
// The SQL functions are `crc32(...)`, which takes any values, and `require(intact)`, which fails for a damaged row, so
// that no query returns one.

/// Adds the functions to a connection. Without them, the tables can be read but not changed.
pub(super) fn register_functions(connection: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function("crc32", -1, flags, |values| Ok(crc32(values)))?;
    connection.create_scalar_function("require", 1, flags, |intact| {
        if intact.get_raw(0) == ValueRef::Integer(1) {
            return Ok(true);
        }
        // No text is given, because `SQLite` would forget the error code.
        Err(Error::SqliteFailure(ffi::Error::new(SQLITE_CORRUPT), None))
    })
}

/// Returns the error that `SQLite` itself returns for a damaged file.
fn damage(what: &str) -> Error {
    Error::SqliteFailure(ffi::Error::new(SQLITE_CORRUPT), Some(what.to_owned()))
}

/// Returns the CRC-32 of values, including their types and lengths.
fn crc32(values: &Context) -> u32 {
    let mut crc = Hasher::new();
    for index in 0..values.len() {
        let (kind, bytes): (u8, &[u8]) = match values.get_raw(index) {
            ValueRef::Null => (0, &[]),
            ValueRef::Integer(number) => (1, &number.to_le_bytes()),
            ValueRef::Real(number) => (2, &number.to_le_bytes()),
            ValueRef::Text(text) => (3, text),
            ValueRef::Blob(blob) => (4, blob),
        };
        crc.update(&[kind]);
        crc.update(&bytes.len().to_le_bytes());
        crc.update(bytes);
    }
    crc.finalize()
}

/// Fails with damage unless every page, index entry and row is as it was written.
pub(super) fn check(connection: &Connection) -> Result<()> {
    run_check(connection, "PRAGMA integrity_check(1)")
}

/// Fails with damage unless the tables, indexes and triggers are as they were created.
pub(super) fn check_definitions(connection: &Connection) -> Result<()> {
    if schema::is_intact(connection)? {
        Ok(())
    } else {
        Err(damage("its definitions have changed"))
    }
}

/// Checks one table of an attached database.
pub(super) fn check_table(connection: &Connection, database: &str, table: &str) -> Result<()> {
    run_check(connection, &format!("PRAGMA {database}.integrity_check({table})"))
}

fn run_check(connection: &Connection, pragma: &str) -> Result<()> {
    let report: String = connection.query_row(pragma, [], |row| row.get(0))?;
    if report == "ok" { Ok(()) } else { Err(damage(&report)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_move_of_the_remains_is_continued_into_the_same_folder() {
        let data = tempfile::tempdir().unwrap();
        let path = |name: &str| data.path().join(name);
        for folder in ["exports", UPLOADS, UNFINISHED] {
            fs::create_dir(path(folder)).unwrap();
        }
        fs::write(path(UNFINISHED).join(DATABASE_FILES[0]), "database").unwrap();
        fs::write(path(DATABASE_FILES[1]), "log").unwrap();
        let folder = set_aside(data.path()).unwrap().unwrap().folder.unwrap();
        let kept = DATABASE_FILES.map(|name| fs::read_to_string(folder.join(name)).ok());
        assert_eq!(kept, [Some("database".to_owned()), Some("log".to_owned()), None]);
    }
}

//! Sources: the folders that the files of a dataset are in, its own one and one for each batch of
//! added media.

use std::{
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::dataset::path;
use tessera_model::{DatasetId, MediaId};

/// A folder of a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Row number; the dataset's own folder has the lowest.
    pub row: i64,
    /// The dataset.
    pub dataset: DatasetId,
    /// The folder, absolute.
    pub folder: PathBuf,
    /// Whether it is the dataset's own folder.
    pub own: bool,
}

impl Source {
    /// The identifier of the media at `file`: the same whenever it is indexed.
    #[must_use]
    pub fn media_id(&self, file: &Path) -> MediaId {
        let mut name = Vec::new();
        if !self.own {
            name.extend_from_slice(self.folder.as_os_str().as_bytes());
            name.push(b'/');
        }
        name.extend_from_slice(file.as_os_str().as_bytes());
        MediaId(uuid::Uuid::new_v5(&self.dataset.0, &name))
    }
}

const SELECT: &str = "SELECT source.row, source.dataset, source.folder,
                             source.folder = dataset.folder
                      FROM source JOIN dataset ON dataset.id = source.dataset";

fn source(row: &Row) -> rusqlite::Result<Source> {
    Ok(Source {
        row: row.get(0)?,
        dataset: DatasetId(row.get(1)?),
        folder: path(row.get(2)?),
        own: row.get(3)?,
    })
}

/// Adds a folder to a dataset, or finds the one that is there. Returns its row.
///
/// # Errors
/// The store failed.
pub fn put(connection: &Connection, dataset: DatasetId, folder: &Path) -> rusqlite::Result<i64> {
    connection.query_row(
        "INSERT INTO source (dataset, folder) VALUES (?1, ?2)
         ON CONFLICT (dataset, folder) DO UPDATE SET folder = excluded.folder RETURNING row",
        params![dataset.0, folder.as_os_str().as_bytes()],
        |row| row.get(0),
    )
}

/// The row of the source that a folder of this machine belongs to: the one it lies in, so that no file
/// is listed twice, or a new one.
///
/// # Errors
/// The store failed.
pub fn of_folder(
    connection: &Connection,
    dataset: DatasetId,
    folder: &Path,
) -> rusqlite::Result<i64> {
    let known = all(connection, dataset)?;
    match known.iter().find(|source| folder.starts_with(&source.folder)) {
        Some(source) => Ok(source.row),
        None => put(connection, dataset, folder),
    }
}

/// The folders of a dataset, its own first.
///
/// # Errors
/// The store failed.
pub fn all(connection: &Connection, dataset: DatasetId) -> rusqlite::Result<Vec<Source>> {
    let sql = format!("{SELECT} WHERE source.dataset = ?1 ORDER BY source.row");
    connection.prepare_cached(&sql)?.query_map([dataset.0], source)?.collect()
}

/// One folder.
///
/// # Errors
/// The store failed.
pub fn find(connection: &Connection, row: i64) -> rusqlite::Result<Option<Source>> {
    let sql = format!("{SELECT} WHERE source.row = ?1");
    connection.prepare_cached(&sql)?.query_row([row], source).optional()
}

/// The folders of all datasets.
///
/// # Errors
/// The store failed.
pub fn folders(connection: &Connection) -> rusqlite::Result<Vec<PathBuf>> {
    connection
        .prepare("SELECT folder FROM source")?
        .query_map([], |row| Ok(path(row.get(0)?)))?
        .collect()
}

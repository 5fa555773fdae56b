//! Source folders: the folder of the dataset itself, and one folder for each batch of added media.

use std::path::{Path, PathBuf};

use super::{columns::path_in_index_folder, prelude::*};
use tessera_model::PatternLists;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFolder {
    /// The row number. The folder of the dataset itself has the lowest number.
    pub row: i64,
    pub dataset: DatasetId,
    pub folder: PathBuf,
    /// The folder as it is stored, which stays the same when the index folder is moved.
    stored_folder: PathBuf,
    pub is_dataset_folder: bool,
    /// Which files belong to the dataset. Folders of added media have no patterns.
    pub patterns: PatternLists,
}

impl SourceFolder {
    /// Returns the identifier of the media item at `file`, which stays the same across reindexing.
    pub fn media_id(&self, file: &Path) -> MediaId {
        let mut name = Vec::new();
        if !self.is_dataset_folder {
            name.extend_from_slice(path_to_bytes(&self.stored_folder));
            name.push(b'/');
        }
        name.extend_from_slice(path_to_bytes(file));
        MediaId(uuid::Uuid::new_v5(&self.dataset.0, &name))
    }

    /// Returns the name of the folder for clients, which must not learn where the folders of this machine are.
    pub fn public_name(&self) -> String {
        let name = || Path::new(self.folder.file_name().unwrap_or_default());
        let name = path_in_index_folder(&self.stored_folder).unwrap_or_else(name);
        name.to_string_lossy().into_owned()
    }

    /// Returns the identifier of a frame of the video at `file`, which depends on its time.
    pub(crate) fn frame_id(&self, file: &Path, seconds: f64) -> MediaId {
        let video = self.media_id(file);
        MediaId(uuid::Uuid::new_v5(&video.0, format!("{seconds:.3}").as_bytes()))
    }
}

const SELECT_SOURCE: &str = "SELECT source.row, source.dataset, source.folder,
                             source.folder = dataset.folder,
                             CASE WHEN source.folder = dataset.folder THEN dataset.patterns ELSE '{}' END,
                             require(source.intact)
                      FROM source JOIN dataset ON dataset.id = source.dataset";

fn read_source(index_folder: &Path, row: &Row) -> Result<SourceFolder> {
    let stored: Vec<u8> = row.get(2)?;
    Ok(SourceFolder {
        row: row.get(0)?,
        dataset: DatasetId(row.get(1)?),
        folder: folder_from_bytes(index_folder, stored.clone()),
        stored_folder: path_from_bytes(stored),
        is_dataset_folder: row.get(3)?,
        patterns: from_json(row, 4)?,
    })
}

/// Adds a folder to a dataset, unless the dataset has the folder already. Returns the row of the folder.
pub fn upsert(connection: &Connection, dataset: DatasetId, folder: &Path) -> Result<i64> {
    let folder = folder_to_bytes(connection.index_folder(), folder);
    let params = params![dataset.0, folder];
    // The existing row is not updated, because an update would read all media, which refer to it.
    let insert = "INSERT INTO source (dataset, folder) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    query::execute(connection, insert, params)?;
    let select = "SELECT row, require(intact) FROM source WHERE dataset = ?1 AND folder = ?2";
    query::one(connection, select, params, |row| row.get(0))
}

/// Returns the source that contains a local folder, so that no file is listed twice, or else adds a new source. Returns
/// also the path of the folder below the source.
pub fn find_or_insert_for_folder(
    connection: &Connection,
    dataset: DatasetId,
    folder: &Path,
) -> Result<(i64, PathBuf)> {
    let known = of_dataset(connection, dataset)?;
    let below = |source: &SourceFolder| {
        Some((source.row, folder.strip_prefix(&source.folder).ok()?.to_owned()))
    };
    match known.iter().find_map(below) {
        Some(found) => Ok(found),
        None => Ok((upsert(connection, dataset, folder)?, PathBuf::new())),
    }
}

/// Returns the folders of a dataset. The folder of the dataset itself comes first.
pub fn of_dataset(connection: &Connection, dataset: DatasetId) -> Result<Vec<SourceFolder>> {
    let sql = format!("{SELECT_SOURCE} WHERE source.dataset = ?1 ORDER BY source.row");
    let read = |row: &Row| read_source(connection.index_folder(), row);
    query::all(connection, &sql, params![dataset.0], read)
}

/// Returns the folder of the dataset itself.
pub fn dataset_folder(connection: &Connection, dataset: DatasetId) -> Result<Option<SourceFolder>> {
    let sources = of_dataset(connection, dataset)?;
    Ok(sources.into_iter().find(|source| source.is_dataset_folder))
}

pub fn find(connection: &Connection, row: i64) -> Result<Option<SourceFolder>> {
    let sql = format!("{SELECT_SOURCE} WHERE source.row = ?1");
    let read = |row: &Row| read_source(connection.index_folder(), row);
    query::find(connection, &sql, params![row], read)
}

/// Adds the folders of uploads that the database does not know, because it is new or an older copy. Returns whether
/// there were such folders.
pub fn add_unknown_uploads(
    connection: &Connection,
    dataset: DatasetId,
    folders: &[PathBuf],
) -> Result<bool> {
    let known = of_dataset(connection, dataset)?;
    let is_known = |folder: &Path| known.iter().any(|source| source.folder == folder);
    let mut any = false;
    for folder in folders.iter().filter(|folder| !is_known(folder)) {
        upsert(connection, dataset, folder)?;
        any = true;
    }
    Ok(any)
}

pub fn all_folders(connection: &Connection) -> Result<Vec<PathBuf>> {
    let read = |row: &Row| Ok(folder_from_bytes(connection.index_folder(), row.get(0)?));
    query::all(connection, "SELECT folder, require(intact) FROM source", params![], read)
}

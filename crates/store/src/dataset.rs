//! Dataset rows. A dataset has a folder and a durable status.

use std::path::{Path, PathBuf};

use super::prelude::*;
use super::{captions::CaptionLanguage, now_micros, several_processes::search_table, source};
use tessera_model::{PatternLists, Status};

#[derive(Clone, Debug)]
pub struct DatasetRecord {
    pub id: DatasetId,
    /// The display name, not sanitized.
    pub name: String,
    /// The folder as an absolute, canonical path.
    pub folder: PathBuf,
    pub status: Status,
    /// The progress of the running indexing task in percent.
    pub progress: u8,
    pub created_at: i64,
    /// The reason for the status ERROR, which is safe to send to clients.
    pub fatal_error: Option<String>,
    pub n_images: u64,
    pub n_videos: u64,
    pub n_frames: u64,
    pub n_objects: u64,
    /// A number that increases when the clustering changes. An index belongs to one generation. 0 means never
    /// clustered.
    pub generation: i64,
    /// The version of the extractor that computed the stored features.
    pub extractor: u32,
    /// The folder of the user's own model, as an absolute path. With a store on a server, all processes have the same
    /// model instead.
    pub model: Option<PathBuf>,
    /// The language of the captions.
    pub language: CaptionLanguage,
    /// Which files belong to the dataset, beside what the folder's own file says.
    pub patterns: PatternLists,
    /// A number that increases when users change tags or ratings.
    pub tag_revision: i64,
    /// When the last indexing task began.
    pub updated_at: Option<i64>,
}

impl DatasetRecord {
    /// Creates a dataset without media, whose indexing begins now.
    pub fn new(id: DatasetId, name: &str, folder: &Path, extractor: u32) -> Self {
        Self {
            id,
            name: name.to_owned(),
            folder: folder.to_owned(),
            status: Status::Indexing,
            progress: 0,
            created_at: now_micros(),
            fatal_error: None,
            n_images: 0,
            n_videos: 0,
            n_frames: 0,
            n_objects: 0,
            generation: 0,
            extractor,
            model: None,
            language: CaptionLanguage::default(),
            patterns: PatternLists::default(),
            tag_revision: 0,
            updated_at: None,
        }
    }
}

const SELECT_DATASET: &str = "SELECT id, name, folder, status, progress, created_at, fatal_error,
                              n_images, n_videos, n_frames, n_objects, generation, extractor,
                              indexed, chosen, model, patterns, require(dataset.intact),
                              require(coalesce(caption_language.intact, caption_language.dataset IS NULL)),
                              coalesce(revision, 0), require(coalesce(tag_state.intact, tag_state.dataset IS NULL)),
                              (SELECT task.created_at FROM indexing_task task
                               WHERE task.dataset = dataset.id
                               ORDER BY task.row DESC LIMIT 1)
                              FROM dataset LEFT JOIN caption_language ON caption_language.dataset = id
                              LEFT JOIN tag_state ON tag_state.dataset = id";

fn read_dataset(index_folder: &Path, row: &Row) -> Result<DatasetRecord> {
    Ok(DatasetRecord {
        id: DatasetId(row.get(0)?),
        name: row.get(1)?,
        folder: folder_from_bytes(index_folder, row.get(2)?),
        status: Status::parse(row.get_ref(3)?.as_str()?),
        progress: row.get(4)?,
        created_at: row.get(5)?,
        fatal_error: row.get(6)?,
        n_images: row.get(7)?,
        n_videos: row.get(8)?,
        n_frames: row.get(9)?,
        n_objects: row.get(10)?,
        generation: row.get(11)?,
        extractor: row.get(12)?,
        language: CaptionLanguage::from_codes(
            row.get::<Option<String>>(13)?.as_deref(),
            row.get::<Option<String>>(14)?.as_deref(),
        )?,
        model: row.get::<Option<Vec<u8>>>(15)?.map(path_from_bytes),
        patterns: from_json(row, 16)?,
        tag_revision: row.get(19)?,
        updated_at: row.get(21)?,
    })
}

/// Returns all datasets, the oldest first.
pub fn all(connection: &Connection) -> Result<Vec<DatasetRecord>> {
    let sql = format!("{SELECT_DATASET} ORDER BY dataset.created_at, dataset.id");
    query::all(connection, &sql, params![], |row| read_dataset(connection.index_folder(), row))
}

pub fn find(connection: &Connection, id: DatasetId) -> Result<Option<DatasetRecord>> {
    let sql = format!("{SELECT_DATASET} WHERE id = ?1");
    query::find(connection, &sql, params![id.0], |row| read_dataset(connection.index_folder(), row))
}

pub fn find_by_folder(connection: &Connection, folder: &Path) -> Result<Option<DatasetRecord>> {
    let sql = format!("{SELECT_DATASET} WHERE folder = ?1");
    let folder = folder_to_bytes(connection.index_folder(), folder);
    query::find(connection, &sql, params![folder], |row| {
        read_dataset(connection.index_folder(), row)
    })
}

/// Inserts a dataset with its folder, or changes the name, the model and the patterns of the existing one.
pub fn upsert(connection: &Connection, dataset: &DatasetRecord) -> Result<()> {
    query::execute(
        connection,
        "INSERT INTO dataset (id, name, folder, status, progress, created_at, extractor, model,
                              patterns)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
         ON CONFLICT (id) DO UPDATE SET name = excluded.name, model = excluded.model,
                                        patterns = excluded.patterns",
        params![
            dataset.id.0,
            dataset.name,
            folder_to_bytes(connection.index_folder(), &dataset.folder),
            dataset.status.as_str(),
            dataset.progress,
            dataset.created_at,
            dataset.extractor,
            dataset.model.as_deref().map(path_to_bytes),
            to_json(&dataset.patterns)?,
        ],
    )?;
    source::upsert(connection, dataset.id, &dataset.folder).map(drop)
}

pub fn set_patterns(connection: &Connection, id: DatasetId, patterns: &PatternLists) -> Result<()> {
    let sql = "UPDATE dataset SET patterns = ?2 WHERE id = ?1";
    query::execute(connection, sql, params![id.0, to_json(patterns)?])
}

pub fn rename(connection: &Connection, id: DatasetId, name: &str) -> Result<()> {
    query::execute(connection, "UPDATE dataset SET name = ?2 WHERE id = ?1", params![id.0, name])
}

/// Removes a dataset with everything that was derived from its files.
pub fn remove(transaction: &Transaction, id: DatasetId) -> Result<()> {
    search_table::drop_all(transaction, id)?;
    query::execute(transaction, "DELETE FROM dataset WHERE id = ?1", params![id.0])
}

/// Sets the status. `fatal_error` is the reason for the status ERROR, or what an addition could not read. The database
/// rejects transitions that the API does not define.
pub fn set_status(
    connection: &Connection,
    id: DatasetId,
    status: &Status,
    progress: u8,
    fatal_error: Option<&str>,
) -> Result<()> {
    query::execute(
        connection,
        "UPDATE dataset SET status = ?2, progress = ?3, fatal_error = ?4 WHERE id = ?1",
        params![id.0, status.as_str(), progress, fatal_error],
    )
}

/// Sets the status of a task that continues or ends. What an addition before it could not read stays in `fatal_error`.
pub(super) fn advance_status(
    connection: &Connection,
    id: DatasetId,
    status: &Status,
    progress: u8,
) -> Result<()> {
    let sql = "UPDATE dataset SET status = ?2, progress = ?3 WHERE id = ?1";
    query::execute(connection, sql, params![id.0, status.as_str(), progress])
}

/// Sets the progress. It never decreases, because several threads report it and may do so in any order.
pub fn set_progress(connection: &Connection, id: DatasetId, percent: u8) -> Result<()> {
    let sql = "UPDATE dataset SET progress = ?2 WHERE id = ?1 AND progress < ?2";
    query::execute(connection, sql, params![id.0, percent])
}

/// Begins a generation. Its number was used by no earlier state of this store, even if the database is replaced by an
/// older copy.
pub fn begin_generation(connection: &Connection, id: DatasetId) -> Result<()> {
    let sql = "UPDATE dataset
               SET generation = CASE WHEN generation < ?2 THEN ?2 ELSE generation + 1 END
               WHERE id = ?1";
    query::execute(connection, sql, params![id.0, now_micros()])
}

/// Deletes everything that was derived from the files, and records the extractor version with which it will be derived
/// again.
pub fn clear_derived(connection: &Connection, id: DatasetId, extractor: u32) -> Result<()> {
    for table in ["media", "cluster"] {
        query::execute(
            connection,
            &format!("DELETE FROM {table} WHERE dataset = ?1"),
            params![id.0],
        )?;
    }
    for table in ["skipped", "sidecar"] {
        let of_dataset = "source IN (SELECT row FROM source WHERE dataset = ?1)";
        let sql = format!("DELETE FROM {table} WHERE {of_dataset}");
        query::execute(connection, &sql, params![id.0])?;
    }
    set_extractor(connection, id, extractor)
}

pub fn set_extractor(connection: &Connection, id: DatasetId, extractor: u32) -> Result<()> {
    let sql = "UPDATE dataset SET extractor = ?2 WHERE id = ?1";
    query::execute(connection, sql, params![id.0, extractor])
}

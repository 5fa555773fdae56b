//! Tasks that index the media of a dataset: creation from a folder, adding media, and reindexing. An indexing task
//! changes the status of its dataset along the transitions of the API document, in the same transaction as its own
//! state. The database allows one running indexing task per dataset.
//!
//! A crash leaves an indexing task RUNNING. The worker that takes its lease next runs it again. The unfinished indexing
//! tasks and exports are counted here, too.

use std::path::{Path, PathBuf};

use super::prelude::*;
use super::{
    dataset,
    lease::{self, LeasedTask},
    now_micros, remove_ranges, store_now,
};
use serde::{Deserialize, Serialize};
use tessera_files::staging::UNPACKED_DIR_NAME;
use tessera_model::{Status, keyword_enum};

keyword_enum!(
    IndexingTaskKind {
        /// Synchronizes the dataset with its folder.
        Creation = "DATASET_CREATION",
        Addition = "MEDIA_ADDITION",
        /// Reclusters all media.
        Reindex = "REINDEX",
    }
);

/// The media that an addition adds. The type is stored as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    pub source: i64,
    /// The folder below the source, if only this folder was to be added and its path is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<String>,
    /// How the files get into the folder of the source.
    #[serde(rename = "arrival")]
    pub origin: BatchOrigin,
}

/// The origin of the files in a batch. The type is stored as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BatchOrigin {
    /// The files are already in the folder.
    #[serde(rename = "There")]
    InPlace,
    /// An archive next to the folder, with this extension.
    #[serde(rename = "Packed")]
    Archive(String),
    /// The files come from a folder or manifest in object storage, and stay there.
    #[serde(rename = "Stored")]
    ObjectStorage(String),
}

impl BatchOrigin {
    /// Returns the folder with the files of an upload whose staging directory is `staging`.
    pub fn media_folder(&self, staging: &Path) -> PathBuf {
        match self {
            Self::Archive(_) => staging.join(UNPACKED_DIR_NAME),
            Self::InPlace => staging.to_owned(),
            Self::ObjectStorage(uri) => PathBuf::from(uri),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexingTask {
    /// The row number, which is the order of arrival.
    pub row: i64,
    pub dataset: DatasetId,
    pub kind: IndexingTaskKind,
    /// The added media, or `None` if the task is not an addition.
    pub batch: Option<Batch>,
    /// Whether a reindex follows the addition.
    pub reindex: bool,
}

const SELECT_RUNNING: &str = "SELECT row, dataset, kind, batch, reindex, require(intact)
                      FROM indexing_task WHERE stage = 'RUNNING'";

fn read_task(row: &Row) -> Result<IndexingTask> {
    let name: String = row.get(2)?;
    let kind = IndexingTaskKind::from_keyword(&name);
    Ok(IndexingTask {
        row: row.get(0)?,
        dataset: DatasetId(row.get(1)?),
        kind: kind.ok_or_else(|| QueryError::value(name))?,
        batch: from_json(row, 3)?,
        reindex: row.get(4)?,
    })
}

pub fn find_running(connection: &Connection, dataset: DatasetId) -> Result<Option<IndexingTask>> {
    let sql = format!("{SELECT_RUNNING} AND dataset = ?1");
    query::find(connection, &sql, params![dataset.0], read_task)
}

/// Finds a running indexing task by its row. The task is not removed before the transaction ends.
pub fn find(transaction: &Transaction, row: i64) -> Result<Option<IndexingTask>> {
    let sql = format!("{SELECT_RUNNING} AND row = ?1{}", transaction.dialect().keep_row);
    query::find(transaction, &sql, params![row], read_task)
}

/// Returns the dataset of a running indexing task.
pub fn dataset_of(connection: &Connection, row: i64) -> Result<Option<DatasetId>> {
    let sql = format!("{SELECT_RUNNING} AND row = ?1");
    let found = query::find(connection, &sql, params![row], read_task)?;
    Ok(found.map(|running| running.dataset))
}

/// Returns why the running indexing task of a dataset waits, or one of its ranges, if it does. The reason is safe to
/// send to clients.
pub fn waiting_reason(connection: &Connection, dataset: DatasetId) -> Result<Option<String>> {
    let ranges = if connection.is_on_server() {
        "UNION ALL SELECT 'range/' || extraction_range.row FROM running
           JOIN extraction_range ON extraction_range.indexing_task = running.row
         UNION ALL SELECT 'similarity/' || similarity_range.row FROM running
           JOIN similarity_range ON similarity_range.indexing_task = running.row"
    } else {
        ""
    };
    let sql = format!(
        "WITH running AS (SELECT row FROM indexing_task WHERE dataset = ?1 AND stage = 'RUNNING')
         SELECT min(waiting) FROM lease WHERE task IN (SELECT 'indexing/' || row FROM running {ranges})"
    );
    query::one(connection, &sql, params![dataset.0], |row| row.get(0))
}

/// Returns the oldest running indexing task on which no worker has a lease.
pub fn next_unleased(transaction: &Transaction) -> Result<Option<IndexingTask>> {
    let sql = format!(
        "{SELECT_RUNNING} AND NOT EXISTS (SELECT 1 FROM lease WHERE expires_at > ?1
                                          AND task = 'indexing/' || indexing_task.row)
         ORDER BY row LIMIT 1"
    );
    query::find(transaction, &sql, params![store_now(transaction)?], read_task)
}

/// Starts an indexing task and sets the status: INDEXING for a creation, READ ONLY for the other kinds. Returns the row
/// of the task. Fails if another indexing task is running, or the status does not allow this one.
pub fn begin(
    transaction: &Transaction,
    dataset: DatasetId,
    kind: IndexingTaskKind,
    batch: Option<&Batch>,
    reindex: bool,
) -> Result<i64> {
    let row = insert(transaction, dataset, kind, batch, reindex)?;
    let status = match kind {
        IndexingTaskKind::Creation => Status::Indexing,
        IndexingTaskKind::Addition | IndexingTaskKind::Reindex => Status::ReadOnly,
    };
    dataset::set_status(transaction, dataset, &status, 0, None)?;
    Ok(row)
}

fn insert(
    transaction: &Transaction,
    dataset: DatasetId,
    kind: IndexingTaskKind,
    batch: Option<&Batch>,
    reindex: bool,
) -> Result<i64> {
    query::one(
        transaction,
        "INSERT INTO indexing_task (dataset, kind, stage, batch, reindex, created_at)
         VALUES (?1, ?2, 'RUNNING', ?3, ?4, ?5) RETURNING row",
        params![dataset.0, kind.as_str(), batch.map(to_json).transpose()?, reindex, now_micros()],
        |row| row.get(0),
    )
}

/// Sets the status from READ ONLY to INDEXING when a reindex starts clustering. Calling this again has no effect.
pub fn begin_clustering(transaction: &Transaction, reindex: &IndexingTask) -> Result<()> {
    dataset::advance_status(transaction, reindex.dataset, &Status::Indexing, 0)
}

/// Completes an indexing task and sets the status: PARTIAL INDEX after an addition, otherwise READY. If a reindex
/// follows the addition, the reindex starts immediately and the status becomes INDEXING. `unread` says what
/// could not be read.
pub fn finish(transaction: &Transaction, done: &IndexingTask, unread: Option<&str>) -> Result<()> {
    set_final_state(transaction, done, "COMPLETED")?;
    let reindex_follows = done.kind == IndexingTaskKind::Addition && done.reindex;
    let (status, progress) = match done.kind {
        IndexingTaskKind::Creation | IndexingTaskKind::Reindex => (Status::Ready, 100),
        IndexingTaskKind::Addition if reindex_follows => (Status::Indexing, 0),
        IndexingTaskKind::Addition => (Status::PartialIndex, 100),
    };
    match done.kind {
        IndexingTaskKind::Reindex => {
            dataset::advance_status(transaction, done.dataset, &status, progress)?;
        }
        _ => dataset::set_status(transaction, done.dataset, &status, progress, unread)?,
    }
    if reindex_follows {
        insert(transaction, done.dataset, IndexingTaskKind::Reindex, None, false)?;
    }
    Ok(())
}

/// Ends an indexing task as failed. The dataset gets the status ERROR with the reason `why`, which is safe to send to
/// clients.
pub fn fail(transaction: &Transaction, failed: &IndexingTask, why: &str) -> Result<()> {
    set_final_state(transaction, failed, "FAILED")?;
    dataset::set_status(transaction, failed.dataset, &Status::Error, 0, Some(why))
}

/// Ends a running indexing task as failed, and takes it away from its worker. Returns its row, or `None` if its worker
/// has completed it meanwhile.
pub fn cancel(transaction: &Transaction, running: &IndexingTask, why: &str) -> Result<Option<i64>> {
    lease::revoke(transaction, LeasedTask::Indexing(running.row))?;
    let Some(running) = find(transaction, running.row)? else { return Ok(None) };
    fail(transaction, &running, why)?;
    Ok(Some(running.row))
}

fn set_final_state(transaction: &Transaction, running: &IndexingTask, stage: &str) -> Result<()> {
    remove_ranges(transaction, running.row)?;
    let sql = "UPDATE indexing_task SET stage = ?2 WHERE row = ?1 AND stage = 'RUNNING'";
    query::execute(transaction, sql, params![running.row, stage])
}

/// The name of exports, next to the names of the kinds of indexing tasks.
const EXPORT: &str = "EXPORT";

const INDEXING_TASKS: &str = "SELECT count(*), count(lease.task), min(created_at),
                                 min(CASE WHEN lease.task IS NULL THEN created_at END) FROM indexing_task
                          LEFT JOIN lease ON task = 'indexing/' || row AND expires_at > ?1
                          WHERE stage = 'RUNNING' AND kind = ?2";
const EXPORTS: &str = "SELECT count(*), count(lease.task), min(created_at),
                              min(CASE WHEN lease.task IS NULL THEN created_at END)
                       FROM export
                       LEFT JOIN lease ON task = 'export/' || lower(hex(id)) AND expires_at > ?1
                       WHERE status IN ('INIT', 'IN_PROGRESS')";

/// The unfinished tasks of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnfinishedTasks {
    pub kind: &'static str,
    /// The number of tasks that a worker has begun.
    pub running: u64,
    /// The number of tasks that wait for a worker.
    pub queued: u64,
    /// The time at which the oldest task was accepted, in microseconds since 1970.
    pub oldest: Option<i64>,
    /// The time at which the oldest waiting task was accepted.
    pub oldest_queued: Option<i64>,
}

/// Returns the unfinished tasks of each kind, including kinds without any.
pub fn unfinished_tasks(connection: &Connection) -> Result<Vec<UnfinishedTasks>> {
    let now = store_now(connection)?;
    let mut tasks = Vec::new();
    for kind in IndexingTaskKind::ALL {
        let values = params![now, kind.as_str()];
        let read = |row: &Row| read_tasks(kind.as_str(), row);
        tasks.push(query::one(connection, INDEXING_TASKS, values, read)?);
    }
    tasks.push(query::one(connection, EXPORTS, params![now], |row| read_tasks(EXPORT, row))?);
    Ok(tasks)
}

fn read_tasks(kind: &'static str, row: &Row) -> Result<UnfinishedTasks> {
    let (all, running): (u64, u64) = (row.get(0)?, row.get(1)?);
    let (oldest, oldest_queued) = (row.get(2)?, row.get(3)?);
    Ok(UnfinishedTasks { kind, running, queued: all - running, oldest, oldest_queued })
}

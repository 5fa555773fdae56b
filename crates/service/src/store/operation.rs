//! Operations on datasets: creating one from its folder, adding media, re-clustering. Each moves the
//! status of its dataset along the transitions of the interface document, in one transaction with
//! its own stage; the database allows one running operation a dataset.
//!
//! A kill leaves an operation RUNNING, and the next opening performs it again.

use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, params};
use serde::{Deserialize, Serialize};

use super::{dataset, now_micros, to_json};
use tessera_model::{DatasetId, Status};

/// What is done to a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// Brings it in line with its folder.
    Creation,
    /// Takes in a batch of media.
    Addition,
    /// Clusters all of it anew.
    Reindex,
}

impl OperationKind {
    const ALL: [Self; 3] = [Self::Creation, Self::Addition, Self::Reindex];

    /// The word of such services for a task of this kind.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Creation => "DATASET_CREATION",
            Self::Addition => "MEDIA_ADDITION",
            Self::Reindex => "REINDEX",
        }
    }
}

/// What an addition takes in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// The source its files are in, or come into.
    pub source: i64,
    /// What has to be done before they are there.
    pub arrival: BatchOrigin,
}

/// How the files of a batch come into its folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BatchOrigin {
    /// They are there.
    There,
    /// Out of the archive beside the folder, of this extension.
    Packed(String),
    /// From this folder or manifest in object storage.
    Stored(String),
}

/// An operation that is not over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningOperation {
    /// Row number: the order of arrival.
    pub row: i64,
    /// The dataset.
    pub dataset: DatasetId,
    /// What is done to it.
    pub kind: OperationKind,
    /// What an addition takes in; `None` for the others.
    pub batch: Option<Batch>,
    /// Whether a reindex follows an addition.
    pub reindex: bool,
}

const SELECT_RUNNING: &str = "SELECT row, dataset, kind, batch, reindex FROM operation
                      WHERE stage = 'RUNNING'";

fn read_operation(row: &Row) -> rusqlite::Result<RunningOperation> {
    let word: String = row.get(2)?;
    let batch: Option<String> = row.get(3)?;
    let kind = OperationKind::ALL.into_iter().find(|kind| kind.as_str() == word);
    let unknown = || rusqlite::Error::InvalidColumnType(2, word, rusqlite::types::Type::Text);
    Ok(RunningOperation {
        row: row.get(0)?,
        dataset: DatasetId(row.get(1)?),
        kind: kind.ok_or_else(unknown)?,
        batch: batch.map(|_| super::from_json(row, 3)).transpose()?,
        reindex: row.get(4)?,
    })
}

/// The operation that runs on a dataset.
///
/// # Errors
/// The store failed.
pub fn find_running(
    connection: &Connection,
    dataset: DatasetId,
) -> rusqlite::Result<Option<RunningOperation>> {
    let sql = format!("{SELECT_RUNNING} AND dataset = ?1");
    connection.prepare_cached(&sql)?.query_row([dataset.0], read_operation).optional()
}

/// One operation, unless it is over.
///
/// # Errors
/// The store failed.
pub fn find(connection: &Connection, row: i64) -> rusqlite::Result<Option<RunningOperation>> {
    let sql = format!("{SELECT_RUNNING} AND row = ?1");
    connection.prepare_cached(&sql)?.query_row([row], read_operation).optional()
}

/// All running operations, oldest first.
///
/// # Errors
/// The store failed.
pub fn all_running(connection: &Connection) -> rusqlite::Result<Vec<RunningOperation>> {
    connection
        .prepare(&format!("{SELECT_RUNNING} ORDER BY row"))?
        .query_map([], read_operation)?
        .collect()
}

/// Begins an operation and moves the dataset: to INDEXING for its creation, to READ ONLY for the
/// others. Returns its row.
///
/// # Errors
/// Another operation runs on the dataset, its status does not lead there, or the store failed.
pub fn begin(
    transaction: &Transaction,
    dataset: DatasetId,
    kind: OperationKind,
    batch: Option<&Batch>,
    reindex: bool,
) -> rusqlite::Result<i64> {
    let row = insert(transaction, dataset, kind, batch, reindex)?;
    let status = match kind {
        OperationKind::Creation => Status::Indexing,
        OperationKind::Addition | OperationKind::Reindex => Status::ReadOnly,
    };
    dataset::set_status(transaction, dataset, &status, 0, None)?;
    Ok(row)
}

fn insert(
    transaction: &Transaction,
    dataset: DatasetId,
    kind: OperationKind,
    batch: Option<&Batch>,
    reindex: bool,
) -> rusqlite::Result<i64> {
    let batch = batch.map(to_json).transpose()?;
    transaction.execute(
        "INSERT INTO operation (dataset, kind, stage, batch, reindex, created_at)
         VALUES (?1, ?2, 'RUNNING', ?3, ?4, ?5)",
        params![dataset.0, kind.as_str(), batch, reindex, now_micros()],
    )?;
    Ok(transaction.last_insert_rowid())
}

/// A reindex that begins its work: READ ONLY, then INDEXING. Doing it again changes nothing.
///
/// # Errors
/// The store failed.
pub fn begin_clustering(
    transaction: &Transaction,
    reindex: &RunningOperation,
) -> rusqlite::Result<()> {
    dataset::set_status(transaction, reindex.dataset, &Status::Indexing, 0, None)
}

/// Ends an operation that has done its work and moves the dataset: to READY, or to PARTIAL INDEX
/// after an addition. Where a reindex is to follow it begins at once, INDEXING, and its row is returned.
///
/// # Errors
/// The store failed.
pub fn finish(transaction: &Transaction, done: &RunningOperation) -> rusqlite::Result<Option<i64>> {
    set_final_state(transaction, done, "COMPLETED")?;
    let (status, progress) = match done.kind {
        OperationKind::Creation | OperationKind::Reindex => (Status::Ready, 100),
        OperationKind::Addition if done.reindex => (Status::Indexing, 0),
        OperationKind::Addition => (Status::PartialIndex, 100),
    };
    dataset::set_status(transaction, done.dataset, &status, progress, None)?;
    let follows = done.kind == OperationKind::Addition && done.reindex;
    follows
        .then(|| insert(transaction, done.dataset, OperationKind::Reindex, None, false))
        .transpose()
}

/// Ends an operation that cannot be done: the dataset is in ERROR, and `why` (fit for the wire) is
/// its reason.
///
/// # Errors
/// The store failed.
pub fn fail(
    transaction: &Transaction,
    failed: &RunningOperation,
    why: &str,
) -> rusqlite::Result<()> {
    set_final_state(transaction, failed, "FAILED")?;
    dataset::set_status(transaction, failed.dataset, &Status::Error, 0, Some(why))
}

fn set_final_state(
    transaction: &Transaction,
    running: &RunningOperation,
    stage: &str,
) -> rusqlite::Result<()> {
    transaction.execute(
        "UPDATE operation SET stage = ?2 WHERE row = ?1 AND stage = 'RUNNING'",
        params![running.row, stage],
    )?;
    Ok(())
}

#[cfg(test)]
mod tests;

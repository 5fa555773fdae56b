//! Operations on datasets: creating one from its folder, adding media, re-clustering. Each moves the
//! status of its dataset along the transitions of the interface document, in one transaction with
//! its own stage; the database allows one running operation a dataset.
//!
//! A kill leaves an operation RUNNING, and the next opening performs it again.

use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, params};
use serde::{Deserialize, Serialize};

use super::{dataset, now, to_json};
use tessera_model::{DatasetId, Status};

/// What is done to a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Brings it in line with its folder.
    Creation,
    /// Takes in a batch of media.
    Addition,
    /// Clusters all of it anew.
    Reindex,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Creation, Self::Addition, Self::Reindex];

    /// The word of such services for a task of this kind.
    #[must_use]
    pub fn word(self) -> &'static str {
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
    pub arrival: Arrival,
}

/// How the files of a batch come into its folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Arrival {
    /// They are there.
    There,
    /// Out of the archive beside the folder, of this extension.
    Packed(String),
    /// From this folder or manifest in object storage.
    Stored(String),
}

/// An operation that is not over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// Row number: the order of arrival.
    pub row: i64,
    /// The dataset.
    pub dataset: DatasetId,
    /// What is done to it.
    pub kind: Kind,
    /// What an addition takes in; `None` for the others.
    pub batch: Option<Batch>,
    /// Whether a reindex follows an addition.
    pub reindex: bool,
}

const SELECT: &str = "SELECT row, dataset, kind, batch, reindex FROM operation
                      WHERE stage = 'RUNNING'";

fn running(row: &Row) -> rusqlite::Result<Running> {
    let word: String = row.get(2)?;
    let batch: Option<String> = row.get(3)?;
    let kind = Kind::ALL.into_iter().find(|kind| kind.word() == word);
    let unknown = || rusqlite::Error::InvalidColumnType(2, word, rusqlite::types::Type::Text);
    Ok(Running {
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
pub fn of(connection: &Connection, dataset: DatasetId) -> rusqlite::Result<Option<Running>> {
    let sql = format!("{SELECT} AND dataset = ?1");
    connection.prepare_cached(&sql)?.query_row([dataset.0], running).optional()
}

/// One operation, unless it is over.
///
/// # Errors
/// The store failed.
pub fn find(connection: &Connection, row: i64) -> rusqlite::Result<Option<Running>> {
    let sql = format!("{SELECT} AND row = ?1");
    connection.prepare_cached(&sql)?.query_row([row], running).optional()
}

/// All running operations, oldest first.
///
/// # Errors
/// The store failed.
pub fn all(connection: &Connection) -> rusqlite::Result<Vec<Running>> {
    connection.prepare(&format!("{SELECT} ORDER BY row"))?.query_map([], running)?.collect()
}

/// Begins an operation and moves the dataset: to INDEXING for its creation, to READ ONLY for the
/// others. Returns its row.
///
/// # Errors
/// Another operation runs on the dataset, its status does not lead there, or the store failed.
pub fn begin(
    transaction: &Transaction,
    dataset: DatasetId,
    kind: Kind,
    batch: Option<&Batch>,
    reindex: bool,
) -> rusqlite::Result<i64> {
    let row = insert(transaction, dataset, kind, batch, reindex)?;
    let status = match kind {
        Kind::Creation => Status::Indexing,
        Kind::Addition | Kind::Reindex => Status::ReadOnly,
    };
    dataset::set_status(transaction, dataset, &status, 0, None)?;
    Ok(row)
}

fn insert(
    transaction: &Transaction,
    dataset: DatasetId,
    kind: Kind,
    batch: Option<&Batch>,
    reindex: bool,
) -> rusqlite::Result<i64> {
    let batch = batch.map(to_json).transpose()?;
    transaction.execute(
        "INSERT INTO operation (dataset, kind, stage, batch, reindex, created_at)
         VALUES (?1, ?2, 'RUNNING', ?3, ?4, ?5)",
        params![dataset.0, kind.word(), batch, reindex, now()],
    )?;
    Ok(transaction.last_insert_rowid())
}

/// A reindex that begins its work: READ ONLY, then INDEXING. Doing it again changes nothing.
///
/// # Errors
/// The store failed.
pub fn cluster(transaction: &Transaction, reindex: &Running) -> rusqlite::Result<()> {
    dataset::set_status(transaction, reindex.dataset, &Status::Indexing, 0, None)
}

/// Ends an operation that has done its work and moves the dataset: to READY, or to PARTIAL INDEX
/// after an addition. Where a reindex is to follow it begins at once, INDEXING, and its row is returned.
///
/// # Errors
/// The store failed.
pub fn finish(transaction: &Transaction, done: &Running) -> rusqlite::Result<Option<i64>> {
    end(transaction, done, "COMPLETED")?;
    let (status, progress) = match done.kind {
        Kind::Creation | Kind::Reindex => (Status::Ready, 100),
        Kind::Addition if done.reindex => (Status::Indexing, 0),
        Kind::Addition => (Status::PartialIndex, 100),
    };
    dataset::set_status(transaction, done.dataset, &status, progress, None)?;
    let follows = done.kind == Kind::Addition && done.reindex;
    follows.then(|| insert(transaction, done.dataset, Kind::Reindex, None, false)).transpose()
}

/// Ends an operation that cannot be done: the dataset is in ERROR, and `why` (fit for the wire) is
/// its reason.
///
/// # Errors
/// The store failed.
pub fn fail(transaction: &Transaction, failed: &Running, why: &str) -> rusqlite::Result<()> {
    end(transaction, failed, "FAILED")?;
    dataset::set_status(transaction, failed.dataset, &Status::Error, 0, Some(why))
}

fn end(transaction: &Transaction, running: &Running, stage: &str) -> rusqlite::Result<()> {
    transaction.execute(
        "UPDATE operation SET stage = ?2 WHERE row = ?1 AND stage = 'RUNNING'",
        params![running.row, stage],
    )?;
    Ok(())
}

#[cfg(test)]
mod tests;

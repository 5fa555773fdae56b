//! The files that an indexing task must open, divided into ranges. Several workers extract them, each with a lease on
//! its range. One worker has the lease of the indexing task, and continues when no range is left.
//!
//! A transaction locks leases first, then ranges, the row of the extraction, and media. Two transactions that changed
//! the same rows in different orders would wait for each other.

use std::path::Path;

use super::lease::{self, LeasedTask};
use crate::{
    columns::{path_from_bytes, path_to_bytes},
    engine::{Connection, QueryError, Result, Row, StatementBatch, Transaction, params},
    query, store_now,
};
use tessera_media::ingest::{FileStat, FileToExtract, ScannedFile};

/// The number of files in a range. One core extracts this many pictures in about 15 seconds, so that a worker that
/// helps with an indexing task soon begins another one that waits, and the last ranges end at about the same time.
/// Taking and ending a range takes milliseconds.
pub const RANGE_FILES: usize = 512;

/// Some of the files of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtractionRange {
    pub row: i64,
    pub indexing_task: i64,
    pub source: i64,
}

const SELECT_RANGE: &str =
    "SELECT row, indexing_task, source, require(intact) FROM extraction_range";

fn read_range(row: &Row) -> Result<ExtractionRange> {
    Ok(ExtractionRange { row: row.get(0)?, indexing_task: row.get(1)?, source: row.get(2)? })
}

/// The progress of extracting a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtractionProgress {
    pub files: usize,
    pub done: usize,
}

/// Begins to extract a source with this number of `files`, of which some are `done` already.
pub fn begin(
    transaction: &Transaction,
    indexing_task: i64,
    files: usize,
    done: usize,
) -> Result<()> {
    remove(transaction, indexing_task)?;
    let sql = "INSERT INTO extraction (indexing_task, files, done) VALUES (?1, ?2, ?3)";
    query::execute(transaction, sql, params![indexing_task, files, done])
}

/// Adds a range, so that a worker can extract these files of a source.
pub fn add_range(
    transaction: &Transaction,
    indexing_task: i64,
    source: i64,
    files: &[FileToExtract],
) -> Result<()> {
    let sql = "INSERT INTO extraction_range (indexing_task, source) VALUES (?1, ?2) RETURNING row";
    let range: i64 =
        query::one(transaction, sql, params![indexing_task, source], |row| row.get(0))?;
    let sql = "INSERT INTO extraction_file VALUES (?1, ?2, ?3, ?4, ?5)";
    let mut inserts = StatementBatch::new(transaction, sql);
    for (ScannedFile { path, stat, .. }, content) in files {
        inserts.add(params![range, path_to_bytes(path), stat.size, stat.modified, content])?;
    }
    inserts.finish().map(drop)
}

/// Returns the oldest range on which no worker has a lease, of one indexing task or of any.
pub fn next_unleased(
    transaction: &Transaction,
    indexing_task: Option<i64>,
) -> Result<Option<ExtractionRange>> {
    let sql = format!(
        "{SELECT_RANGE} WHERE (indexing_task = ?1 OR ?1 IS NULL)
           AND NOT EXISTS (SELECT 1 FROM lease WHERE expires_at > ?2
                           AND task = 'range/' || extraction_range.row)
           AND NOT EXISTS (SELECT 1 FROM extraction WHERE failure IS NOT NULL
                           AND extraction.indexing_task = extraction_range.indexing_task)
         ORDER BY row LIMIT 1"
    );
    query::find(transaction, &sql, params![indexing_task, store_now(transaction)?], read_range)
}

/// Finds a range that has not ended. The range is not removed before the transaction ends.
pub fn find(transaction: &Transaction, row: i64) -> Result<Option<ExtractionRange>> {
    let sql = format!("{SELECT_RANGE} WHERE row = ?1{}", transaction.dialect().keep_row);
    query::find(transaction, &sql, params![row], read_range)
}

/// Returns the files of a range that have not been extracted, in the order of their paths.
pub fn files(connection: &Connection, range: i64) -> Result<Vec<FileToExtract>> {
    let sql = "SELECT path, size, modified, content, require(intact) FROM extraction_file
               WHERE range = ?1 ORDER BY path";
    query::all(connection, sql, params![range], |row| {
        let stat = FileStat { size: row.get(1)?, modified: row.get(2)? };
        Ok((ScannedFile { path: path_from_bytes(row.get(0)?), stat }, row.get(3)?))
    })
}

/// Removes extracted files from a range. Fails with [`QueryError::LeaseLost`] if the range no longer exists.
pub fn finish_files<'a>(
    transaction: &Transaction,
    range: &ExtractionRange,
    files: impl ExactSizeIterator<Item = &'a Path>,
) -> Result<ExtractionProgress> {
    let sql = "UPDATE extraction SET done = done + ?3 WHERE indexing_task = ?1
                 AND EXISTS (SELECT 1 FROM extraction_range WHERE row = ?2)
               RETURNING files, done";
    let values = params![range.indexing_task, range.row, files.len()];
    let read = |row: &Row| Ok(ExtractionProgress { files: row.get(0)?, done: row.get(1)? });
    let progress = query::find(transaction, sql, values, read)?.ok_or(QueryError::LeaseLost)?;
    let delete = "DELETE FROM extraction_file WHERE range = ?1 AND path = ?2";
    let mut deletes = StatementBatch::new(transaction, delete);
    for path in files {
        deletes.add(params![range.row, path_to_bytes(path)])?;
    }
    deletes.finish()?;
    Ok(progress)
}

/// Removes a range that has been extracted.
pub fn end_range(transaction: &Transaction, range: &ExtractionRange) -> Result<()> {
    query::execute(transaction, "DELETE FROM extraction_range WHERE row = ?1", params![range.row])
}

/// Removes a range that cannot be extracted. The indexing task ends with the reason `why`.
pub fn fail_range(transaction: &Transaction, range: &ExtractionRange, why: &str) -> Result<()> {
    let sql = "UPDATE extraction SET failure = ?2 WHERE indexing_task = ?1";
    query::execute(transaction, sql, params![range.indexing_task, why])?;
    end_range(transaction, range)
}

/// What the worker of an indexing task is waiting for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExtractionState {
    Running,
    Ended,
    /// A range could not be extracted. The reason is safe to send to clients.
    Failed(String),
}

pub fn state(connection: &Connection, indexing_task: i64) -> Result<ExtractionState> {
    let sql = "SELECT failure, EXISTS (SELECT 1 FROM extraction_range WHERE indexing_task = ?1),
                      require(intact)
               FROM extraction WHERE indexing_task = ?1";
    let read = |row: &Row| {
        let (failure, is_running) = (row.get::<Option<_>>(0)?, row.get(1)?);
        let other = if is_running { ExtractionState::Running } else { ExtractionState::Ended };
        Ok(failure.map_or(other, ExtractionState::Failed))
    };
    let found = query::find(connection, sql, params![indexing_task], read)?;
    Ok(found.unwrap_or(ExtractionState::Ended))
}

/// Removes what is left of the extraction of an indexing task. Workers that extract its ranges lose their leases.
pub fn remove(transaction: &Transaction, indexing_task: i64) -> Result<()> {
    let select = "SELECT row FROM extraction_range WHERE indexing_task = ?1 ORDER BY row";
    let delete = "DELETE FROM extraction_range WHERE indexing_task = ?1 RETURNING row";
    // Leases are ended before the ranges are deleted, and again afterwards, because a lease may have been taken
    // meanwhile.
    for sql in [select, delete] {
        let ranges: Vec<i64> =
            query::all(transaction, sql, params![indexing_task], |row| row.get(0))?;
        lease::end_all(transaction, ranges.into_iter().map(LeasedTask::Range))?;
    }
    let sql = "DELETE FROM extraction WHERE indexing_task = ?1";
    query::execute(transaction, sql, params![indexing_task])
}

//! Leases on unfinished tasks. A lease says which worker runs a task, until when, and how many times the task was taken
//! before (the fence).
//!
//! A worker makes every change in a transaction that [`require`]s its lease. If a worker was believed dead and comes
//! back, its fence is outdated, so it changes nothing.

use std::{iter, time::Duration};

use uuid::Uuid;

use crate::{
    Connection, QueryError, Result, Row, Transaction,
    columns::{micros, store_now},
    params, query,
};
use tessera_model::ExportTaskId;

/// The lifetime of a lease after it was taken or extended, in a store on a server. The task of a worker that was killed
/// waits this long. A worker whose network or disk stalls for a shorter time keeps its tasks.
pub const LIFETIME: Duration = Duration::from_secs(30);
/// The interval at which workers extend their leases. Two extensions in a row may fail.
pub const EXTENSION_INTERVAL: Duration = Duration::from_secs(10);

/// The prefix of the key that shows that a worker is present.
const WORKER: &str = "worker/";
/// The time for which a worker that disappeared stays in the table.
const WORKER_KEPT: Duration = Duration::from_hours(24);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeasedTask {
    /// An indexing task, given by its row.
    Indexing(i64),
    Export(ExportTaskId),
    /// Some of the files of an indexing task, given by the row of the range.
    Range(i64),
    /// A range of the neighbor graph or near-duplicates of an indexing task, given by the row of the range.
    SimilarityRange(i64),
}

impl LeasedTask {
    fn key(self) -> String {
        match self {
            Self::Indexing(row) => format!("indexing/{row}"),
            Self::Export(id) => format!("export/{}", id.0.simple()),
            Self::Range(row) => format!("range/{row}"),
            Self::SimilarityRange(row) => format!("similarity/{row}"),
        }
    }
}

/// The lease of one worker on a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub task: LeasedTask,
    pub holder: Uuid,
    pub fence: i64,
}

/// Returns when a lease that is taken now ends, in microseconds since 1970. In a database file, whose tasks one process
/// runs, leases end with the lock of this process.
pub fn end_of_new(connection: &Connection) -> Result<i64> {
    if !connection.is_on_server() {
        return Ok(i64::MAX);
    }
    Ok(store_now(connection)? + micros(LIFETIME))
}

/// Takes the lease of a task until `expires_at`. Returns `None` if the task has a lease at `now`, even if this holder
/// has the lease, because another of its threads is then running the task. Waits for a transaction that uses or ends
/// the lease. Times are in microseconds since 1970.
pub fn take(
    transaction: &Transaction,
    task: LeasedTask,
    holder: Uuid,
    now: i64,
    expires_at: i64,
) -> Result<Option<Lease>> {
    let sql = "INSERT INTO lease (task, holder, fence, expires_at) VALUES (?1, ?2, 1, ?3)
               ON CONFLICT (task) DO UPDATE SET holder = excluded.holder, fence = lease.fence + 1,
                                                expires_at = excluded.expires_at
               WHERE lease.expires_at <= ?4
               RETURNING fence";
    let fence =
        query::find(transaction, sql, params![task.key(), holder, expires_at, now], |row| {
            row.get(0)
        })?;
    Ok(fence.map(|fence| Lease { task, holder, fence }))
}

/// Extends a lease until `expires_at`. Fails with [`QueryError::LeaseLost`] if another holder took the task.
pub fn extend(transaction: &Transaction, lease: &Lease, expires_at: i64) -> Result<()> {
    let sql = "UPDATE lease SET expires_at = ?4 WHERE task = ?1 AND holder = ?2 AND fence = ?3
               RETURNING fence";
    let values = params![lease.task.key(), lease.holder, lease.fence, expires_at];
    query::find(transaction, sql, values, |row| row.get::<i64>(0))?.ok_or(QueryError::LeaseLost)?;
    Ok(())
}

/// Extends all leases of a holder until `expires_at`, and shows that the holder is alive. A lease that a transaction is
/// using is skipped, because the transaction extends it when it ends.
pub fn extend_all(connection: &Connection, holder: Uuid, expires_at: i64) -> Result<()> {
    let present = "INSERT INTO lease (task, holder, fence, expires_at) VALUES (?1, ?2, 1, ?3)
                   ON CONFLICT (task) DO UPDATE SET expires_at = excluded.expires_at";
    query::execute(connection, present, params![worker_key(holder), holder, expires_at])?;
    set_expiry(connection, holder, expires_at)
}

fn set_expiry(connection: &Connection, holder: Uuid, expires_at: i64) -> Result<()> {
    let skip_locked = connection.dialect().skip_locked;
    let sql = format!(
        "UPDATE lease SET expires_at = ?2 WHERE task IN
           (SELECT task FROM lease WHERE holder = ?1 AND expires_at > 0{skip_locked})"
    );
    query::execute(connection, &sql, params![holder, expires_at])
}

/// Whether a holder still has a lease.
pub fn is_held(connection: &Connection, lease: &Lease) -> Result<bool> {
    let sql = "SELECT fence FROM lease WHERE task = ?1 AND holder = ?2 AND fence = ?3";
    let values = params![lease.task.key(), lease.holder, lease.fence];
    Ok(query::find(connection, sql, values, |row| row.get::<i64>(0))?.is_some())
}

/// Fails with [`QueryError::LeaseLost`] if another holder took the task. A lease that has expired is enough if nobody
/// took it, because its fence is still the latest one. Nobody can take the lease before the transaction ends, because
/// the row is written here.
pub fn require(transaction: &Transaction, lease: &Lease) -> Result<()> {
    write_required(transaction, lease, "fence = fence")
}

/// Requires a lease as [`require`] does, and forgets why the task waited, because it continues.
pub fn resume(transaction: &Transaction, lease: &Lease) -> Result<()> {
    write_required(transaction, lease, "waiting = NULL")
}

fn write_required(transaction: &Transaction, lease: &Lease, change: &str) -> Result<()> {
    let sql = format!(
        "UPDATE lease SET {change} WHERE task = ?1 AND holder = ?2 AND fence = ?3 RETURNING fence"
    );
    let values = params![lease.task.key(), lease.holder, lease.fence];
    query::find(transaction, &sql, values, |row| row.get::<i64>(0))?
        .ok_or(QueryError::LeaseLost)?;
    Ok(())
}

/// Allows another holder to take the task at once. This has no effect if another holder has already taken it.
pub fn release(transaction: &Transaction, lease: &Lease) -> Result<()> {
    let sql = "UPDATE lease SET expires_at = 0 WHERE task = ?1 AND holder = ?2 AND fence = ?3";
    query::execute(transaction, sql, params![lease.task.key(), lease.holder, lease.fence])
}

/// Releases a lease as [`release`] does, and records why the task waits. The reason is safe to send to clients.
pub fn give_back(transaction: &Transaction, lease: &Lease, reason: &str) -> Result<()> {
    let sql = "UPDATE lease SET expires_at = 0, waiting = ?4
               WHERE task = ?1 AND holder = ?2 AND fence = ?3";
    query::execute(transaction, sql, params![lease.task.key(), lease.holder, lease.fence, reason])
}

/// Returns why tasks wait, each reason once.
pub fn waiting_reasons(connection: &Connection) -> Result<Vec<String>> {
    let sql = "SELECT DISTINCT waiting FROM lease WHERE waiting IS NOT NULL ORDER BY waiting";
    query::all(connection, sql, params![], |row| row.get(0))
}

/// Removes the lease of a task that has ended.
pub fn end(transaction: &Transaction, lease: &Lease) -> Result<()> {
    let sql = "DELETE FROM lease WHERE task = ?1 AND holder = ?2 AND fence = ?3";
    query::execute(transaction, sql, params![lease.task.key(), lease.holder, lease.fence])
}

/// Ends the leases on these tasks, which takes the tasks away from their workers.
pub(crate) fn end_all(
    transaction: &Transaction,
    tasks: impl Iterator<Item = LeasedTask>,
) -> Result<()> {
    query::execute_each(transaction, "DELETE FROM lease WHERE task = ?1", tasks, |task, run| {
        run(params![task.key()])
    })
}

/// Deletes the ranges of an indexing task. Their leases are ended before the ranges are deleted, and again afterwards,
/// because a lease may have been taken meanwhile.
pub(crate) fn remove_ranges(
    transaction: &Transaction,
    table: &str,
    indexing_task: i64,
    task: fn(i64) -> LeasedTask,
) -> Result<()> {
    let select = format!("SELECT row FROM {table} WHERE indexing_task = ?1 ORDER BY row");
    let delete = format!("DELETE FROM {table} WHERE indexing_task = ?1 RETURNING row");
    for sql in [select, delete] {
        let ranges: Vec<i64> =
            query::all(transaction, &sql, params![indexing_task], |row| row.get(0))?;
        end_all(transaction, ranges.into_iter().map(task))?;
    }
    Ok(())
}

/// Takes a task away from its worker. A worker that is taking the task at the same time waits until this transaction
/// ends.
pub(crate) fn revoke(transaction: &Transaction, task: LeasedTask) -> Result<()> {
    // The row is written before it is removed, because a lease that does not exist yet cannot be waited for.
    let sql = "INSERT INTO lease (task, holder, fence, expires_at) VALUES (?1, ?2, 1, 0)
               ON CONFLICT (task) DO UPDATE SET expires_at = 0";
    query::execute(transaction, sql, params![task.key(), Uuid::nil()])?;
    end_all(transaction, iter::once(task))
}

/// Allows others to take the tasks of a worker that ends or has ended, and forgets workers that disappeared long ago. A
/// lease that a transaction is using is skipped, because its task then notices that the worker ends.
pub fn remove_worker(connection: &Connection, holder: Uuid) -> Result<()> {
    set_expiry(connection, holder, 0)?;
    let sql = "DELETE FROM lease WHERE task = ?1 OR (task LIKE 'worker/%' AND expires_at < ?2)";
    let oldest = store_now(connection)? - micros(WORKER_KEPT);
    query::execute(connection, sql, params![worker_key(holder), oldest])
}

/// The number of leases on tasks, and the number of workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeaseCounts {
    pub held: u64,
    /// The number of leases that have expired, because their workers were killed or cannot reach the store. Other
    /// workers take the tasks.
    pub expired: u64,
    /// The number of workers that are alive.
    pub workers: u64,
}

pub fn counts(connection: &Connection) -> Result<LeaseCounts> {
    let sql = "SELECT count(CASE WHEN task NOT LIKE 'worker/%' AND expires_at > ?1 THEN 1 END),
                      count(CASE WHEN task NOT LIKE 'worker/%' AND expires_at BETWEEN 1 AND ?1 THEN 1 END),
                      count(CASE WHEN task LIKE 'worker/%' AND expires_at > ?1 THEN 1 END)
               FROM lease";
    let read = |row: &Row| {
        Ok(LeaseCounts { held: row.get(0)?, expired: row.get(1)?, workers: row.get(2)? })
    };
    query::one(connection, sql, params![store_now(connection)?], read)
}

/// Ends all leases of a store in a file, whose holders have ended.
pub(crate) fn expire_all(connection: &Connection) -> Result<()> {
    query::execute(connection, "UPDATE lease SET expires_at = 0", params![])
}

fn worker_key(holder: Uuid) -> String {
    format!("{WORKER}{}", holder.simple())
}

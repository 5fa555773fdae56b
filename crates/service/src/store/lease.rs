//! Leases on unfinished tasks: which worker runs one, until when, and how many took it before (the fence).
//!
//! Whatever a worker changes, it changes in a transaction that [`require`]s its lease. A worker that was
//! believed dead and comes back has an old fence, so it changes nothing.

use uuid::Uuid;

use super::{Connection, QueryError, Result, Transaction, params, query};
use tessera_model::ExportTaskId;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeasedTask {
    /// By its row.
    Operation(i64),
    Export(ExportTaskId),
}

impl LeasedTask {
    fn key(self) -> String {
        match self {
            Self::Operation(row) => format!("operation/{row}"),
            Self::Export(id) => format!("export/{}", id.0),
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

/// Takes the lease of a task until `expires_at`. `None` if another holder has one at `now`. Times are in
/// microseconds since 1970.
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
               WHERE lease.expires_at <= ?4 OR lease.holder = excluded.holder
               RETURNING fence";
    let fence =
        query::find(transaction, sql, params![task.key(), holder, expires_at, now], |row| {
            row.get(0)
        })?;
    Ok(fence.map(|fence| Lease { task, holder, fence }))
}

/// Extends a lease until `expires_at`. Fails with [`QueryError::LeaseLost`] if another holder took the
/// task.
pub fn extend(transaction: &Transaction, lease: &Lease, expires_at: i64) -> Result<()> {
    let sql = "UPDATE lease SET expires_at = ?4 WHERE task = ?1 AND holder = ?2 AND fence = ?3
               RETURNING fence";
    let values = params![lease.task.key(), lease.holder, lease.fence, expires_at];
    query::find(transaction, sql, values, |row| row.get::<i64>(0))?.ok_or(QueryError::LeaseLost)?;
    Ok(())
}

/// Fails with [`QueryError::LeaseLost`] if another holder took the task, also if the lease has expired
/// and nobody did. Nobody can take it before the transaction ends, because the row is written.
pub fn require(transaction: &Transaction, lease: &Lease) -> Result<()> {
    let sql = "UPDATE lease SET fence = fence WHERE task = ?1 AND holder = ?2 AND fence = ?3
               RETURNING fence";
    let values = params![lease.task.key(), lease.holder, lease.fence];
    query::find(transaction, sql, values, |row| row.get::<i64>(0))?.ok_or(QueryError::LeaseLost)?;
    Ok(())
}

/// Lets another holder take the task at once. Without effect if one has taken it.
pub fn release(transaction: &Transaction, lease: &Lease) -> Result<()> {
    let sql = "UPDATE lease SET expires_at = 0 WHERE task = ?1 AND holder = ?2 AND fence = ?3";
    query::execute(transaction, sql, params![lease.task.key(), lease.holder, lease.fence])
}

/// Removes the lease of a task that has ended.
pub fn end(transaction: &Transaction, lease: &Lease) -> Result<()> {
    let sql = "DELETE FROM lease WHERE task = ?1 AND holder = ?2 AND fence = ?3";
    query::execute(transaction, sql, params![lease.task.key(), lease.holder, lease.fence])
}

/// Ends all leases of a store that no other process can use.
pub(super) fn expire_all(connection: &Connection) -> Result<()> {
    query::execute(connection, "UPDATE lease SET expires_at = 0", params![])
}

//! Counts the unfinished indexing tasks and exports, and says how long they have waited.

use super::{Connection, Result, Row, indexing_task::IndexingTaskKind, params, query, store_now};

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

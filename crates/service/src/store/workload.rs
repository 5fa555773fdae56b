//! How many operations and exports are unfinished, and since when.

use super::{Connection, Result, operation::OperationKind, params, query};

/// The name of exports among the kinds of operations.
const EXPORT: &str = "EXPORT";

/// The unfinished tasks of each kind, also of those without any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Workload {
    pub tasks: Vec<UnfinishedTasks>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnfinishedTasks {
    pub kind: &'static str,
    pub count: u64,
    /// When the oldest one was accepted, in microseconds since 1970.
    pub oldest: Option<i64>,
}

pub(crate) fn unfinished(connection: &Connection) -> Result<Workload> {
    let mut tasks = Vec::new();
    for kind in OperationKind::ALL {
        let sql = "SELECT count(*), min(created_at) FROM operation
                   WHERE stage = 'RUNNING' AND kind = ?1";
        tasks.push(query::one(connection, sql, params![kind.as_str()], |row| {
            Ok(UnfinishedTasks { kind: kind.as_str(), count: row.get(0)?, oldest: row.get(1)? })
        })?);
    }
    let sql =
        "SELECT count(*), min(created_at) FROM export WHERE status IN ('INIT', 'IN_PROGRESS')";
    tasks.push(query::one(connection, sql, params![], |row| {
        Ok(UnfinishedTasks { kind: EXPORT, count: row.get(0)?, oldest: row.get(1)? })
    })?);
    Ok(Workload { tasks })
}

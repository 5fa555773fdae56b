//! What an operator checks of a store on a server: its clock, its extensions and its workers.

use super::{StoreAddress, connect};
use crate::{
    StoreError, lease, now_micros,
    search_table::{self, VectorSupport},
    store_now,
    workload::{self, UnfinishedTasks},
};

/// How a store on a server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreHealth {
    /// How far the clock of the server is ahead of that of this machine, in microseconds.
    pub clock_ahead: i64,
    /// Whether the server has pgvector.
    pub vectors: VectorSupport,
    /// Workers that are alive.
    pub workers: u64,
    /// Operations and exports that wait for a worker.
    pub waiting: u64,
    /// How long the oldest of them has waited, in seconds.
    pub longest_wait: u64,
}

/// Examines a store whose tables exist.
///
/// # Errors
/// The server cannot be reached or refuses.
pub fn health(address: &StoreAddress) -> Result<StoreHealth, StoreError> {
    let connection = connect(address)?;
    let sent = now_micros();
    let now = store_now(&connection)?;
    // The server read its clock about in the middle.
    let here = sent + (now_micros() - sent) / 2;
    let vectors = search_table::support(&connection)?;
    let tasks = workload::unfinished_tasks(&connection)?;
    let waited = |since: i64| (now - since).max(0).unsigned_abs() / 1_000_000;
    let waits = tasks.iter().filter_map(|tasks: &UnfinishedTasks| tasks.oldest_queued).map(waited);
    Ok(StoreHealth {
        clock_ahead: now - here,
        vectors,
        workers: lease::counts(&connection)?.workers,
        waiting: tasks.iter().map(|tasks| tasks.queued).sum(),
        longest_wait: waits.max().unwrap_or_default(),
    })
}

//! Lets several processes work on one store. A store in a file is watched for changes, and its tasks are taken over. On
//! a server, leases are extended, ranges of files and of similarity are shared, and the search tables of large datasets
//! are written.

mod extract_ranges;
mod search_table_step;
mod shared_ranges;
mod similarity_range_worker;
mod store_watcher;

pub(super) use extract_ranges::extract_in_ranges;
pub(super) use search_table_step::{SearchTableUpdate, drop_former_tables};
pub(super) use shared_ranges::{is_shared, shared_similar_members};
pub(super) use store_watcher::watch_store;

use super::WorkerContext;
use similarity_range_worker::SimilarityRangeWorker;

/// Computes ranges of any indexing task. A store in a file has none.
#[derive(Default)]
pub struct RangeWorker(SimilarityRangeWorker);

impl RangeWorker {
    /// Computes the oldest range that no worker computes. Returns whether there was one.
    pub fn run_next(&self, worker: &WorkerContext) -> bool {
        worker.store.is_on_server()
            && (extract_ranges::run_next_range(worker, None) || self.0.run_next(worker))
    }
}

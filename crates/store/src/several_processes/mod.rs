//! Everything that allows several processes to work on one store: the locks of an index folder, leases on tasks, ranges
//! of files and of similarity that workers share, notifications about waiting tasks, and the search tables of large
//! datasets. With a store in a file, one process runs all tasks, so that indexing an upload comes here only to take the
//! lease of its indexing task.

use crate::{Result, Transaction};

pub mod extraction;
pub(super) mod folder_lock;
pub mod lease;
pub mod search_table;
pub mod similarity_range;
pub(super) mod task_listener;

/// Removes all ranges of an indexing task and what they need. Workers that compute them lose their leases. A store in a
/// file has none.
pub fn remove_ranges(transaction: &Transaction, indexing_task: i64) -> Result<()> {
    if !transaction.is_on_server() {
        return Ok(());
    }
    extraction::remove(transaction, indexing_task)?;
    similarity_range::remove_all(transaction, indexing_task)
}

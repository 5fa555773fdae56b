//! Lets several processes work on one store. A store in a file is watched for changes, and its tasks are taken over. On
//! a server, leases are extended, ranges of files and of similarity are shared, and the search tables of large datasets
//! are written.

mod range_worker;
mod search_table_step;
mod shared_ranges;
mod store_watcher;

pub(super) use range_worker::{RangeWorker, extract_in_ranges};
pub(super) use search_table_step::{SearchTableUpdate, drop_former_tables};
pub(super) use shared_ranges::{is_shared, shared_similar_members};
pub(super) use store_watcher::watch_store;

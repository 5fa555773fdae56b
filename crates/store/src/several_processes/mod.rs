//! Everything that allows several processes to work on one store: leases on tasks, ranges of files and of similarity
//! that workers share, notifications about waiting tasks, and the search tables of large datasets. On a single machine,
//! indexing an upload comes here only to take the lease of its indexing task.

pub mod extraction;
pub(super) mod folder_lock;
pub mod lease;
pub mod search_table;
pub mod similarity_range;
pub(super) mod task_listener;

//! The store. It is either an `SQLite` file in a private directory, which processes of one machine use, or a schema of
//! a PostgreSQL server, which processes of any machine use.
//!
//! In a file, a transaction that changes the store excludes all other changes. On a server, the transactions of
//! requests exclude each other, but those of tasks wait only for the rows that they change. Reads use pooled
//! connections and see a snapshot. Committed work survives a crash (`synchronous=FULL`).
//!
//! Functions of the submodules run SQL with `query` on a connection of either engine. Unless their documentation says
//! otherwise, an error means that the database failed.

pub mod applied_model;
pub mod assignment;
pub mod captions;
pub mod cluster;
mod columns;
mod connection_pool;
mod database;
pub mod dataset;
pub mod duplicate_group;
mod engine;
mod error;
pub mod export;
pub mod extra_columns;
pub mod indexed_files;
pub mod indexing_task;
pub mod map_position;
pub mod media;
pub mod moved_files;
pub mod object;
pub mod picture_features;
pub mod picture_table;
pub mod postgres;
mod prelude;
pub mod query_image;
pub mod setting;
mod several_processes;
pub mod sidecar;
pub mod source;
pub mod sqlite;
mod table_definitions;
pub mod tag_ids;
pub mod tagged_files;
pub mod tags;
pub mod upload;
pub mod vectors;

pub use columns::{now_micros, store_now};
pub use database::Store;
pub use engine::{Connection, QueryError, Result, Row, StatementBatch, Transaction, params, query};
pub use error::{StoreError, is_storage_full};
pub use several_processes::{
    extraction, lease, remove_ranges, search_table, similarity_range, task_listener::TaskListener,
};

//! The store: one `SQLite` file in a private directory, used by one process at a time.
//!
//! Writes go through one connection, each as an immediate transaction. Reads use pooled connections
//! and see a snapshot. Committed work survives a crash (`synchronous=FULL`).
//!
//! Functions of the submodules return `rusqlite` errors, which mean that the database failed.

pub(crate) mod assignment;
pub mod checksum;
mod clean_shutdown;
mod clock;
pub(crate) mod cluster;
mod columns;
mod database;
pub mod dataset;
pub(crate) mod embedding;
mod error;
pub(crate) mod export;
mod file_system;
pub(crate) mod full_text;
pub mod indexed_files;
mod integrity;
pub mod media;
pub(crate) mod object;
pub mod operation;
pub(crate) mod preview;
mod process_lock;
mod query;
pub(crate) mod query_image;
mod recovery;
pub mod schema;
pub mod sidecar;
pub mod source;
mod tables;
pub(crate) mod upload;

pub use clock::now_micros;
pub use database::Store;
pub(crate) use database::lock;
pub use error::StoreError;
pub use file_system::network_file_system;
pub use process_lock::lock_holder;

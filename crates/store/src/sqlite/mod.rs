//! The engine for one machine, which is an `SQLite` file in the index folder.

mod connection;
mod database_file;
mod recovery;
mod schema;

pub use connection::connection;
pub(super) use database_file::{DatabaseFile, OpenedDatabase};
pub use database_file::{FileChanges, check_file, open_in_memory};
/// Returns the version of the `SQLite` library.
pub use rusqlite::version;

//! The engine of one machine: one `SQLite` file in the index folder.

mod checksum;
mod clean_shutdown;
mod database_file;
mod integrity;
mod open_mark;
mod recovery;
mod schema;

pub use checksum::register_functions;
pub use database_file::open_in_memory;
pub(super) use database_file::{DatabaseFile, OpenedDatabase};

//! The engine for one machine, which is an `SQLite` file in the index folder.

mod database_file;
mod integrity;
mod recovery;
mod schema;
mod shutdown_marks;

pub use database_file::open_in_memory;
pub(super) use database_file::{DatabaseFile, OpenedDatabase};
pub use integrity::register_functions;

//! Inspects the archive of an export: rows, columns, scores, and whether rows and pictures match.
//! Nothing is written to paths from the archive.

mod entry;
mod joined_rows;
mod json_rows;
mod listing;
mod metadata;
mod summary;

pub use entry::read_entry;
pub(crate) use joined_rows::write_joined_rows;
pub use summary::inspect_archive;

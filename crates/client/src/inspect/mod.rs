//! Inspects the archive of an export: rows, columns, scores, and whether rows and pictures match.
//! Nothing is written to paths from the archive.

mod joined_rows;
mod listing;
mod metadata_json;
mod metadata_parquet;
mod summary;

pub(crate) use joined_rows::write_joined_rows;
pub use listing::read_entry;
pub use summary::inspect_archive;

//! The archive of an export: pictures first, then the metadata, which names those that could be read.

mod content;
mod json;
mod metadata_row;
mod parquet;
mod unique_names;
mod zip_archive;

pub(crate) use content::{ArchiveContent, SourceFolders};
pub(crate) use zip_archive::{write, write_metadata_json};

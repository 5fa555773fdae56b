//! The archive of an export: a ZIP with `images/` if requested, and the metadata last, because it
//! names the pictures that could be read. It is streamed, so memory does not grow with the dataset.

mod content;
mod json;
mod metadata_row;
mod parquet;
mod unique_names;
mod zip_archive;

pub(crate) use content::{ArchiveContent, SourceFolders};
pub(crate) use zip_archive::{write, write_metadata_json};

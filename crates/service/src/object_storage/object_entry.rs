//! An object of a listing and its path in a staging directory.

use std::{path::PathBuf, sync::Arc};

use super::object_uri::BucketUri;
use crate::ingest::file_names::sanitized_path;
use tessera_model::FileKind;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectEntry {
    pub bucket: Arc<BucketUri>,
    pub key: String,
    /// Size in bytes, if the listing contains it.
    pub size: Option<u64>,
    /// Changes when the object is written again; 0 if the listing does not contain it.
    pub version: i64,
    /// Which part of its name becomes its path.
    pub path_root: PathRoot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathRoot {
    /// The key after this many bytes, that is, relative to the listed folder.
    ListedFolder(usize),
    /// Bucket and key: the object is outside the listed folder.
    Bucket,
}

impl ObjectEntry {
    pub fn file_kind(&self) -> FileKind {
        FileKind::from_name(&self.key)
    }

    /// Its path below a staging directory: stable, relative and safe.
    pub fn staging_path(&self) -> PathBuf {
        match self.path_root {
            PathRoot::ListedFolder(start) => {
                sanitized_path(self.key.get(start..).unwrap_or(&self.key))
            }
            PathRoot::Bucket => sanitized_path(&format!("{}/{}", self.bucket.name, self.key)),
        }
    }
}

//! An object of a listing, and its path in a dataset.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use super::object_uri::{BucketUri, ObjectUri};
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
    /// Its whole address: the object is outside the listed folder.
    Bucket,
}

impl ObjectEntry {
    pub fn file_kind(&self) -> FileKind {
        FileKind::from_name(&self.key)
    }

    /// Its path in a dataset of the listed folder or manifest.
    pub fn path(&self) -> PathBuf {
        match self.path_root {
            PathRoot::ListedFolder(start) => {
                PathBuf::from(self.key.get(start..).unwrap_or(&self.key))
            }
            PathRoot::Bucket => PathBuf::from(format!("{}/{}", self.bucket, self.key)),
        }
    }

    /// The object that has this path in a dataset of a folder or manifest.
    pub fn at_path(location: &ObjectUri, path: &Path) -> Option<Self> {
        let path = path.to_str()?;
        let (bucket, key, path_root) = if let Ok(whole) = ObjectUri::parse(path) {
            (whole.bucket, whole.key, PathRoot::Bucket)
        } else {
            let prefix = location.path_prefix();
            let key = format!("{prefix}{path}");
            (location.bucket.clone(), key, PathRoot::ListedFolder(prefix.len()))
        };
        Some(Self { bucket: Arc::new(bucket), key, size: None, version: 0, path_root })
    }
}

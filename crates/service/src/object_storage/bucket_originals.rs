//! The files of a dataset in a bucket: read from where they are.

use std::{io, path::Path, sync::Arc};

use super::{BlockingStorage, ObjectEntry, ObjectUri, PathRoot, object_reader::ObjectReader};
use crate::ingest::{OriginalFiles, SourceFile};

/// A folder of a bucket whose objects are files.
#[derive(Debug)]
pub struct BucketOriginals {
    storage: Arc<BlockingStorage>,
    folder: ObjectUri,
}

impl BucketOriginals {
    pub fn new(storage: Arc<BlockingStorage>, folder: ObjectUri) -> Self {
        Self { storage, folder }
    }
}

impl OriginalFiles for BucketOriginals {
    fn open_file(&self, relative: &Path) -> io::Result<Box<dyn SourceFile>> {
        let relative = relative.to_str().ok_or(io::ErrorKind::NotFound)?;
        let prefix = self.folder.folder_prefix();
        let path_root = PathRoot::ListedFolder(prefix.len());
        let (bucket, key) = (Arc::new(self.folder.bucket.clone()), format!("{prefix}{relative}"));
        let entry = ObjectEntry { bucket, key, size: None, version: 0, path_root };
        Ok(Box::new(ObjectReader::open(&self.storage, &entry)?))
    }
}

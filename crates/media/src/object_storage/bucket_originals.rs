//! The files of a dataset in a bucket: read from where they are.

use std::{io, path::Path, sync::Arc};

use super::{BlockingStorage, ObjectEntry, ObjectUri, object_reader::ObjectReader};
use crate::ingest::{OriginalFiles, SourceFile};

/// A folder of a bucket, or a manifest, whose objects are files.
#[derive(Debug)]
pub struct BucketOriginals {
    storage: Arc<BlockingStorage>,
    location: ObjectUri,
}

impl BucketOriginals {
    pub fn new(storage: Arc<BlockingStorage>, location: ObjectUri) -> Self {
        Self { storage, location }
    }
}

impl OriginalFiles for BucketOriginals {
    fn open_file(&self, relative: &Path) -> io::Result<Box<dyn SourceFile>> {
        let entry = ObjectEntry::at_path(&self.location, relative);
        let entry = entry.ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(ObjectReader::open(&self.storage, &entry)?))
    }

    fn is_remote(&self) -> bool {
        true
    }
}

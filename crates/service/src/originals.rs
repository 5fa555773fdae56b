//! Opens the originals of datasets, wherever they are: in folders of this machine, and in buckets.

use std::{
    io,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    ingest::{FolderScan, OriginalFiles, SandboxedDir, scan_folder},
    object_storage::{BlockingStorage, BucketOriginals, ObjectUri},
    settings::DeploymentSettings,
};

pub struct Originals {
    settings: Arc<DeploymentSettings>,
    /// Started with the first bucket.
    storage: Mutex<Option<Arc<BlockingStorage>>>,
}

impl Originals {
    pub fn new(settings: &Arc<DeploymentSettings>) -> Self {
        Self { settings: settings.clone(), storage: Mutex::default() }
    }

    /// Opens the folder or bucket of a source.
    pub fn open(&self, location: &Path) -> io::Result<Box<dyn OriginalFiles>> {
        match bucket_folder(location) {
            Some(folder) => Ok(Box::new(BucketOriginals::new(self.storage()?, folder))),
            None => Ok(Box::new(SandboxedDir::open(location)?)),
        }
    }

    /// Lists the files of a source. Only a bucket can fail; the error is safe to send to clients.
    pub fn scan(&self, location: &Path) -> Result<FolderScan, String> {
        match bucket_folder(location) {
            Some(folder) => self.storage().map_err(|error| error.to_string())?.scan(&folder),
            None => Ok(scan_folder(location)),
        }
    }

    fn storage(&self) -> io::Result<Arc<BlockingStorage>> {
        let mut storage = self.storage.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(storage) = &*storage {
            return Ok(Arc::clone(storage));
        }
        let DeploymentSettings { storage: settings, disk, .. } = &*self.settings;
        let started = Arc::new(BlockingStorage::new(settings, disk)?);
        Ok(Arc::clone(storage.insert(started)))
    }
}

/// The folder of a bucket that a location addresses; folders of this machine are absolute.
pub fn bucket_folder(location: &Path) -> Option<ObjectUri> {
    ObjectUri::parse(location.to_str()?).ok()
}

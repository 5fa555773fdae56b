//! Opens the originals of datasets, wherever they are: in folders of this machine, and in buckets.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    file_stat::KnownFile,
    ingest::{
        FolderScan, ListingComparison, OriginalFiles, SandboxedDir, compare_listing,
        parquet_images::{ParquetOriginals, list_images},
        scan_folder,
    },
    object_storage::{BlockingStorage, BucketFolder, BucketOriginals, ObjectUri, StorageError},
    settings::DeploymentSettings,
    uploads::{BucketUploads, UploadStore},
};

pub struct Originals {
    settings: Arc<DeploymentSettings>,
    pub uploads: UploadStore,
    /// Started with the first bucket.
    storage: Mutex<Option<Arc<BlockingStorage>>>,
}

impl Originals {
    /// `uploads` is the folder for what arrives.
    pub fn new(settings: &Arc<DeploymentSettings>, uploads: PathBuf) -> Result<Self, StorageError> {
        let mut storage = None;
        let bucket = match &settings.bucket {
            Some(uri) => {
                let folder = BucketFolder::new(&settings.storage, uri)?;
                let started = Arc::new(BlockingStorage::new(&settings.storage)?);
                Some(BucketUploads::new(Arc::clone(storage.insert(started)), folder))
            }
            None => None,
        };
        let uploads = UploadStore::new(uploads, bucket);
        Ok(Self { settings: settings.clone(), uploads, storage: Mutex::new(storage) })
    }

    /// Opens the folder, bucket or manifest of a source.
    pub fn open(&self, location: &Path) -> io::Result<Box<dyn OriginalFiles>> {
        let files: Box<dyn OriginalFiles> = match storage_location(location) {
            Some(uri) => Box::new(BucketOriginals::new(self.storage()?, uri)),
            None => Box::new(SandboxedDir::open(location)?),
        };
        Ok(Box::new(ParquetOriginals::new(files)))
    }

    /// Checks that a folder in object storage can be listed and has media. The error is safe to send to
    /// clients.
    pub fn check(&self, location: &Path) -> Result<(), String> {
        let storage = self.storage().map_err(|error| error.to_string())?;
        storage.check(&location.to_string_lossy())
    }

    /// Lists the files of a source. Only a bucket can fail; the error is safe to send to clients.
    pub fn scan(&self, location: &Path) -> Result<FolderScan, String> {
        let described = |error: io::Error| error.to_string();
        let Some(uri) = storage_location(location) else {
            let mut scan = scan_folder(location);
            // A folder that cannot be opened has no files.
            if let Ok(folder) = SandboxedDir::open(location) {
                list_images(&folder, &mut scan).map_err(described)?;
            }
            return Ok(scan);
        };
        let storage = self.storage().map_err(described)?;
        let mut scan = FolderScan::default();
        for part in storage.scan_parts(&uri)? {
            let FolderScan { files, skipped } = part?;
            scan.files.extend(files);
            scan.skipped.extend(skipped);
        }
        scan.files.sort_by(|a, b| a.path.cmp(&b.path));
        list_images(&BucketOriginals::new(storage, uri), &mut scan).map_err(described)?;
        Ok(scan)
    }

    /// Compares a folder in object storage with the files that are known of it, in the order of the bytes of their
    /// paths. The error is safe to send to clients.
    pub fn compare(
        &self,
        location: &Path,
        known: impl Iterator<Item = Result<(PathBuf, KnownFile), String>>,
    ) -> Result<ListingComparison, String> {
        let Some(uri) = storage_location(location) else { return Ok(ListingComparison::Unordered) };
        let storage = self.storage().map_err(|error| error.to_string())?;
        let parts = storage.scan_parts(&uri)?;
        compare_listing(parts.map(|part| Ok(part?.files)), known)
    }

    fn storage(&self) -> io::Result<Arc<BlockingStorage>> {
        let mut storage = self.storage.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(storage) = &*storage {
            return Ok(Arc::clone(storage));
        }
        let started = Arc::new(BlockingStorage::new(&self.settings.storage)?);
        Ok(Arc::clone(storage.insert(started)))
    }
}

/// The address in object storage that a location is; folders of this machine are absolute.
pub fn storage_location(location: &Path) -> Option<ObjectUri> {
    ObjectUri::parse(location.to_str()?).ok()
}

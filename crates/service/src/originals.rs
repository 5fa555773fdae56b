//! Opens the originals of datasets, wherever they are: in folders of this machine, or in buckets.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    settings::DeploymentSettings,
    uploads::{AcceptedUploads, BucketUploads},
};
use rustix::io::Errno;
use tessera_files::if_exists;
use tessera_media::{
    ingest::{
        FolderPatterns, FolderScan, KnownFile, ListingComparison, OriginalFiles, SandboxedDir,
        compare_listing,
        parquet_images::{ParquetOriginals, list_images},
        scan_folder,
    },
    object_storage::{BucketFolder, BucketOriginals, LazyStorage, ObjectUri, StorageError},
};
use tessera_model::PatternLists;
use tessera_retrieval::stored_pictures::{BucketPacks, StoredPictures};
use tessera_store::Store;

pub(crate) struct Originals {
    storage: Arc<LazyStorage>,
    pub uploads: AcceptedUploads,
    /// The thumbnails and the pictures of frames.
    pub pictures: StoredPictures,
}

impl Originals {
    pub fn new(settings: &DeploymentSettings, store: &Store) -> Result<Self, StorageError> {
        let storage = Arc::new(LazyStorage::new(&settings.storage));
        let (mut uploads, mut packs) = (None, None);
        if let Some(uri) = &settings.bucket {
            let folder = BucketFolder::new(&settings.storage, uri)?;
            packs = Some(BucketPacks::new(storage.get()?, folder.clone(), store.id()));
            uploads = Some(BucketUploads::new(storage.get()?, folder));
        }
        let uploads = AcceptedUploads::new(store.uploads_dir(), uploads);
        let pictures = StoredPictures::new(storage.clone(), packs);
        Ok(Self { storage, uploads, pictures })
    }

    /// Opens the folder, bucket or manifest of a source.
    pub fn open(&self, location: &Path) -> io::Result<Box<dyn OriginalFiles>> {
        let files: Box<dyn OriginalFiles> = match storage_location(location) {
            Some(uri) => Box::new(BucketOriginals::new(self.storage.get()?, uri)),
            None => Box::new(SandboxedDir::open(location)?),
        };
        Ok(Box::new(ParquetOriginals::new(files)))
    }

    /// Checks that a folder in object storage can be listed and contains media. The error is safe to send to clients.
    pub fn check(&self, location: &Path) -> Result<(), String> {
        let storage = self.storage.get().map_err(|error| error.to_string())?;
        storage.check(&location.to_string_lossy())
    }

    /// Lists the files of a source. `patterns` belong to the dataset, and object storage has none. Fails if a folder or
    /// bucket cannot be listed, or if the patterns of a folder cannot be read. The error is safe to send to clients.
    pub fn scan(&self, location: &Path, patterns: &PatternLists) -> io::Result<FolderScan> {
        let Some(uri) = storage_location(location) else {
            // A folder that is gone counts as having no files.
            let Some(folder) = if_exists(SandboxedDir::open(location))? else {
                return Ok(FolderScan::default());
            };
            let patterns = FolderPatterns::read(&folder, patterns).map_err(io::Error::other)?;
            let mut scan = scan_folder(&folder, &patterns)?;
            list_images(&folder, &mut scan)?;
            return Ok(scan);
        };
        let storage = self.storage.get()?;
        let mut scan = FolderScan::default();
        for part in storage.scan_parts(&uri).map_err(io::Error::other)? {
            let FolderScan { files, skipped, .. } = part.map_err(StorageError::into_io)?;
            scan.files.extend(files);
            scan.skipped.extend(skipped);
        }
        scan.files.sort_by(|a, b| a.path.cmp(&b.path));
        list_images(&BucketOriginals::new(storage, uri), &mut scan)?;
        Ok(scan)
    }

    /// Compares a folder in object storage with the files that are known in it. Both are in the byte order of their
    /// paths. The error is safe to send to clients.
    pub fn compare(
        &self,
        location: &Path,
        known: impl Iterator<Item = Result<(PathBuf, KnownFile), String>>,
    ) -> Result<ListingComparison, String> {
        let Some(uri) = storage_location(location) else { return Ok(ListingComparison::Unordered) };
        let storage = self.storage.get().map_err(|error| error.to_string())?;
        let parts = storage.scan_parts(&uri)?;
        let files = |part: FolderScan| part.files;
        compare_listing(parts.map(|part| part.map(files).map_err(|error| error.to_string())), known)
    }
}

/// The reason for not reading a folder that is missing. It is safe to send to clients.
pub(crate) const FOLDER_MISSING: &str = "The folder of this dataset is missing, unreadable or empty. Its index is kept. \
                                         Connect the disk of the folder and rescan it, or remove the dataset";

/// Whether a folder of this machine is missing, unreadable or empty. A disk that is not connected often leaves an empty
/// folder behind. An error of this process, which may have too many open files, says nothing about the folder.
pub(crate) fn is_missing(folder: &Path) -> bool {
    const OF_PROCESS: [Errno; 3] = [Errno::MFILE, Errno::NFILE, Errno::NOMEM];
    match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(cause) => Errno::from_io_error(&cause).is_none_or(|it| !OF_PROCESS.contains(&it)),
    }
}

/// Returns the address in object storage, if the location is one. Folders of this machine are absolute paths.
pub(crate) fn storage_location(location: &Path) -> Option<ObjectUri> {
    ObjectUri::parse(location.to_str()?).ok()
}

//! The files of a dataset in a bucket: listed, and downloaded one by one while they are needed.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
};

use tokio::runtime::{Builder, Runtime};

use super::{ObjectEntry, ObjectStorage, ObjectUri, PathRoot, StorageError, StorageSettings};
use crate::{
    file_stat::FileStat,
    ingest::{FolderScan, OriginalFiles, ScannedFile, disk_quota::DiskQuota, unavailable},
};

/// Object storage for code that waits for it, on any thread.
#[derive(Debug)]
pub struct BlockingStorage {
    storage: ObjectStorage,
    runtime: Option<Runtime>,
    /// The folder for unnamed files.
    scratch: PathBuf,
}

impl BlockingStorage {
    pub fn new(settings: &StorageSettings, disk: &DiskQuota, scratch: &Path) -> io::Result<Self> {
        let storage = ObjectStorage::new(settings.clone(), disk.clone());
        let storage = storage.map_err(|error| unavailable(error.to_string()))?;
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        Ok(Self { storage, runtime: Some(runtime), scratch: scratch.to_owned() })
    }

    /// Lists the media and sidecars of a folder, by path. The error is safe to send to clients.
    pub fn scan(&self, folder: &ObjectUri) -> Result<FolderScan, String> {
        let (storage, uri) = (self.storage.clone(), folder.to_string());
        let scan = async move {
            let mut scan = FolderScan::default();
            let mut parts = storage.parts(&uri, usize::MAX)?;
            while let Some(part) = parts.next().await? {
                for file in part.entries.iter().filter_map(scanned_file) {
                    let hidden = file.path.iter().any(|part| part.as_encoded_bytes()[0] == b'.');
                    if hidden {
                        scan.skipped.push((file.path, "hidden"));
                    } else {
                        scan.files.push(file);
                    }
                }
            }
            scan.files.sort_by(|a, b| a.path.cmp(&b.path));
            Ok(scan)
        };
        self.wait(scan).unwrap_or_else(|error| Err(error.to_string()))
    }

    fn fetch(&self, entry: ObjectEntry) -> Result<File, StorageError> {
        let (storage, scratch) = (self.storage.clone(), self.scratch.clone());
        self.wait(async move { storage.fetch(&entry, &scratch).await })?
    }

    /// Waits on this thread, which may belong to another runtime.
    fn wait<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, StorageError> {
        let (sender, result) = mpsc::sync_channel(1);
        if let Some(runtime) = &self.runtime {
            // The receiver waits below.
            runtime.spawn(async move { sender.send(task.await).unwrap_or_default() });
        }
        result.recv().map_err(|_| StorageError::service("the request was interrupted"))
    }
}

impl Drop for BlockingStorage {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Waiting is not allowed where another runtime may drop it.
            runtime.shutdown_background();
        }
    }
}

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
    /// The file has no name, and is gone when it is closed.
    fn open_file(&self, relative: &Path) -> io::Result<File> {
        let relative = relative.to_str().ok_or(io::ErrorKind::NotFound)?;
        let prefix = self.folder.folder_prefix();
        let path_root = PathRoot::ListedFolder(prefix.len());
        let (bucket, key) = (Arc::new(self.folder.bucket.clone()), format!("{prefix}{relative}"));
        let entry = ObjectEntry { bucket, key, size: None, version: 0, path_root };
        self.storage.fetch(entry).map_err(|error| match error {
            StorageError::Object(reason) => io::Error::new(io::ErrorKind::NotFound, reason),
            StorageError::Service(reason) => unavailable(reason),
            StorageError::Io(cause) => cause,
        })
    }
}

fn scanned_file(entry: &ObjectEntry) -> Option<ScannedFile> {
    let PathRoot::ListedFolder(start) = entry.path_root else { return None };
    let path = PathBuf::from(entry.key.get(start..)?);
    Some(ScannedFile { path, stat: FileStat { size: entry.size?, modified: entry.version } })
}

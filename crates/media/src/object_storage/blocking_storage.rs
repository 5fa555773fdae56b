//! Runs object storage for blocking code, such as scans and file readers. `LazyStorage` starts it when it is first
//! needed.

use std::{
    any::Any,
    io,
    ops::Range,
    path::PathBuf,
    sync::{Arc, mpsc},
    time::Duration,
};

use bytes::Bytes;
use futures_util::FutureExt as _;
use parking_lot::Mutex;
use tokio::{
    runtime::{Builder, Runtime},
    time::timeout,
};

use super::{ObjectEntry, ObjectListing, ObjectStorage, ObjectUri, StorageError, StorageSettings};
use crate::ingest::{FileStat, FolderScan, SYSTEM_ENTRY, ScannedFile, TAGS_FOLDER, unavailable};
use tessera_model::file_kind::{HIDDEN, is_system_entry};

/// Object storage for code that blocks until a response arrives, on any thread.
#[derive(Debug)]
pub struct BlockingStorage {
    storage: ObjectStorage,
    runtime: Option<Runtime>,
}

impl BlockingStorage {
    pub fn new(settings: &StorageSettings) -> io::Result<Self> {
        let storage = ObjectStorage::new(settings.clone());
        let storage = storage.map_err(|error| unavailable(error.to_string()))?;
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        Ok(Self { storage, runtime: Some(runtime) })
    }

    /// Checks that there are media at an address. The error is safe to send to clients.
    pub fn check(&self, uri: &str) -> Result<(), String> {
        let (storage, uri) = (self.storage.clone(), uri.to_owned());
        let list = async move { storage.list(&uri, None, 1).await.map(drop) };
        self.wait(list).flatten().map_err(|error| error.to_string())
    }

    /// Lists the media and sidecars of a folder or manifest in parts, in the order of the listing. A manifest that was
    /// deleted has none, and the known media of a manifest that cannot be read are kept, because a manifest must not
    /// stop the work on the rest of its dataset. Errors are safe to send to clients.
    pub fn scan_parts(
        &self,
        folder: &ObjectUri,
    ) -> Result<impl Iterator<Item = Result<FolderScan, StorageError>>, String> {
        let (uri, is_manifest) = (folder.to_string(), folder.manifest_format().is_some());
        let mut parts = Some(self.storage.parts(&uri, usize::MAX)?);
        Ok(std::iter::from_fn(move || {
            let mut listing = parts.take()?;
            let next = async move {
                let part = listing.next().await;
                (listing, part)
            };
            match self.wait(next) {
                Ok((listing, part)) => {
                    parts = Some(listing);
                    let mut scan = FolderScan::default();
                    match part.transpose()? {
                        Err(StorageError::Object(_)) if is_manifest => {
                            scan.skipped.push((last_name(&uri), "the manifest does not exist"));
                        }
                        Err(StorageError::Refused(_)) if is_manifest => {
                            scan.skipped.push((last_name(&uri), UNREAD_MANIFEST));
                            scan.unreadable.insert(PathBuf::new());
                        }
                        part => return Some(part.map(|part| scanned_part(&uri, part))),
                    }
                    Some(Ok(scan))
                }
                Err(error) => Some(Err(error)),
            }
        }))
    }

    /// Reads a part of an object. All attempts together may take at most `limit`.
    pub fn read_range(
        &self,
        object: ObjectUri,
        range: Range<u64>,
        limit: Duration,
    ) -> io::Result<Bytes> {
        let storage = self.storage.clone();
        self.run(async move {
            let read = timeout(limit, storage.read_range(&object, range)).await;
            read.map_err(|_| StorageError::Temporary("the storage did not respond in time".into()))?
        })
    }

    pub fn client(&self) -> ObjectStorage {
        self.storage.clone()
    }

    /// Runs requests and blocks until their result arrives.
    pub fn run<T: Send + 'static>(
        &self,
        requests: impl Future<Output = Result<T, StorageError>> + Send + 'static,
    ) -> io::Result<T> {
        self.wait(requests).and_then(|end| end).map_err(StorageError::into_io)
    }

    /// Blocks this thread, which may belong to another runtime, until the task ends.
    pub fn wait<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, StorageError> {
        // The result is boxed, because the compiler would otherwise generate a channel and a task for every request.
        let (sender, result) = mpsc::sync_channel::<Box<dyn Any + Send>>(1);
        if let Some(runtime) = &self.runtime {
            // The receiver blocks below.
            let task = async move { sender.send(Box::new(task.await)).unwrap_or_default() };
            runtime.spawn(task.boxed());
        }
        let result = result.recv().ok().and_then(|result| result.downcast().ok());
        result
            .map(|result| *result)
            .ok_or_else(|| StorageError::service("the request was interrupted"))
    }
}

impl Drop for BlockingStorage {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Blocking is not allowed here, because another runtime may drop this value.
            runtime.shutdown_background();
        }
    }
}

fn last_name(uri: &str) -> PathBuf {
    PathBuf::from(uri.rsplit('/').next().unwrap_or(uri))
}

/// The reason for skipping a manifest that exists.
const UNREAD_MANIFEST: &str = "the manifest is damaged or too large, or may not be read, so its known media are kept; \
                               check it, and add it again";

fn scanned_part(uri: &str, part: ObjectListing) -> FolderScan {
    let mut scan = FolderScan { skipped: part.skipped, ..FolderScan::default() };
    if part.truncated {
        scan.skipped.push((last_name(uri), "only its first million objects were read"));
    }
    for file in part.entries.iter().map(scanned_file) {
        let hidden = file.path.iter().any(|part| part.as_encoded_bytes()[0] == b'.');
        if file.path.iter().any(|part| part == TAGS_FOLDER) {
            continue;
        }
        if hidden {
            scan.skipped.push((file.path, HIDDEN));
        } else if file.path.iter().any(|part| is_system_entry(&part.to_string_lossy())) {
            scan.skipped.push((file.path, SYSTEM_ENTRY));
        } else {
            scan.files.push(file);
        }
    }
    scan
}

/// Converts an entry. Entries of a manifest have neither a size nor a time.
fn scanned_file(entry: &ObjectEntry) -> ScannedFile {
    let stat = FileStat { size: entry.size.unwrap_or(0), modified: entry.version };
    ScannedFile { path: entry.path(), stat }
}

#[derive(Debug)]
pub struct LazyStorage {
    settings: StorageSettings,
    started: Mutex<Option<Arc<BlockingStorage>>>,
}

impl LazyStorage {
    pub fn new(settings: &StorageSettings) -> Self {
        Self { settings: settings.clone(), started: Mutex::new(None) }
    }

    pub fn get(&self) -> io::Result<Arc<BlockingStorage>> {
        let mut started = self.started.lock();
        if let Some(storage) = &*started {
            return Ok(Arc::clone(storage));
        }
        let storage = Arc::new(BlockingStorage::new(&self.settings)?);
        Ok(Arc::clone(started.insert(storage)))
    }
}

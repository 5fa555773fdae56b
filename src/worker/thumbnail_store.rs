//! Stores thumbnails in the disk cache until the first error, which is reported once: without the
//! cache, everything works.

use std::{
    io,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use bytes::Bytes;
use tokio::sync::mpsc;

use super::{
    WorkerEvent,
    disk_cache::{DiskCache, DiskCacheOptions},
};
use tessera_client::PictureKey;
use tessera_model::SafeText;

#[derive(Clone)]
pub(super) struct ThumbnailStore(Arc<OpenStore>);

struct OpenStore {
    /// `None`: nothing is stored.
    cache: Option<DiskCache>,
    folder: PathBuf,
    failed: AtomicBool,
    events: mpsc::UnboundedSender<WorkerEvent>,
}

impl ThumbnailStore {
    pub(super) fn open(
        options: Option<DiskCacheOptions>,
        events: mpsc::UnboundedSender<WorkerEvent>,
    ) -> Self {
        let folder = options.as_ref().map(|options| options.folder.clone()).unwrap_or_default();
        let (cache, error) = match options.map(DiskCache::open).transpose() {
            Ok(cache) => (cache, None),
            Err(error) => (None, Some(error)),
        };
        let store =
            Self(Arc::new(OpenStore { cache, folder, failed: AtomicBool::default(), events }));
        if let Some(error) = error {
            store.report(&error);
        }
        store
    }

    pub(super) async fn get(&self, key: PictureKey) -> Option<Bytes> {
        self.0.cache.as_ref()?;
        let store = Arc::clone(&self.0);
        let read = move || store.cache.as_ref().and_then(|cache| cache.get(&key));
        tokio::task::spawn_blocking(read).await.ok().flatten()
    }

    /// Blocks on the disk; evictions run in the background.
    pub(super) fn insert(&self, key: &PictureKey, picture: &[u8]) {
        let Some(cache) = &self.0.cache else { return };
        if self.0.failed.load(Ordering::Relaxed) {
            return;
        }
        match cache.insert(key, picture) {
            Ok(false) => {}
            Ok(true) => drop(tokio::task::spawn_blocking({
                let store = self.clone();
                move || store.evict()
            })),
            Err(error) => self.report(&error),
        }
    }

    fn evict(&self) {
        if let Some(Err(error)) = self.0.cache.as_ref().map(DiskCache::evict) {
            self.report(&error);
        }
    }

    fn report(&self, error: &io::Error) {
        if !self.0.failed.swap(true, Ordering::Relaxed) {
            let folder = self.0.folder.display();
            let sentence = format!(
                "thumbnails cannot be stored in {folder}: {error}. They are requested again at every \
                 start; `cache.max_mib = 0` turns storing off"
            );
            // Without a listener the program is ending.
            let _ = self.0.events.send(WorkerEvent::Warning(SafeText::detail(&sentence)));
        }
    }
}

//! Loads pictures and fits them to a canvas. Fetched bytes are cached, so that another size of the
//! same picture needs no request. Decoding uses at most two blocking threads.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use lru::LruCache;
use tokio::sync::Semaphore;

use tessera_client::{Client, read_entry};
use tessera_model::{Failure, FailureKind, Link, PictureSource};
use tessera_picture::{Canvas, Crop, Thumbnail, thumbnail};

/// Limit per picture: originals are loaded too, and several at the same time.
const MAX_PICTURE_BYTES: usize = 64 << 20;
const CACHE_BYTES: usize = 24 << 20;
const MAX_PARALLEL_DECODES: usize = 2;

pub(super) struct ThumbnailLoader {
    client: Client,
    cache: Mutex<PictureByteCache>,
    decode_slots: Arc<Semaphore>,
}

impl ThumbnailLoader {
    pub(super) fn new(client: Client) -> Self {
        Self {
            client,
            cache: Mutex::new(PictureByteCache::new(CACHE_BYTES)),
            decode_slots: Arc::new(Semaphore::new(MAX_PARALLEL_DECODES)),
        }
    }

    pub(super) async fn load_thumbnail(
        &self,
        source: &PictureSource,
        crop: Crop,
        canvas: Canvas,
    ) -> Result<Thumbnail, Failure> {
        let bytes = self.load_bytes(source).await?;
        let to_failure = |reason: &str| {
            let sentence = format!("cannot show the picture {source}: {reason}");
            Failure::new(FailureKind::Unexpected, sentence)
        };
        let permit = Arc::clone(&self.decode_slots).acquire_owned().await;
        let decoded = tokio::task::spawn_blocking(move || {
            let thumbnail = thumbnail(&bytes, crop, canvas);
            // A decode that is no longer needed keeps its slot until it ends.
            drop(permit);
            thumbnail
        });
        match decoded.await {
            Ok(Ok(thumbnail)) => Ok(thumbnail),
            Ok(Err(error)) => Err(to_failure(&error.to_string())),
            Err(_) => Err(to_failure("the decoder failed")),
        }
    }

    pub(super) async fn load_bytes(&self, source: &PictureSource) -> Result<Bytes, Failure> {
        match source {
            PictureSource::Link(link) => self.fetch_link(link).await,
            PictureSource::File(path) => read_file(path).await,
            PictureSource::Entry(path, name) => {
                let (path, name) = (path.clone(), name.clone());
                let read = tokio::task::spawn_blocking(move || read_entry(&path, &name)).await;
                read.unwrap_or_else(|_| Err(Failure::local(format!("cannot read {source}"))))
            }
        }
    }

    pub(super) async fn fetch_link(&self, link: &Link) -> Result<Bytes, Failure> {
        if let Some(bytes) = self.lock_cache().get(link.resource()) {
            return Ok(bytes);
        }
        let bytes = self.client.fetch_picture(link, MAX_PICTURE_BYTES).await?;
        self.lock_cache().insert(link.resource(), bytes.clone());
        Ok(bytes)
    }

    fn lock_cache(&self) -> std::sync::MutexGuard<'_, PictureByteCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn read_file(path: &Path) -> Result<Bytes, Failure> {
    let to_failure = |reason: &str| {
        Failure::local(format!("cannot read the picture {}: {reason}", path.display()))
    };
    let metadata =
        tokio::fs::metadata(path).await.map_err(|error| to_failure(&error.to_string()))?;
    // Checked before it is opened: a pipe would never end.
    if !metadata.is_file() || metadata.len() > MAX_PICTURE_BYTES as u64 {
        return Err(to_failure(&format!("not a file of at most {} MiB", MAX_PICTURE_BYTES >> 20)));
    }
    let bytes = tokio::fs::read(path).await.map_err(|error| to_failure(&error.to_string()))?;
    Ok(bytes.into())
}

/// The most recently used bytes, up to a limit.
struct PictureByteCache {
    pictures: LruCache<String, Bytes>,
    used_bytes: usize,
    max_bytes: usize,
}

impl PictureByteCache {
    fn new(max_bytes: usize) -> Self {
        Self { pictures: LruCache::unbounded(), used_bytes: 0, max_bytes }
    }

    fn get(&mut self, resource: &str) -> Option<Bytes> {
        self.pictures.get(resource).cloned()
    }

    /// Caches a picture, unless it would displace many others.
    fn insert(&mut self, resource: &str, bytes: Bytes) {
        if bytes.len() > self.max_bytes / 4 {
            return;
        }
        self.used_bytes += bytes.len();
        let replaced = self.pictures.put(resource.to_owned(), bytes);
        self.used_bytes -= replaced.map_or(0, |old| old.len());
        while self.used_bytes > self.max_bytes
            && let Some((_, oldest)) = self.pictures.pop_lru()
        {
            self.used_bytes -= oldest.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_keeps_recently_used_pictures() {
        let mut cache = PictureByteCache::new(20);
        for name in ["a", "b", "c", "d"] {
            cache.insert(name, Bytes::from_static(b"12345"));
        }
        assert!(cache.get("a").is_some());
        cache.insert("e", Bytes::from_static(b"1"));
        assert_eq!(cache.get("b"), None);
        assert!(cache.get("a").is_some() && cache.get("e").is_some());
        cache.insert("e", Bytes::from_static(b"123"));
        assert_eq!(cache.used_bytes, 18);
        cache.insert("huge", Bytes::from_static(b"123456"));
        assert_eq!((cache.used_bytes, cache.get("huge")), (18, None));
    }
}

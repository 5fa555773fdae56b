//! Link -> bytes -> a thumbnail for one canvas. Fetched bytes are kept for a while, so that a new
//! size of the same picture costs no request; decoding happens on threads of its own, two at a
//! time.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use lru::LruCache;
use tokio::sync::Semaphore;

use tessera_client::{Client, entry_of};
use tessera_model::{Failure, FailureKind, Link, PictureSource};
use tessera_picture::{Canvas, Part, Thumbnail, thumbnail};

/// Largest picture fetched, in bytes: originals are asked for too, and several may be under way.
const PICTURE_LIMIT: usize = 64 << 20;
/// Fetched bytes that are kept.
const SHELF_BYTES: usize = 24 << 20;
/// Pictures decoded at the same time.
const DECODES: usize = 2;

/// Makes thumbnails of links.
pub(super) struct Pictures {
    client: Client,
    shelf: Mutex<Shelf>,
    decodes: Arc<Semaphore>,
}

impl Pictures {
    pub(super) fn new(client: Client) -> Self {
        Self {
            client,
            shelf: Mutex::new(Shelf::new(SHELF_BYTES)),
            decodes: Arc::new(Semaphore::new(DECODES)),
        }
    }

    /// Fits the `part` that is shown of a picture from anywhere to `canvas`.
    pub(super) async fn show(
        &self,
        source: &PictureSource,
        part: Part,
        canvas: Canvas,
    ) -> Result<Thumbnail, Failure> {
        let bytes = self.of(source).await?;
        self.fit(bytes, part, canvas, &source.to_string()).await
    }

    /// The bytes of a picture from anywhere.
    pub(super) async fn of(&self, source: &PictureSource) -> Result<Bytes, Failure> {
        match source {
            PictureSource::Link(link) => self.bytes(link).await,
            PictureSource::File(path) => read(path).await,
            PictureSource::Entry(path, name) => {
                let (path, name) = (path.clone(), name.clone());
                let read = tokio::task::spawn_blocking(move || entry_of(&path, &name)).await;
                read.unwrap_or_else(|_| {
                    Err(Failure::new(FailureKind::Local, format!("{source} cannot be read")))
                })
            }
        }
    }

    /// Decodes, in its turn. `name` is what people know the picture as.
    async fn fit(
        &self,
        bytes: Bytes,
        part: Part,
        canvas: Canvas,
        name: &str,
    ) -> Result<Thumbnail, Failure> {
        let broken = |reason: &str| {
            let sentence = format!("the picture {name} cannot be shown: {reason}");
            Failure::new(FailureKind::Unexpected, sentence)
        };
        let turn = Arc::clone(&self.decodes).acquire_owned().await;
        let decoded = tokio::task::spawn_blocking(move || {
            let thumbnail = thumbnail(&bytes, part, canvas);
            // A decode that nobody waits for any more still takes its turn to the end.
            drop(turn);
            thumbnail
        });
        match decoded.await {
            Ok(Ok(thumbnail)) => Ok(thumbnail),
            Ok(Err(error)) => Err(broken(&error.to_string())),
            Err(_) => Err(broken("the decoder gave up")),
        }
    }

    /// Fetches a picture, unless it is at hand.
    pub(super) async fn bytes(&self, link: &Link) -> Result<Bytes, Failure> {
        if let Some(bytes) = self.shelf().get(link.resource()) {
            return Ok(bytes);
        }
        let bytes = self.client.picture(link, PICTURE_LIMIT).await?;
        self.shelf().put(link.resource(), bytes.clone());
        Ok(bytes)
    }

    fn shelf(&self) -> std::sync::MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads a picture file of this machine.
async fn read(path: &Path) -> Result<Bytes, Failure> {
    let refuse = |reason: &str| {
        let sentence = format!("the picture {} cannot be read: {reason}", path.display());
        Failure::new(FailureKind::Local, sentence)
    };
    let metadata = tokio::fs::metadata(path).await.map_err(|error| refuse(&error.to_string()))?;
    // Looked at before it is opened: a pipe would never end.
    if !metadata.is_file() || metadata.len() > PICTURE_LIMIT as u64 {
        return Err(refuse(&format!("no file of at most {} MiB", PICTURE_LIMIT >> 20)));
    }
    let bytes = tokio::fs::read(path).await.map_err(|error| refuse(&error.to_string()))?;
    Ok(bytes.into())
}

/// The bytes used last, up to a number of bytes.
struct Shelf {
    pictures: LruCache<String, Bytes>,
    held: usize,
    limit: usize,
}

impl Shelf {
    fn new(limit: usize) -> Self {
        Self { pictures: LruCache::unbounded(), held: 0, limit }
    }

    fn get(&mut self, resource: &str) -> Option<Bytes> {
        self.pictures.get(resource).cloned()
    }

    /// Keeps a picture, unless it alone would push out many others.
    fn put(&mut self, resource: &str, bytes: Bytes) {
        if bytes.len() > self.limit / 4 {
            return;
        }
        self.held += bytes.len();
        let replaced = self.pictures.put(resource.to_owned(), bytes);
        self.held -= replaced.map_or(0, |old| old.len());
        while self.held > self.limit
            && let Some((_, oldest)) = self.pictures.pop_lru()
        {
            self.held -= oldest.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn n33_the_shelf_keeps_what_was_used_last() {
        let mut shelf = Shelf::new(20);
        for name in ["a", "b", "c", "d"] {
            shelf.put(name, Bytes::from_static(b"12345"));
        }
        assert!(shelf.get("a").is_some());
        shelf.put("e", Bytes::from_static(b"1"));
        assert_eq!(shelf.get("b"), None);
        assert!(shelf.get("a").is_some() && shelf.get("e").is_some());
        shelf.put("e", Bytes::from_static(b"123"));
        assert_eq!(shelf.held, 18);
        shelf.put("huge", Bytes::from_static(b"123456"));
        assert_eq!((shelf.held, shelf.get("huge")), (18, None));
    }
}

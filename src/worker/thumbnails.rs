//! Loads pictures and fits them to a canvas.
//!
//! Fetched bytes are cached in memory, so that another size of the same picture needs no request, and on disk, so that
//! the next start needs none. After the first error of the disk cache, which is reported once, pictures are cached only
//! in memory. The originals of the full-size view are kept decoded, so that zooming and panning neither load nor decode
//! them again. At most two blocking threads decode.

use std::{
    io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::Mutex;

use super::disk_cache::{DiskCache, DiskCacheOptions};
use bytes::Bytes;
use lru::LruCache;
use tessera_client::{Client, PictureKey, read_entry};
use tessera_interface::message::WorkerEvent;
use tessera_model::{
    Failure, FailureKind, Link, MAX_PICTURE_BYTES, PictureSource, Region, SafeText,
};
use tessera_picture::{
    Canvas, Crop, Thumbnail,
    decode::{DecodeError, Decoded, decode_for},
    difference, thumbnail_of,
};
use tokio::sync::{Semaphore, mpsc};

const CACHE_BYTES: usize = 24 << 20;
/// The size limit of the decoded originals, which is enough for three originals of 12 megapixels.
const DECODED_BYTES: usize = 128 << 20;
const MAX_PARALLEL_DECODES: usize = 2;

pub(super) struct ThumbnailLoader {
    client: Client,
    /// The encoded pictures.
    memory: Arc<Mutex<RecentPictures<LoadedPicture>>>,
    /// `None` if nothing is stored on disk.
    disk: Option<Arc<ThumbnailCache>>,
    originals: Arc<DecodedPictures>,
    decode_slots: Arc<Semaphore>,
}

/// A picture. `new` is its key if the picture was fetched in this run and was not given to the disk cache. The request
/// that fetched the picture may have been cancelled before it was decoded, so a later request stores it.
#[derive(Clone)]
struct LoadedPicture {
    bytes: Bytes,
    new: Option<PictureKey>,
}

impl From<Bytes> for LoadedPicture {
    fn from(bytes: Bytes) -> Self {
        Self { bytes, new: None }
    }
}

impl ThumbnailLoader {
    pub(super) fn new(
        client: Client,
        disk_cache: Option<DiskCacheOptions>,
        events: mpsc::UnboundedSender<WorkerEvent>,
    ) -> Self {
        let mut memory = RecentPictures::new(CACHE_BYTES, |it: &LoadedPicture| it.bytes.len());
        // A picture that would displace many others is not kept.
        memory.max_size = CACHE_BYTES / 4;
        Self {
            client,
            memory: Arc::new(Mutex::new(memory)),
            disk: ThumbnailCache::open(disk_cache, events),
            originals: Arc::new(DecodedPictures::new(DECODED_BYTES)),
            decode_slots: Arc::new(Semaphore::new(MAX_PARALLEL_DECODES)),
        }
    }

    pub(super) async fn load_thumbnail(
        &self,
        source: &PictureSource,
        crop: Crop,
        canvas: Canvas,
    ) -> Result<Thumbnail, Failure> {
        let to_failure = |reason: String| {
            let sentence = format!("cannot show the picture {source}: {reason}");
            Failure::new(FailureKind::Unexpected, sentence)
        };
        let key = self.key_of_original(source, &crop)?;
        if let Some(original) = key.and_then(|key| self.originals.get(&key, &crop, canvas)) {
            let draw = move || thumbnail_of(&original, &crop, canvas);
            return self.decode(draw).await.map_err(to_failure);
        }
        let LoadedPicture { bytes, new } = self.load(source).await?;
        let (disk, originals) = (self.disk.clone(), Arc::clone(&self.originals));
        let memory = Arc::clone(&self.memory);
        let decode = self.decode(move || {
            let decoded = originals.decode(&bytes, &crop, canvas)?;
            let thumbnail = thumbnail_of(&decoded, &crop, canvas)?;
            // A picture is stored only after it was decoded, so that the disk cache contains only
            // pictures that can be shown.
            if let (Some(key), Some(disk)) = (new, disk)
                && begin_storing(&memory, &key)
            {
                disk.insert(&key, &bytes);
            }
            if let Some(key) = key {
                originals.insert(key, decoded);
            }
            Ok(thumbnail)
        });
        decode.await.map_err(to_failure)
    }

    /// Returns the key of a picture of the full-size view, which is kept decoded.
    fn key_of_original(
        &self,
        source: &PictureSource,
        crop: &Crop,
    ) -> Result<Option<PictureKey>, Failure> {
        match (source, crop) {
            (PictureSource::Link(link), Crop::Zoomed(..)) => {
                self.client.picture_key(link).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Draws the difference between two pictures.
    pub(super) async fn load_difference(
        &self,
        [one, other]: &[PictureSource; 2],
        crop: Crop,
        canvas: Canvas,
    ) -> Result<Thumbnail, Failure> {
        let (first, second) = (self.load(one).await?.bytes, self.load(other).await?.bytes);
        let compare = move || difference([&first, &second], &crop, canvas);
        self.decode(compare).await.map_err(|reason| {
            let sentence = format!("cannot compare {one} with {other}: {reason}");
            Failure::new(FailureKind::Unexpected, sentence)
        })
    }

    /// Decodes on a blocking thread as soon as a slot is free. The error is the reason as text.
    async fn decode(
        &self,
        decode: impl FnOnce() -> Result<Thumbnail, DecodeError> + Send + 'static,
    ) -> Result<Thumbnail, String> {
        let permit = Arc::clone(&self.decode_slots).acquire_owned().await;
        let decoded = tokio::task::spawn_blocking(move || {
            let decoded = decode();
            // The blocking thread releases the slot, because a decode that is no longer needed
            // still runs to its end.
            drop(permit);
            decoded
        });
        match decoded.await {
            Ok(result) => result.map_err(|error| error.to_string()),
            Err(_) => Err("the decoder failed".to_owned()),
        }
    }

    pub(super) async fn load_bytes(&self, source: &PictureSource) -> Result<Bytes, Failure> {
        Ok(self.load(source).await?.bytes)
    }

    async fn load(&self, source: &PictureSource) -> Result<LoadedPicture, Failure> {
        match source {
            PictureSource::Link(link) => self.load_link(link).await,
            PictureSource::File(path) => read_file(path).await.map(LoadedPicture::from),
            PictureSource::Entry(path, name) => {
                let (path, name) = (path.clone(), name.clone());
                let read = tokio::task::spawn_blocking(move || read_entry(&path, &name)).await;
                let panicked = || Failure::local(format!("cannot read the picture {source}"));
                read.unwrap_or_else(|_| Err(panicked())).map(LoadedPicture::from)
            }
        }
    }

    async fn load_link(&self, link: &Link) -> Result<LoadedPicture, Failure> {
        let key = self.client.picture_key(link)?;
        if let Some(picture) = self.memory.lock().get(&key) {
            return Ok(picture);
        }
        let stored = match &self.disk {
            Some(disk) => Arc::clone(disk).get(key).await,
            None => None,
        };
        let picture = match stored {
            Some(bytes) => LoadedPicture::from(bytes),
            None => LoadedPicture {
                bytes: self.client.fetch_picture(link, MAX_PICTURE_BYTES).await?,
                new: Some(key),
            },
        };
        self.memory.lock().insert(key, picture.clone());
        Ok(picture)
    }
}

/// Returns whether the caller is to store a picture on disk, which is true once while the picture is cached.
fn begin_storing(memory: &Mutex<RecentPictures<LoadedPicture>>, key: &PictureKey) -> bool {
    memory.lock().pictures.peek_mut(key).is_none_or(|picture| picture.new.take().is_some())
}

async fn read_file(path: &Path) -> Result<Bytes, Failure> {
    let to_failure = |reason: &str| {
        Failure::local(format!("cannot read the picture {}: {reason}", path.display()))
    };
    let metadata =
        tokio::fs::metadata(path).await.map_err(|error| to_failure(&error.to_string()))?;
    // The metadata is checked before the file is opened, because reading a pipe would never end.
    if !metadata.is_file() || metadata.len() > MAX_PICTURE_BYTES as u64 {
        return Err(to_failure(&format!("not a file of at most {} MiB", MAX_PICTURE_BYTES >> 20)));
    }
    let bytes = tokio::fs::read(path).await.map_err(|error| to_failure(&error.to_string()))?;
    Ok(bytes.into())
}

/// Keeps the most recently used pictures, up to a limit in bytes.
struct RecentPictures<P> {
    pictures: LruCache<PictureKey, P>,
    used_bytes: usize,
    max_bytes: usize,
    /// The size of the largest picture that is kept.
    max_size: usize,
    size: fn(&P) -> usize,
}

impl<P: Clone> RecentPictures<P> {
    fn new(max_bytes: usize, size: fn(&P) -> usize) -> Self {
        let pictures = LruCache::unbounded();
        Self { pictures, used_bytes: 0, max_bytes, max_size: max_bytes, size }
    }

    fn get(&mut self, key: &PictureKey) -> Option<P> {
        self.pictures.get(key).cloned()
    }

    fn insert(&mut self, key: PictureKey, picture: P) {
        if (self.size)(&picture) > self.max_size {
            return;
        }
        self.used_bytes += (self.size)(&picture);
        let replaced = self.pictures.put(key, picture);
        self.used_bytes -= replaced.as_ref().map_or(0, self.size);
        while self.used_bytes > self.max_bytes
            && let Some((_, oldest)) = self.pictures.pop_lru()
        {
            self.used_bytes -= (self.size)(&oldest);
        }
    }
}

/// The pictures on disk.
struct ThumbnailCache {
    disk: DiskCache,
    failed: AtomicBool,
    events: mpsc::UnboundedSender<WorkerEvent>,
}

impl ThumbnailCache {
    /// Opens the cache, unless it is turned off or cannot be opened.
    fn open(
        options: Option<DiskCacheOptions>,
        events: mpsc::UnboundedSender<WorkerEvent>,
    ) -> Option<Arc<Self>> {
        let options = options?;
        let folder = options.folder.clone();
        match DiskCache::open(options) {
            Ok(disk) => Some(Arc::new(Self { disk, failed: AtomicBool::default(), events })),
            Err(error) => {
                warn_about(&folder, &error, &events);
                None
            }
        }
    }

    async fn get(self: Arc<Self>, key: PictureKey) -> Option<Bytes> {
        tokio::task::spawn_blocking(move || self.disk.get(&key)).await.ok().flatten()
    }

    /// Stores a picture, which blocks on the disk. Evictions run in the background.
    fn insert(self: Arc<Self>, key: &PictureKey, picture: &[u8]) {
        if self.failed.load(Ordering::Relaxed) {
            return;
        }
        match self.disk.insert(key, picture) {
            Ok(false) => {}
            Ok(true) => drop(tokio::task::spawn_blocking(move || {
                self.disk.evict().unwrap_or_else(|error| self.report(&error));
            })),
            Err(error) => self.report(&error),
        }
    }

    /// Reports the first error.
    fn report(&self, error: &io::Error) {
        if !self.failed.swap(true, Ordering::Relaxed) {
            warn_about(&self.disk.options.folder, error, &self.events);
        }
    }
}

fn warn_about(folder: &Path, error: &io::Error, events: &mpsc::UnboundedSender<WorkerEvent>) {
    let sentence = format!(
        "thumbnails cannot be stored in {}: {error}. They are requested again at every start; `cache.max_mib = 0` \
         turns storing off",
        folder.display()
    );
    // A send fails only while the program is ending.
    let _ = events.send(WorkerEvent::Warning(SafeText::detail(&sentence)));
}

/// The decoded originals of the full-size view.
struct DecodedPictures(Mutex<RecentPictures<Arc<Decoded>>>);

impl DecodedPictures {
    fn new(max_bytes: usize) -> Self {
        Self(Mutex::new(RecentPictures::new(max_bytes, |decoded| decoded.pixels.len())))
    }

    /// Returns a cached picture, if it has enough pixels for the crop on the canvas.
    fn get(&self, key: &PictureKey, crop: &Crop, canvas: Canvas) -> Option<Arc<Decoded>> {
        let decoded = self.0.lock().get(key)?;
        let (width, height) = decoded.pixels.dimensions();
        let needed = crop.min_decoded_side(decoded.original, canvas);
        let all = decoded.original.0.min(decoded.original.1);
        (width.min(height) >= needed.min(all)).then_some(decoded)
    }

    /// Decodes a picture. For a part of the picture, all its pixels are decoded if they can be kept, because every
    /// other part can be made from them.
    fn decode(
        &self,
        bytes: &[u8],
        crop: &Crop,
        canvas: Canvas,
    ) -> Result<Arc<Decoded>, DecodeError> {
        let max_bytes = self.0.lock().max_bytes;
        let is_part = matches!(crop, Crop::Zoomed(part, _) if *part != Region::WHOLE);
        let min_side = |(width, height): (u32, u32)| {
            let pixels = u64::from(width) * u64::from(height);
            let fits = usize::try_from(3 * pixels).is_ok_and(|bytes| bytes <= max_bytes);
            if is_part && fits {
                width.min(height)
            } else {
                crop.min_decoded_side((width, height), canvas)
            }
        };
        decode_for(bytes, min_side).map(Arc::new)
    }

    fn insert(&self, key: PictureKey, decoded: Arc<Decoded>) {
        self.0.lock().insert(key, decoded);
    }
}

#[cfg(test)]
mod tests {
    use image::RgbImage;
    use tessera_client::{AuthMethod, BaseUrl, Client, ServiceConfig};
    use tessera_model::Link;
    use tessera_picture::Protocol;

    use super::*;

    fn key(name: &str) -> PictureKey {
        let url = BaseUrl::parse("https://media.example").unwrap();
        let client = Client::new(ServiceConfig::new(url, AuthMethod::OnPremises).unwrap()).unwrap();
        client.picture_key(&Link::new(name)).unwrap()
    }

    #[test]
    fn the_cache_keeps_recently_used_pictures() {
        let mut cache = RecentPictures::new(20, |it: &LoadedPicture| it.bytes.len());
        cache.max_size = 5;
        let picture = |bytes: &'static [u8]| LoadedPicture::from(Bytes::from_static(bytes));
        let [first, second, last, huge] = ["first", "second", "last", "huge"].map(key);
        for name in [first, second, key("third"), key("fourth")] {
            cache.insert(name, picture(b"12345"));
        }
        assert!(cache.get(&first).is_some());
        cache.insert(last, picture(b"1"));
        assert!(cache.get(&second).is_none());
        assert!(cache.get(&first).is_some() && cache.get(&last).is_some());
        cache.insert(last, picture(b"123"));
        assert_eq!(cache.used_bytes, 18);
        cache.insert(huge, picture(b"123456"));
        assert_eq!((cache.used_bytes, cache.get(&huge).is_none()), (18, true));
    }

    const CANVAS: Canvas =
        Canvas { columns: 4, rows: 2, cell: (10, 20), protocol: Protocol::Kitty };

    /// Creates a picture of 8x8 pixels, of which `side` by `side` pixels were decoded.
    fn decoded(side: u32) -> Arc<Decoded> {
        Arc::new(Decoded { pixels: RgbImage::new(side, side), original: (8, 8) })
    }

    #[test]
    fn the_oldest_picture_makes_room() {
        let pictures = DecodedPictures::new(2 * 8 * 8 * 3);
        let [first, second, third] = ["first", "second", "third"].map(key);
        let has = |key| pictures.get(&key, &Crop::Full, CANVAS).is_some();
        pictures.insert(first, decoded(8));
        pictures.insert(second, decoded(8));
        assert!(has(second) && has(first));
        pictures.insert(third, decoded(8));
        assert_eq!([first, second, third].map(has), [true, false, true]);
        pictures.insert(third, decoded(8));
        assert_eq!(pictures.0.lock().used_bytes, 2 * 8 * 8 * 3);
        pictures.insert(
            second,
            Arc::new(Decoded { pixels: RgbImage::new(20, 20), ..(*decoded(8)).clone() }),
        );
        assert!(!has(second), "it is larger than all that may be kept");
    }

    #[test]
    fn a_picture_that_was_scaled_down_too_far_is_decoded_again() {
        let pictures = DecodedPictures::new(1 << 20);
        let part = Region { x: 0.0, y: 0.0, width: 0.5, height: 0.5 };
        let part = Crop::Zoomed(part, Arc::from([]));
        pictures.insert(key("a"), decoded(4));
        assert!(pictures.get(&key("a"), &part, CANVAS).is_none());
        pictures.insert(key("a"), decoded(8));
        assert!(pictures.get(&key("a"), &part, CANVAS).is_some());
    }
}

//! Keeps the decoded originals of the full-size view, so that zooming and panning neither load nor decode them again.
//! The most recently used pictures are kept, up to a limit in bytes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lru::LruCache;
use tessera_client::PictureKey;
use tessera_model::Region;
use tessera_picture::{
    Canvas, Crop,
    decode::{DecodeError, Decoded, decode_for},
};

pub(super) struct DecodedPictures {
    max_bytes: usize,
    kept: Mutex<RecentPictures>,
}

struct RecentPictures {
    pictures: LruCache<PictureKey, Arc<Decoded>>,
    used_bytes: usize,
}

impl DecodedPictures {
    pub(super) fn new(max_bytes: usize) -> Self {
        let kept = RecentPictures { pictures: LruCache::unbounded(), used_bytes: 0 };
        Self { max_bytes, kept: Mutex::new(kept) }
    }

    /// Returns a cached picture, if it has enough pixels for the crop on the canvas.
    pub(super) fn get(
        &self,
        key: &PictureKey,
        crop: &Crop,
        canvas: Canvas,
    ) -> Option<Arc<Decoded>> {
        let decoded = self.lock().pictures.get(key).cloned()?;
        let (width, height) = decoded.pixels.dimensions();
        let needed = crop.min_decoded_side(decoded.original, canvas);
        let all = decoded.original.0.min(decoded.original.1);
        (width.min(height) >= needed.min(all)).then_some(decoded)
    }

    /// Decodes a picture. For a part of the picture, all its pixels are decoded if they can be kept, because every
    /// other part can be made from them.
    pub(super) fn decode(
        &self,
        bytes: &[u8],
        crop: &Crop,
        canvas: Canvas,
    ) -> Result<Arc<Decoded>, DecodeError> {
        let is_part = matches!(crop, Crop::Zoomed(part, _) if *part != Region::WHOLE);
        let min_side = |(width, height): (u32, u32)| {
            let pixels = u64::from(width) * u64::from(height);
            let fits = usize::try_from(3 * pixels).is_ok_and(|bytes| bytes <= self.max_bytes);
            if is_part && fits {
                width.min(height)
            } else {
                crop.min_decoded_side((width, height), canvas)
            }
        };
        decode_for(bytes, min_side).map(Arc::new)
    }

    pub(super) fn insert(&self, key: PictureKey, decoded: Arc<Decoded>) {
        if decoded.pixels.len() > self.max_bytes {
            return;
        }
        let mut kept = self.lock();
        kept.used_bytes += decoded.pixels.len();
        let replaced = kept.pictures.put(key, decoded);
        kept.used_bytes -= replaced.map_or(0, |old| old.pixels.len());
        while kept.used_bytes > self.max_bytes
            && let Some((_, oldest)) = kept.pictures.pop_lru()
        {
            kept.used_bytes -= oldest.pixels.len();
        }
    }

    fn lock(&self) -> MutexGuard<'_, RecentPictures> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use image::RgbImage;
    use tessera_client::{AuthMethod, BaseUrl, Client, ServiceConfig};
    use tessera_model::Link;
    use tessera_picture::Protocol;

    use super::*;

    const CANVAS: Canvas =
        Canvas { columns: 4, rows: 2, cell: (10, 20), protocol: Protocol::Kitty };

    fn key(name: &str) -> PictureKey {
        let url = BaseUrl::parse("https://media.example").unwrap();
        let client = Client::new(ServiceConfig::new(url, AuthMethod::OnPremises).unwrap()).unwrap();
        client.picture_key(&Link::new(name)).unwrap()
    }

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
        assert_eq!(pictures.lock().used_bytes, 2 * 8 * 8 * 3);
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

//! Reads masks of a part of a picture: the run lengths of CVAT, and the pictures of `LabelMe`.

use std::io::Cursor;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use image::{DynamicImage, ImageDecoder as _, Limits, codecs::png::PngDecoder};
use tessera_model::Mask;

/// The pixels of all masks of a document, so that a small document cannot take hours.
const MAX_PIXELS: usize = 1 << 28;
/// The memory for decoding a mask.
const MAX_BYTES: u64 = 1 << 27;

const TOO_LARGE: &str = "its masks are too large, so only their boxes are kept";
const WRONG_RUNS: &str = "the run lengths of a mask do not fill its box, so only the box is kept";
const WRONG_PICTURE: &str = "the mask of a shape is not a PNG in Base64, so only its box is kept";

/// Reads the masks of a document. If a mask cannot be read, only its box is kept, and the error says why.
pub(super) struct MaskReader {
    /// The height and width of the picture. Without them, there are no masks.
    pub picture: Option<(u32, u32)>,
    pixels_left: usize,
}

impl Default for MaskReader {
    fn default() -> Self {
        Self { picture: None, pixels_left: MAX_PIXELS }
    }
}

impl MaskReader {
    /// Reads run lengths such as `3, 2, 5`, which go through a box row by row. The first run is outside the object.
    pub fn of_runs(
        &mut self,
        corner: [u32; 2],
        [width, height]: [u32; 2],
        runs: &str,
    ) -> Result<Option<Mask>, &'static str> {
        self.read(corner, |reader| {
            let [width, height] = [width, height].map(|side| usize::try_from(side).unwrap_or(0));
            let count = reader.take(width.saturating_mul(height))?;
            let mut pixels = Vec::new();
            for (position, length) in runs.split(',').enumerate() {
                let length: usize = length.trim().parse().map_err(|_| WRONG_RUNS)?;
                let end = pixels.len().saturating_add(length);
                if end > count {
                    return Err(WRONG_RUNS);
                }
                pixels.resize(end, position % 2 == 1);
            }
            if pixels.len() == count && count > 0 { Ok((width, pixels)) } else { Err(WRONG_RUNS) }
        })
    }

    /// Reads a PNG in Base64, in which every pixel that is not black belongs to the object.
    pub fn of_png(&mut self, corner: [u32; 2], base64: &str) -> Result<Option<Mask>, &'static str> {
        self.read(corner, |reader| {
            let bytes = STANDARD.decode(base64).map_err(|_| WRONG_PICTURE)?;
            let mut limits = Limits::default();
            limits.max_alloc = Some(MAX_BYTES);
            let picture = PngDecoder::with_limits(Cursor::new(bytes), limits.clone())
                .and_then(|decoder| {
                    limits.reserve(decoder.total_bytes())?;
                    DynamicImage::from_decoder(decoder)
                })
                .map_err(|_| WRONG_PICTURE)?
                .into_luma8();
            let width = usize::try_from(picture.width()).unwrap_or(0);
            reader.take(picture.len())?;
            Ok((width, picture.iter().map(|level| *level > 0).collect()))
        })
    }

    fn read(
        &mut self,
        corner: [u32; 2],
        pixels: impl FnOnce(&mut Self) -> Result<(usize, Vec<bool>), &'static str>,
    ) -> Result<Option<Mask>, &'static str> {
        let Some(picture) = self.picture else { return Ok(None) };
        let (width, pixels) = pixels(self)?;
        Ok(Some(Mask::of_part(picture.into(), corner, width, &pixels)))
    }

    fn take(&mut self, count: usize) -> Result<usize, &'static str> {
        self.pixels_left = self.pixels_left.checked_sub(count).ok_or(TOO_LARGE)?;
        Ok(count)
    }
}

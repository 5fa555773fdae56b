//! Decodes JPEG XL, the first frame only: in bands, because its decoder needs much memory for each pixel.

use image::{ColorType, RgbImage};
use jxl_oxide::{
    AllocTracker, CropInfo, EnumColourEncoding, JxlImage, JxlThreadPool, Moxcms, RenderingIntent,
};

use crate::{
    error::{DecodeError, check_size},
    jpeg_xl_container::JpegXlContainer,
    raster::{MAX_DECODE_BYTES, downscale, lock_if_large},
    time_limit::Deadline,
};

/// Large enough that the neighborhood, which is decoded with each band, costs little.
const BAND_PIXELS: u32 = 4_000_000;
/// What the decoder needs for each pixel of a band.
const BYTES_PER_PIXEL: u64 = 32;

/// A picture whose header was read.
pub struct JpegXl(JxlImage);

impl JpegXl {
    pub fn open(bytes: &[u8]) -> Result<Self, DecodeError> {
        let limit = usize::try_from(MAX_DECODE_BYTES).unwrap_or(usize::MAX);
        let mut image = JxlImage::builder()
            // Pictures are decoded in parallel already.
            .pool(JxlThreadPool::none())
            .alloc_tracker(AllocTracker::with_limit(limit))
            .read(&*JpegXlContainer::read(bytes).codestream)
            .map_err(|error| DecodeError(format!("damaged JPEG XL: {error}")))?;
        check_size((image.width(), image.height()))?;
        if image.num_loaded_keyframes() == 0 {
            return Err(DecodeError("truncated JPEG XL".to_owned()));
        }
        // For colors that are described by an ICC profile.
        image.set_cms(Moxcms);
        image.request_color_encoding(EnumColourEncoding::srgb(RenderingIntent::Relative));
        Ok(Self(image))
    }

    /// Width and height, upright: the decoder applies the orientation.
    pub fn size(&self) -> (u32, u32) {
        (self.0.width(), self.0.height())
    }

    /// Decodes to sRGB, with at least `min_side` pixels on the shorter side.
    pub fn decode(mut self, min_side: u32) -> Result<RgbImage, DecodeError> {
        let (width, height) = self.size();
        let factor = (width.min(height) / min_side.max(1)).clamp(1, 64);
        let rows = (BAND_PIXELS / width / factor).max(1) * factor;
        let _lock = lock_if_large(BYTES_PER_PIXEL * u64::from(width) * u64::from(rows.min(height)));
        let (deadline, mut pixels) = (Deadline::new(), Vec::new());
        for top in (0..height).step_by(rows as usize) {
            deadline.check()?;
            let band = CropInfo { width, height: rows.min(height - top), left: 0, top };
            pixels.extend_from_slice(self.decode_band(band, factor)?.as_raw());
        }
        RgbImage::from_raw(width.div_ceil(factor), height.div_ceil(factor), pixels)
            .ok_or_else(|| DecodeError("the decoder gave too few pixels".to_owned()))
    }

    fn decode_band(&mut self, band: CropInfo, factor: u32) -> Result<RgbImage, DecodeError> {
        self.0.set_image_region(band);
        let frame = self.0.render_frame(0);
        let frame = frame.map_err(|error| DecodeError(format!("damaged JPEG XL: {error}")))?;
        let mut stream = frame.stream();
        let color = match stream.channels() {
            1 => ColorType::L8,
            2 => ColorType::La8,
            3 => ColorType::Rgb8,
            _ => ColorType::Rgba8,
        };
        let size = (stream.width(), stream.height());
        let mut samples = vec![0_u8; (size.0 * size.1 * stream.channels()) as usize];
        stream.write_to_buffer(&mut samples);
        Ok(downscale(&samples, size, color, factor))
    }
}

//! Decodes whole pictures with the `image` crate: the first frame only, with bounded memory, and
//! downscaled at once if far fewer pixels are needed.

use std::{
    io::{Cursor, ErrorKind},
    sync::{Mutex, MutexGuard, PoisonError},
};

use image::{ColorType, ImageDecoder, ImageError, Limits, RgbImage, codecs, metadata::Orientation};

use crate::{
    color_profile::to_srgb,
    error::{DecodeError, check_size},
    format::PictureFormat,
    tone_map::to_eight_bits,
};

/// The most memory that decoding a picture may take.
pub const MAX_DECODE_BYTES: u64 = 256 << 20;
/// Pictures that need more memory than this are decoded one at a time.
const LARGE_PICTURE_BYTES: u64 = 64 << 20;
/// The most memory of a decoder besides the pixels: profiles, rows, palettes.
pub const MAX_DECODER_BYTES: u64 = 16 << 20;
/// The background of transparent parts: dark and light drawings are both visible on it.
const BACKGROUND: u32 = 0x80;

static LARGE_PICTURE_LOCK: Mutex<()> = Mutex::new(());

/// A picture whose header was read.
pub struct RasterDecoder<'a> {
    decoder: Box<dyn ImageDecoder + 'a>,
    format: PictureFormat,
}

impl<'a> RasterDecoder<'a> {
    pub fn open(bytes: &'a [u8], format: PictureFormat) -> Result<Self, DecodeError> {
        let opened = open_decoder(Cursor::new(bytes), format);
        let mut decoder = opened.map_err(|error| decode_error(format, &error))?;
        check_size(decoder.dimensions())?;
        let limited = decoder.set_limits(memory_limit(MAX_DECODE_BYTES));
        limited.map_err(|error| decode_error(format, &error))?;
        Ok(Self { decoder, format })
    }

    /// Width and height as stored.
    pub fn size(&self) -> (u32, u32) {
        self.decoder.dimensions()
    }

    /// The stored orientation; invalid metadata is ignored.
    pub fn orientation(&mut self) -> Orientation {
        self.decoder.orientation().unwrap_or(Orientation::NoTransforms)
    }

    /// The blocks of Exif, XMP and IPTC; invalid ones are ignored.
    pub fn metadata_blocks(&mut self) -> [Option<Vec<u8>>; 3] {
        let read = [
            self.decoder.exif_metadata(),
            self.decoder.xmp_metadata(),
            self.decoder.iptc_metadata(),
        ];
        read.map(|block| block.ok().flatten())
    }

    /// Decodes the first frame to sRGB, with at least `min_side` pixels on the shorter side.
    pub fn decode(mut self, min_side: u32) -> Result<RgbImage, DecodeError> {
        let _lock = lock_memory(self.estimated_bytes())?;
        let profile = self.color_profile();
        let mut picture = self.decode_stored_colors(min_side)?;
        if let Some(profile) = profile {
            to_srgb(&mut picture, &profile);
        }
        Ok(picture)
    }

    /// The ICC profile; an invalid one is ignored.
    fn color_profile(&mut self) -> Option<Vec<u8>> {
        self.decoder.icc_profile().ok().flatten()
    }

    fn decode_stored_colors(self, min_side: u32) -> Result<RgbImage, DecodeError> {
        let (size, mut color) = (self.size(), self.decoder.color_type());
        let total = usize::try_from(self.decoder.total_bytes()).unwrap_or(usize::MAX);
        let mut samples = vec![0; total];
        let decoded = self.decoder.read_image_boxed(&mut samples);
        decoded.map_err(|error| decode_error(self.format, &error))?;
        if matches!(color, ColorType::Rgb32F | ColorType::Rgba32F) {
            samples = to_eight_bits(&native_floats(&samples), color.channel_count().into());
            color = if color.has_alpha() { ColorType::Rgba8 } else { ColorType::Rgb8 };
        }
        to_picture(samples, size, color, min_side)
    }

    /// An upper bound of the peak memory.
    fn estimated_bytes(&self) -> u64 {
        let (width, height) = self.decoder.dimensions();
        let pixels = u64::from(width) * u64::from(height);
        let inside = match self.format {
            // All coefficients of a progressive JPEG; the samples of the others with eight bits.
            PictureFormat::Jpeg | PictureFormat::Hdr | PictureFormat::OpenExr => {
                2 * self.decoder.total_bytes()
            }
            PictureFormat::WebP => 4 * pixels,
            PictureFormat::Gif => pixels,
            _ => 0,
        };
        self.decoder.total_bytes() + inside
    }
}

/// Refuses to decode a picture for which more memory is needed than the limit, and waits for others if it is large.
pub fn lock_memory(needed: u64) -> Result<Option<MutexGuard<'static, ()>>, DecodeError> {
    if needed > MAX_DECODE_BYTES {
        return Err(DecodeError(format!(
            "opening it needs {} MiB, over the limit of {} MiB",
            needed >> 20,
            MAX_DECODE_BYTES >> 20
        )));
    }
    Ok(lock_if_large(needed))
}

/// Locks the decoding of large pictures, if decoding this one needs so much memory (in bytes): one at a time.
pub fn lock_if_large(needed: u64) -> Option<MutexGuard<'static, ()>> {
    // The lock guards no data that a panic could leave inconsistent.
    (needed > LARGE_PICTURE_BYTES)
        .then(|| LARGE_PICTURE_LOCK.lock().unwrap_or_else(PoisonError::into_inner))
}

fn open_decoder<'a>(
    reader: Cursor<&'a [u8]>,
    format: PictureFormat,
) -> Result<Box<dyn ImageDecoder + 'a>, ImageError> {
    Ok(match format {
        // Needs the limit at once: it unpacks a color profile while opening.
        PictureFormat::Png => {
            let limits = memory_limit(MAX_DECODER_BYTES);
            Box::new(codecs::png::PngDecoder::with_limits(reader, limits)?)
        }
        PictureFormat::WebP => Box::new(codecs::webp::WebPDecoder::new(reader)?),
        PictureFormat::Gif => Box::new(codecs::gif::GifDecoder::new(reader)?),
        PictureFormat::Bmp => Box::new(codecs::bmp::BmpDecoder::new(reader)?),
        PictureFormat::Qoi => Box::new(codecs::qoi::QoiDecoder::new(reader)?),
        PictureFormat::Pnm => Box::new(codecs::pnm::PnmDecoder::new(reader)?),
        PictureFormat::Ico => Box::new(codecs::ico::IcoDecoder::new(reader)?),
        PictureFormat::Hdr => Box::new(codecs::hdr::HdrDecoder::new(reader)?),
        PictureFormat::OpenExr => Box::new(codecs::openexr::OpenExrDecoder::new(reader)?),
        _ => Box::new(codecs::jpeg::JpegDecoder::new(reader)?),
    })
}

/// The samples of a decoder, which are in native byte order.
fn native_floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|sample| f32::from_ne_bytes(*sample)).collect()
}

/// No limits of the size: [`check_size`] reports a large side more clearly than the decoders.
pub fn memory_limit(bytes: u64) -> Limits {
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(bytes);
    limits
}

fn decode_error(format: PictureFormat, error: &ImageError) -> DecodeError {
    let name = format.name();
    DecodeError(match error {
        ImageError::IoError(cause) if cause.kind() == ErrorKind::UnexpectedEof => {
            format!("truncated {name}")
        }
        ImageError::Limits(_) => format!("{name} needs more memory than the limit"),
        ImageError::Unsupported(_) => format!("a kind of {name} that cannot be opened: {error}"),
        _ => format!("damaged {name}: {error}"),
    })
}

/// Makes a picture of samples, with at least `min_side` pixels on the shorter side, and blended with the background.
pub fn to_picture(
    samples: Vec<u8>,
    size: (u32, u32),
    color: ColorType,
    min_side: u32,
) -> Result<RgbImage, DecodeError> {
    let factor = (size.0.min(size.1) / min_side.max(1)).clamp(1, 64);
    if factor == 1 && color == ColorType::Rgb8 {
        return RgbImage::from_raw(size.0, size.1, samples)
            .ok_or_else(|| DecodeError("the decoder gave too few pixels".to_owned()));
    }
    Ok(downscale(&samples, size, color, factor))
}

/// Averages squares of `factor` x `factor` pixels (fewer at the right and bottom edge), blended with
/// the background.
pub fn downscale(
    samples: &[u8],
    (width, height): (u32, u32),
    color: ColorType,
    factor: u32,
) -> RgbImage {
    let channels = usize::from(color.channel_count());
    let depth = usize::from(color.bytes_per_pixel()) / channels;
    // The upper eight of 16 bits, in native byte order.
    let top = usize::from(depth == 2 && cfg!(target_endian = "little"));
    let mut picture = RgbImage::new(width.div_ceil(factor), height.div_ceil(factor));
    let row_bytes = width as usize * channels * depth;
    let mut sums = vec![PixelSum::default(); picture.width() as usize];
    let bands = samples.chunks(row_bytes * factor as usize);
    for (band, out) in bands.zip(picture.rows_mut()) {
        sums.fill(PixelSum::default());
        for row in band.chunks_exact(row_bytes) {
            for (square, sum) in row.chunks(channels * depth * factor as usize).zip(&mut sums) {
                for pixel in square.chunks_exact(channels * depth) {
                    sum.add(|channel| u32::from(pixel[channel * depth + top]), channels);
                }
            }
        }
        for (sum, pixel) in sums.iter().zip(out) {
            pixel.0 = sum.mean();
        }
    }
    picture
}

/// The sum of up to 64 x 64 pixels, weighted by opacity.
#[derive(Clone, Copy, Default)]
struct PixelSum {
    color: [u32; 3],
    opacity: u32,
    pixels: u32,
}

impl PixelSum {
    /// Adds a gray or RGB pixel with or without alpha.
    #[inline]
    fn add(&mut self, sample: impl Fn(usize) -> u32, channels: usize) {
        let alpha = if channels.is_multiple_of(2) { sample(channels - 1) } else { 255 };
        for (channel, light) in self.color.iter_mut().enumerate() {
            *light += alpha * sample(if channels < 3 { 0 } else { channel });
        }
        self.opacity += alpha;
        self.pixels += 1;
    }

    fn mean(self) -> [u8; 3] {
        let full = 255 * self.pixels.max(1);
        let behind = BACKGROUND * (full - self.opacity.min(full));
        #[expect(clippy::cast_possible_truncation, reason = "both parts are at most 255 full")]
        self.color.map(|light| ((light + behind + full / 2) / full) as u8)
    }
}

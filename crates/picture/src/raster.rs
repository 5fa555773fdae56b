//! Decodes pictures with the `image` crate: the first frame only, with bounded memory. The picture is downscaled at
//! once if far fewer pixels are needed. ICO files, and files that lack only their end, are first put into a form that the
//! crate decodes.

use std::{borrow::Cow, io::ErrorKind};

use crate::{
    format::PictureFormat,
    limits::{
        Deadline, DecodeError, MAX_DECODE_BYTES, MAX_DECODER_BYTES, TimedReader, check_size,
        lock_memory, memory_limit,
    },
    png_chunks::{self, with_end},
    source_colors::{SourceColors, png_colors, to_srgb, translucent_to_srgb},
    tiff_structure::exif_orientation,
    tone_map::to_eight_bits,
};
use image::{ColorType, ImageDecoder, ImageError, RgbImage, codecs, metadata::Orientation};

/// The background for transparent parts. Dark and light drawings are both visible on this gray.
const BACKGROUND: u32 = 0x80;

/// A picture whose header has been read.
pub struct RasterDecoder<'a> {
    decoder: Box<dyn ImageDecoder + 'a>,
    bytes: Cow<'a, [u8]>,
    format: PictureFormat,
    deadline: Deadline,
}

impl<'a> RasterDecoder<'a> {
    pub fn open(bytes: &'a [u8], format: PictureFormat) -> Result<Self, DecodeError> {
        let deadline = Deadline::new();
        let (bytes, format) = readable(bytes, format);
        let open = |bytes| open_decoder(TimedReader::new(bytes, deadline.clone()), format);
        let opened = open(bytes.clone()).or_else(|error| match format {
            PictureFormat::Png => open(Cow::Owned(png_chunks::without_descriptions(&bytes))),
            _ => Err(error),
        });
        let mut decoder = opened.map_err(|error| decode_error(format, &error))?;
        check_size(decoder.dimensions())?;
        let limited = decoder.set_limits(memory_limit(MAX_DECODE_BYTES));
        limited.map_err(|error| decode_error(format, &error))?;
        Ok(Self { decoder, bytes, format, deadline })
    }

    /// Width and height as stored.
    pub fn size(&self) -> (u32, u32) {
        self.decoder.dimensions()
    }

    /// Returns the stored orientation. Invalid metadata is ignored.
    pub fn orientation(&mut self) -> Orientation {
        let exif = self.exif();
        exif.and_then(|exif| exif_orientation(&exif)).unwrap_or(Orientation::NoTransforms)
    }

    /// Returns the Exif fields.
    fn exif(&mut self) -> Option<Vec<u8>> {
        if self.format == PictureFormat::Png {
            // The decoder does not find fields that follow the pixels.
            return png_chunks::exif(&self.bytes).map(Cow::into_owned);
        }
        self.decoder.exif_metadata().ok().flatten()
    }

    /// Returns the blocks of Exif, XMP and IPTC. Invalid blocks are ignored.
    pub fn metadata_blocks(&mut self) -> [Option<Vec<u8>>; 3] {
        let [xmp, iptc] = [self.decoder.xmp_metadata(), self.decoder.iptc_metadata()]
            .map(|block| block.ok().flatten());
        [self.exif(), xmp, iptc]
    }

    /// Decodes the first frame to sRGB, with at least `min_side` pixels on the shorter side.
    pub fn decode(mut self, min_side: u32) -> Result<RgbImage, DecodeError> {
        let _lock = lock_memory(self.estimated_bytes())?;
        self.deadline.restart();
        let colors = self.source_colors();
        let (size, mut color) = (self.size(), self.decoder.color_type());
        let total = usize::try_from(self.decoder.total_bytes()).unwrap_or(usize::MAX);
        // A file whose end was added was cut off, and lacks pixels if a decoder fails.
        let has_added_end =
            !matches!(self.format, PictureFormat::Ico | PictureFormat::Gif | PictureFormat::Jpeg);
        let is_cut = has_added_end && matches!(self.bytes, Cow::Owned(_));
        let mut samples = vec![0; total];
        if let Err(error) = self.decoder.read_image_boxed(&mut samples) {
            // The deadline is checked first, because decoders report a failed read as various errors.
            self.deadline.check()?;
            return Err(if is_cut {
                DecodeError(format!("truncated {}", self.format.name()))
            } else {
                decode_error(self.format, &error)
            });
        }
        if matches!(color, ColorType::Rgb32F | ColorType::Rgba32F) {
            let mut light = native_floats(&samples);
            if color.has_alpha() {
                divide_light_by_alpha(&mut light);
            }
            samples = to_eight_bits(&light, color.channel_count().into());
            color = if color.has_alpha() { ColorType::Rgba8 } else { ColorType::Rgb8 };
        }
        if matches!(self.format, PictureFormat::Bmp | PictureFormat::Ico) {
            show_unused_alpha(&mut samples, color);
        }
        to_picture(samples, size, color, min_side, colors.as_ref())
    }

    /// Returns what the file says about its colors. An invalid ICC profile is ignored.
    pub fn source_colors(&mut self) -> Option<SourceColors> {
        let profile = self.decoder.icc_profile().ok().flatten();
        match self.format {
            PictureFormat::Png => png_colors(&self.bytes, profile),
            PictureFormat::Bmp => bmp_profile(&self.bytes).map(SourceColors::Profile),
            _ => profile.map(SourceColors::Profile),
        }
    }

    /// Returns an upper bound for the peak memory.
    fn estimated_bytes(&self) -> u64 {
        let (width, height) = self.decoder.dimensions();
        let pixels = u64::from(width) * u64::from(height);
        let inside = match self.format {
            // A progressive JPEG needs all coefficients; HDR and OpenEXR need the samples converted to eight bits.
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

/// Returns the bytes and the format that a decoder can read: the largest picture of an ICO, and a file with its end.
fn readable(bytes: &[u8], format: PictureFormat) -> (Cow<'_, [u8]>, PictureFormat) {
    match format {
        PictureFormat::Png => (with_end(bytes), format),
        PictureFormat::Ico => match largest_picture(bytes) {
            Some(picture) => {
                let format = PictureFormat::detect(&picture).unwrap_or(format);
                let completed = match &picture {
                    Cow::Borrowed(bytes) if format == PictureFormat::Png => with_end(bytes),
                    _ => picture,
                };
                (completed, format)
            }
            None => (Cow::Borrowed(bytes), format),
        },
        PictureFormat::Qoi if !bytes.ends_with(&QOI_END) => {
            (Cow::Owned([bytes, &QOI_END].concat()), format)
        }
        PictureFormat::Bmp => match with_usual_header(bytes) {
            Some(file) => (Cow::Owned(with_padding(&file).into_owned()), format),
            None => (with_padding(bytes), format),
        },
        PictureFormat::Gif => (with_room_for_frame(bytes), format),
        _ => (Cow::Borrowed(bytes), format),
    }
}

fn open_decoder<'a>(
    reader: TimedReader<Cow<'a, [u8]>>,
    format: PictureFormat,
) -> Result<Box<dyn ImageDecoder + 'a>, ImageError> {
    Ok(match format {
        // This decoder needs the limit when it is created, because it unpacks a color profile while opening.
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
        PictureFormat::Hdr => Box::new(codecs::hdr::HdrDecoder::new_nonstrict(reader)?),
        PictureFormat::OpenExr => Box::new(codecs::openexr::OpenExrDecoder::new(reader)?),
        _ => Box::new(codecs::jpeg::JpegDecoder::new(reader)?),
    })
}

/// Divides colors by their alpha, with which the colors of an `OpenEXR` file are always multiplied.
fn divide_light_by_alpha(samples: &mut [f32]) {
    for [colors @ .., alpha] in samples.as_chunks_mut::<4>().0 {
        if *alpha > 0.0 {
            for color in colors {
                *color /= *alpha;
            }
        }
    }
}

/// Converts the samples of a decoder, which are in native byte order.
fn native_floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|sample| f32::from_ne_bytes(*sample)).collect()
}

const NO_RGB_CHANNELS: &str = "image does not contain non-deep rgb channels";

fn decode_error(format: PictureFormat, error: &ImageError) -> DecodeError {
    let name = format.name();
    DecodeError(match error {
        ImageError::IoError(cause) if cause.kind() == ErrorKind::UnexpectedEof => {
            format!("truncated {name}")
        }
        ImageError::Limits(_) => format!("{name} needs more memory than the limit"),
        // The decoder of OpenEXR calls all other channels a damage.
        ImageError::Decoding(_)
            if format == PictureFormat::OpenExr && error.to_string().ends_with(NO_RGB_CHANNELS) =>
        {
            format!("a kind of {name} that cannot be opened: no channels R, G and B")
        }
        ImageError::Unsupported(_) => format!("a kind of {name} that cannot be opened: {error}"),
        _ => format!("damaged {name}: {error}"),
    })
}

/// Makes a picture opaque whose alpha is 0 everywhere, as other programs do, because many programs write zeros into the
/// fourth byte of a pixel.
fn show_unused_alpha(samples: &mut [u8], color: ColorType) {
    let pixels = samples.as_chunks_mut::<4>().0;
    if color == ColorType::Rgba8 && pixels.iter().all(|pixel| pixel[3] == 0) {
        for pixel in pixels {
            pixel[3] = u8::MAX;
        }
    }
}

/// Makes an sRGB picture from samples with the given colors (sRGB if `None`). The shorter side has at least `min_side`
/// pixels, and transparent parts are blended with the background.
pub fn to_picture(
    mut samples: Vec<u8>,
    size: (u32, u32),
    mut color: ColorType,
    min_side: u32,
    mut colors: Option<&SourceColors>,
) -> Result<RgbImage, DecodeError> {
    let is_converted_first =
        |colors: &&SourceColors| !colors.needs_whole_picture() && is_translucent(&samples, color);
    if let Some(translucent) = colors.filter(is_converted_first) {
        // The colors are converted before blending, because the background is sRGB and not in the colors of the file.
        (samples, color) = (to_rgba8(samples, color), ColorType::Rgba8);
        translucent_to_srgb(&mut samples, size.0 as usize, translucent);
        colors = None;
    }
    let factor = (size.0.min(size.1) / min_side.max(1)).clamp(1, 64);
    let mut picture = if factor == 1 && color == ColorType::Rgb8 {
        RgbImage::from_raw(size.0, size.1, samples)
            .ok_or_else(|| DecodeError("the decoder gave too few pixels".to_owned()))?
    } else {
        downscale(&samples, size, color, factor)
    };
    if let Some(colors) = colors {
        to_srgb(&mut picture, colors);
    }
    Ok(picture)
}

/// Returns the number of channels per pixel, the number of bytes per sample, and the index of the upper byte, which
/// depends on the native byte order.
fn sample_layout(color: ColorType) -> (usize, usize, usize) {
    let channels = usize::from(color.channel_count());
    let depth = usize::from(color.bytes_per_pixel()) / channels;
    (channels, depth, usize::from(depth == 2 && cfg!(target_endian = "little")))
}

fn is_translucent(samples: &[u8], color: ColorType) -> bool {
    let (channels, depth, top) = sample_layout(color);
    let mut alphas =
        samples.chunks_exact(channels * depth).map(|p| p[(channels - 1) * depth + top]);
    color.has_alpha() && alphas.any(|alpha| alpha < u8::MAX)
}

/// Converts gray or RGB samples with alpha to red, green, blue and alpha of eight bits each.
fn to_rgba8(samples: Vec<u8>, color: ColorType) -> Vec<u8> {
    if color == ColorType::Rgba8 {
        return samples;
    }
    let (channels, depth, top) = sample_layout(color);
    let pixels = samples.chunks_exact(channels * depth).flat_map(|pixel| {
        let sample = |channel: usize| pixel[channel * depth + top];
        let color = [0, 1, 2].map(|channel| sample(if channels < 3 { 0 } else { channel }));
        [color[0], color[1], color[2], sample(channels - 1)]
    });
    pixels.collect()
}

/// Averages squares of `factor` x `factor` pixels and blends them with the background. Squares at the right and bottom
/// edge may have fewer pixels.
pub fn downscale(
    samples: &[u8],
    (width, height): (u32, u32),
    color: ColorType,
    factor: u32,
) -> RgbImage {
    let (channels, depth, top) = sample_layout(color);
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
    /// Adds a gray or RGB pixel, with or without alpha.
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

const HEADER_LENGTH: usize = 6;
const ENTRY_LENGTH: usize = 16;

/// Returns the largest picture: a PNG, or an ICO with only this picture. Returns `None` if the file is damaged.
pub fn largest_picture(bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
    let (header, rest) = bytes.split_first_chunk::<HEADER_LENGTH>()?;
    let count = usize::from(u16::from_le_bytes([header[4], header[5]]));
    let entries = rest.as_chunks::<ENTRY_LENGTH>().0;
    // `max_by_key` returns the last maximum, so the order is reversed to take the first of equal pictures.
    let entry = entries.get(..count)?.iter().rev().max_by_key(|entry| {
        // A side of 256 pixels is stored as 0.
        let side = |stored: u8| if stored == 0 { 256 } else { u32::from(stored) };
        (side(entry[0]) * side(entry[1]), u16::from_le_bytes([entry[6], entry[7]]))
    })?;
    let number = |at| little_endian(entry, at);
    let rest = bytes.get(number(12)?..)?;
    // The last picture may be cut off.
    let picture = rest.get(..number(8)?).unwrap_or(rest);
    if picture.starts_with(b"\x89PNG") {
        return Some(Cow::Borrowed(picture));
    }
    let picture = with_mask(picture).map_or(Cow::Borrowed(picture), Cow::Owned);
    let [length, offset] = [picture.len(), HEADER_LENGTH + ENTRY_LENGTH].map(u32::try_from);
    let place = [length.ok()?, offset.ok()?].map(u32::to_le_bytes);
    let parts = [&header[..4], &[1, 0], &entry[..8], place.as_flattened(), &picture];
    Some(Cow::Owned(parts.concat()))
}

/// Returns a bitmap of an ICO with a complete mask, because some programs omit the mask or cut it off. As in other
/// programs, the mask of a bitmap with alpha hides nothing. Returns `None` for a bitmap that is compressed or damaged.
fn with_mask(bitmap: &[u8]) -> Option<Vec<u8>> {
    let number = |at| little_endian(bitmap, at);
    let (header, width, height, bits) = (number(0)?, number(4)?, number(8)? / 2, number(12)? >> 16);
    let colors = match number(32)? {
        _ if bits > 8 => 0,
        0 => 1 << bits,
        colors => colors,
    };
    let is_plain = number(16)? == 0 && [header, width, height, colors].iter().all(|it| *it <= 256);
    is_plain.then_some(())?;
    let [row, mask_row] = [bits, 1].map(|bits| (width * bits).div_ceil(32) * 4);
    let start = header + 4 * colors;
    let (pixels, mask) = bitmap.split_at_checked(start + row * height)?;
    let has_alpha = bits == 32 && pixels[start..].chunks_exact(4).any(|pixel| pixel[3] > 0);
    let mask = if has_alpha { &[] } else { &mask[..mask.len().min(mask_row * height)] };
    let mut complete = [pixels, mask].concat();
    complete.resize(pixels.len() + mask_row * height, 0);
    Some(complete)
}

/// Returns a GIF whose screen is large enough for its first frame, because the decoder would otherwise show only a part
/// of the frame.
pub fn with_room_for_frame(gif: &[u8]) -> Cow<'_, [u8]> {
    match screen_with_room(gif) {
        Some(screen) => {
            let sides = screen.map(u16::to_le_bytes);
            Cow::Owned([&gif[..6], sides.as_flattened(), &gif[10..]].concat())
        }
        None => Cow::Borrowed(gif),
    }
}

/// Returns the width and height that the screen of a GIF needs. Returns `None` if it has them.
fn screen_with_room(gif: &[u8]) -> Option<[u16; 2]> {
    let short = |at: usize| gif.get(at..)?.first_chunk().map(|bytes| u16::from_le_bytes(*bytes));
    let flags = *gif.get(10).filter(|_| gif.starts_with(b"GIF"))?;
    // The colors of all frames follow the header.
    let mut at = 13 + if flags >> 7 == 1 { 6 << (flags & 7) } else { 0 };
    while gif.get(at) == Some(&b'!') {
        at += 2;
        while let length @ 1.. = usize::from(*gif.get(at)?) {
            at += 1 + length;
        }
        at += 1;
    }
    (gif.get(at) == Some(&b',')).then_some(())?;
    let screen = [short(6)?, short(8)?];
    let needed = [
        short(at + 1)?.saturating_add(short(at + 5)?).max(screen[0]),
        short(at + 3)?.saturating_add(short(at + 7)?).max(screen[1]),
    ];
    (needed != screen).then_some(needed)
}

const QOI_END: [u8; 8] = [0, 0, 0, 0, 0, 0, 0, 1];

/// Returns an uncompressed BMP with the padding of its last row, which some programs omit.
fn with_padding(bytes: &[u8]) -> Cow<'_, [u8]> {
    match missing_padding(bytes) {
        Some(missing) => Cow::Owned([bytes, &vec![0; missing]].concat()),
        None => Cow::Borrowed(bytes),
    }
}

fn missing_padding(bytes: &[u8]) -> Option<usize> {
    let number = |at| little_endian(bytes, at);
    let height =
        usize::try_from(i32::from_le_bytes(*bytes.get(22..)?.first_chunk()?).unsigned_abs());
    // The number of bits follows the number of planes, which is 1.
    let bits = number(26)? >> 16;
    let row = number(18)?.checked_mul(bits)?.div_ceil(8);
    let stride = row.checked_next_multiple_of(4)?;
    let missing =
        number(10)?.checked_add(stride.checked_mul(height.ok()?)?)?.checked_sub(bytes.len())?;
    let is_plain = number(14)? >= 40 && number(30)? == 0;
    (is_plain && (1..=stride - row).contains(&missing)).then_some(missing)
}

/// The lengths of the second header of Windows, and of OS/2 2, which begins in the same way.
const WINDOWS_HEADER: u8 = 40;
const OS2_HEADER: usize = 64;
/// The compressions above this number differ between Windows and OS/2.
const MAX_COMMON_COMPRESSION: usize = 2;

/// Returns a BMP of OS/2 2 with the header of Windows, because the decoder does not know the other one.
fn with_usual_header(bytes: &[u8]) -> Option<Vec<u8>> {
    let number = |at| little_endian(bytes, at);
    if number(BMP_FIRST_HEADER)? != OS2_HEADER || number(30)? > MAX_COMMON_COMPRESSION {
        return None;
    }
    let (usual, removed) = (BMP_FIRST_HEADER + usize::from(WINDOWS_HEADER), OS2_HEADER - 40);
    let mut file = [bytes.get(..usual)?, bytes.get(usual + removed..)?].concat();
    let pixels = u32::try_from(number(10)?.checked_sub(removed)?).ok()?;
    file[10..14].copy_from_slice(&pixels.to_le_bytes());
    file[BMP_FIRST_HEADER] = WINDOWS_HEADER;
    Some(file)
}

/// The positions of the color space and of the profile in a BMP, whose first header has 14 bytes.
const BMP_COLOR_SPACE: usize = 70;
const BMP_PROFILE: usize = 126;
const BMP_FIRST_HEADER: usize = 14;

/// Returns the ICC profile in a BMP of version 5.
fn bmp_profile(bytes: &[u8]) -> Option<Vec<u8>> {
    let number = |at| little_endian(bytes, at);
    // The name of this color space is stored as a number.
    if number(BMP_FIRST_HEADER)? < 124 || bytes.get(BMP_COLOR_SPACE..)?.get(..4)? != b"DEBM" {
        return None;
    }
    // The offset is counted from the second header.
    let profile = bytes.get(BMP_FIRST_HEADER.checked_add(number(BMP_PROFILE)?)?..)?;
    profile.get(..number(BMP_PROFILE + 4)?).map(<[u8]>::to_vec)
}

/// Returns the number of four bytes at `at`, the lowest byte first.
fn little_endian(bytes: &[u8], at: usize) -> Option<usize> {
    let number = bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))?;
    usize::try_from(number).ok()
}

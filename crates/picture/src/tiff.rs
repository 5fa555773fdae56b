//! Decodes the first page of a TIFF with samples of any type and number of bits. The crate that `image` uses is called
//! directly, because `image` converts CMYK without its profile, and refuses palettes, gray samples of few or many bits,
//! gray with alpha, and the colors of JPEG.

use std::borrow::Cow;

use image::{ColorType, RgbImage, metadata::Orientation};
use tiff::{
    ColorType as StoredColor, TiffError,
    decoder::{Decoder, DecodingResult, Limits},
    tags::Tag,
};

use crate::{
    cmyk::convert_cmyk_rows,
    jpeg::{segments_before_scan, ycbcr_to_rgb},
    limits::{
        Deadline, DecodeError, MAX_DECODE_BYTES, MAX_DECODER_BYTES, TimedReader, check_size,
        lock_memory,
    },
    raster::to_picture,
    source_colors::SourceColors,
    tiff_structure::TiffStructure,
    tone_map::to_eight_bits,
};

const PHOTOMETRIC: u16 = 0x0106;
const XMP: u16 = 0x02BC;
const PROFILE: u16 = 0x8773;
const IPTC: u16 = 0x83BB;
/// Values of the photometric interpretation.
const BLACK_IS_ZERO: u8 = 1;
const PALETTE: u16 = 3;
/// The kind of alpha with which the colors are multiplied already.
const ASSOCIATED_ALPHA: u16 = 1;
const JPEG_COMPRESSION: u16 = 7;
/// A JPEG in a TIFF consists of whole blocks, so it may be larger than its part of the page by up to this number of
/// pixels.
const MAX_JPEG_PADDING: u64 = 64;

/// A page whose fields have been read.
pub struct Tiff<'a> {
    bytes: &'a [u8],
    decoder: Decoder<TimedReader<Cow<'a, [u8]>>>,
    deadline: Deadline,
    size: (u32, u32),
    /// The colors of the palette, if the samples are indices into a palette.
    palette: Option<Vec<[u8; 3]>>,
}

impl<'a> Tiff<'a> {
    pub fn open(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let deadline = Deadline::new();
        let mut decoder = open(Cow::Borrowed(bytes), &deadline)?;
        let size = decoder.dimensions().map_err(|error| tiff_error(&error))?;
        check_size(size)?;
        let mut palette = None;
        if let Ok(Some(PALETTE)) = decoder.find_tag_unsigned(Tag::PhotometricInterpretation) {
            palette = Some(read_palette(&mut decoder)?);
            decoder = open(Cow::Owned(as_gray(bytes)?), &deadline)?;
        }
        Ok(Self { bytes, decoder, deadline, size, palette })
    }

    /// Width and height as stored.
    pub fn size(&self) -> (u32, u32) {
        self.size
    }

    /// Returns the stored orientation. An invalid orientation is ignored.
    pub fn orientation(&mut self) -> Orientation {
        let stored = self.decoder.find_tag_unsigned(Tag::Orientation).ok().flatten();
        stored.and_then(Orientation::from_exif).unwrap_or(Orientation::NoTransforms)
    }

    /// Returns the XMP packet.
    pub fn xmp(&mut self) -> Option<Vec<u8>> {
        self.block(XMP)
    }

    /// Returns the IPTC records.
    pub fn iptc(&mut self) -> Option<Vec<u8>> {
        self.block(IPTC)
    }

    /// Returns the bytes of a field.
    fn block(&mut self, tag: u16) -> Option<Vec<u8>> {
        // The structure is read first, because the decoder reads only fields of type byte, and most files give these
        // fields an undefined type.
        if let Some((structure, first)) = TiffStructure::open(self.bytes)
            && let Some(block) = structure.bytes(first, tag)
        {
            return Some(block.to_vec());
        }
        self.decoder.get_tag_u8_vec(Tag::Unknown(tag)).ok()
    }

    /// Decodes the page to sRGB, with at least `min_side` pixels on the shorter side.
    pub fn decode(mut self, min_side: u32) -> Result<RgbImage, DecodeError> {
        let color = self.decoder.colortype().map_err(|error| tiff_error(&error))?;
        let layout = self.decoder.image_buffer_layout().map_err(|error| tiff_error(&error))?;
        let channels = usize::from(color.num_samples());
        if layout.planes > 1 && (color.bit_depth() < 8 || layout.planes < channels) {
            return Err(DecodeError("a kind of TIFF that cannot be opened: planes".to_owned()));
        }
        let pixels = u64::from(self.size.0) * u64::from(self.size.1);
        // The memory for the stored samples, and twice the memory for the samples that are made from them. A sample of
        // light has four bytes.
        let bytes_per_sample = if color.bit_depth() > 16 { 5 } else { 2 };
        let made = bytes_per_sample * pixels * u64::from(color.num_samples().max(3));
        let _lock = lock_memory((layout.complete_len as u64).saturating_add(made))?;
        self.deadline.restart();
        self.check_jpegs()?;
        let mut stored = DecodingResult::U8(Vec::new());
        self.decoder.read_image_to_buffer(&mut stored).map_err(|error| tiff_error(&error))?;
        let samples = match stored {
            DecodingResult::U8(packed) if color.bit_depth() < 8 => {
                unpacked(&packed, self.size.0 as usize * channels, color.bit_depth())
            }
            stored => to_bytes(stored, layout.planes, channels),
        };
        self.srgb_picture(samples, color, min_side)
    }

    fn srgb_picture(
        mut self,
        mut samples: Vec<u8>,
        stored: StoredColor,
        min_side: u32,
    ) -> Result<RgbImage, DecodeError> {
        let colors = self.block(PROFILE).map(SourceColors::Profile);
        let width = self.size.0 as usize;
        let mut color = ColorType::Rgb8;
        match stored {
            StoredColor::Gray(_) if self.palette.is_some() => {
                let palette = self.palette.take().unwrap_or_default();
                let of =
                    |&number: &u8| palette.get(usize::from(number)).copied().unwrap_or_default();
                samples = samples.iter().flat_map(of).collect();
            }
            StoredColor::Gray(bits) => {
                scale_to_byte(&mut samples, bits);
                color = ColorType::L8;
            }
            StoredColor::Multiband { bit_depth, num_samples: 2 } => {
                scale_to_byte(&mut samples, bit_depth);
                color = ColorType::La8;
            }
            // Any other picture of many bands, such as one from a satellite, is drawn from its first three bands, as in
            // other programs.
            StoredColor::Multiband { num_samples, .. } => {
                let bands = samples.chunks_exact(num_samples.into());
                samples = bands.flat_map(|bands| [bands[0], bands[1], bands[2]]).collect();
            }
            StoredColor::RGBA(_) => color = ColorType::Rgba8,
            StoredColor::CMYK(_) => {
                convert_cmyk_rows(&mut samples, width, colors.as_ref(), |inks: [u8; 4]| inks);
            }
            StoredColor::CMYKA(_) => {
                let inks =
                    |[cyan, magenta, yellow, black, _]: [u8; 5]| [cyan, magenta, yellow, black];
                convert_cmyk_rows(&mut samples, width, colors.as_ref(), inks);
            }
            StoredColor::YCbCr(_) => {
                samples
                    .as_chunks_mut()
                    .0
                    .iter_mut()
                    .for_each(|color| *color = ycbcr_to_rgb(*color));
            }
            _ => {}
        }
        if color.has_alpha() && self.has_associated_alpha() {
            divide_by_alpha(&mut samples, color.channel_count().into());
        }
        to_picture(samples, self.size, color, min_side, colors.as_ref())
    }

    fn has_associated_alpha(&mut self) -> bool {
        let extra = self.decoder.find_tag_unsigned_vec(Tag::ExtraSamples);
        extra.ok().flatten().is_some_and(|kinds| kinds.first() == Some(&ASSOCIATED_ALPHA))
    }

    /// Refuses JPEGs that are larger than the parts of the page that they contain, because the decoder would allocate
    /// as much memory as they claim.
    fn check_jpegs(&mut self) -> Result<(), DecodeError> {
        let compression = self.decoder.find_tag_unsigned(Tag::Compression).ok().flatten();
        if compression != Some(JPEG_COMPRESSION) {
            return Ok(());
        }
        let (width, height) = self.decoder.chunk_dimensions();
        let max_size = [width, height].map(|side| u64::from(side) + MAX_JPEG_PADDING);
        let starts = [Tag::StripOffsets, Tag::TileOffsets]
            .into_iter()
            .find_map(|tag| self.decoder.find_tag_unsigned_vec::<u64>(tag).ok().flatten());
        let fits = |start: u64| {
            let part = usize::try_from(start).ok().and_then(|start| self.bytes.get(start..))?;
            let mut sizes = segments_before_scan(part).filter_map(jpeg_size).peekable();
            sizes.peek()?;
            sizes.all(|size| size[0] <= max_size[0] && size[1] <= max_size[1]).then_some(())
        };
        let damaged = || DecodeError("damaged TIFF: a JPEG that its part does not fit".to_owned());
        starts.unwrap_or_default().into_iter().try_for_each(|start| fits(start).ok_or_else(damaged))
    }
}

/// Returns the width and height that a segment of a JPEG claims.
fn jpeg_size((marker, body): (u8, &[u8])) -> Option<[u64; 2]> {
    let is_frame = matches!(marker, 0xC0..=0xCF) && !matches!(marker, 0xC4 | 0xC8 | 0xCC);
    let &[above, below, left, right] = body.get(1..5).filter(|_| is_frame)? else { return None };
    Some([[left, right], [above, below]].map(|side| u16::from_be_bytes(side).into()))
}

fn open<'a>(
    bytes: Cow<'a, [u8]>,
    deadline: &Deadline,
) -> Result<Decoder<TimedReader<Cow<'a, [u8]>>>, DecodeError> {
    let [pixels, others] = [MAX_DECODE_BYTES, MAX_DECODER_BYTES]
        .map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    let mut limits = Limits::default();
    limits.decoding_buffer_size = pixels;
    limits.intermediate_buffer_size = pixels;
    limits.ifd_value_size = others;
    let decoder = Decoder::new(TimedReader::new(bytes, deadline.clone()))
        .map_err(|error| tiff_error(&error))?;
    Ok(decoder.with_limits(limits))
}

/// Reads the colors of the palette. The field has all reds, then all greens and all blues, with 16 bits each.
fn read_palette(
    decoder: &mut Decoder<TimedReader<Cow<'_, [u8]>>>,
) -> Result<Vec<[u8; 3]>, DecodeError> {
    let stored = decoder.get_tag_u16_vec(Tag::ColorMap).map_err(|error| tiff_error(&error))?;
    // Some programs write eight bits instead of 16.
    let shift = if stored.iter().all(|&sample| sample < 256) { 0 } else { 8 };
    let count = stored.len() / 3;
    let sample = |index: usize| u8::try_from(stored[index] >> shift).unwrap_or(u8::MAX);
    Ok((0..count).map(|index| [0, count, 2 * count].map(|plane| sample(plane + index))).collect())
}

/// Returns a copy of the file whose palette indices are declared as gray samples, because the decoder does not read
/// palettes.
fn as_gray(bytes: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let found = TiffStructure::open(bytes)
        .and_then(|(structure, first)| structure.short_position(first, PHOTOMETRIC));
    let unknown = || DecodeError("a kind of TIFF that cannot be opened: a palette".to_owned());
    let at = found.ok_or_else(unknown)?;
    let mut bytes = bytes.to_vec();
    let value = bytes.get_mut(at..at + 2).ok_or_else(unknown)?;
    // In either byte order, one of the two bytes is zero, before and after the change.
    value.iter_mut().filter(|byte| **byte != 0).for_each(|byte| *byte = BLACK_IS_ZERO);
    Ok(bytes)
}

/// Scales samples of less than eight bits to eight bits.
fn scale_to_byte(samples: &mut [u8], bits: u8) {
    if bits < 8 {
        let factor = u8::MAX / ((1 << bits) - 1);
        for sample in samples {
            *sample = sample.saturating_mul(factor);
        }
    }
}

fn divide_by_alpha(samples: &mut [u8], channels: usize) {
    for pixel in samples.chunks_exact_mut(channels) {
        if let Some((alpha @ 1.., colors)) = pixel.split_last_mut() {
            for color in colors {
                let divided = u32::from(*color) * 255 / u32::from(*alpha);
                *color = u8::try_from(divided).unwrap_or(u8::MAX);
            }
        }
    }
}

fn tiff_error(error: &TiffError) -> DecodeError {
    DecodeError(match error {
        TiffError::IoError(cause) if cause.kind() == std::io::ErrorKind::UnexpectedEof => {
            "truncated TIFF".to_owned()
        }
        TiffError::IoError(cause) if cause.kind() == std::io::ErrorKind::TimedOut => {
            cause.to_string()
        }
        TiffError::LimitsExceeded => "TIFF needs more memory than the limit".to_owned(),
        TiffError::UnsupportedError(what) => {
            format!("a kind of TIFF that cannot be opened: {what}")
        }
        _ => format!("damaged TIFF: {error}"),
    })
}

/// Converts samples of whole bytes to eight bits, and interleaves the samples of each pixel. `planes` is the number of
/// planes that are stored one after the other, each with one sample of every pixel. Unsigned integers fill their range.
/// All other samples are light, which is tone-mapped.
fn to_bytes(stored: DecodingResult, planes: usize, channels: usize) -> Vec<u8> {
    let light = match stored {
        DecodingResult::U8(samples) => return interleaved(samples, planes, channels),
        DecodingResult::U16(samples) => {
            return first_bytes(samples, [planes, channels], u16::to_be_bytes);
        }
        DecodingResult::U32(samples) => {
            return first_bytes(samples, [planes, channels], u32::to_be_bytes);
        }
        DecodingResult::U64(samples) => {
            return first_bytes(samples, [planes, channels], u64::to_be_bytes);
        }
        DecodingResult::F32(samples) => interleaved(samples, planes, channels),
        DecodingResult::I8(samples) => to_light(samples, [planes, channels], f32::from),
        DecodingResult::I16(samples) => to_light(samples, [planes, channels], f32::from),
        DecodingResult::F16(samples) => to_light(samples, [planes, channels], f32::from),
        DecodingResult::I32(samples) => {
            to_light(samples, [planes, channels], |sample| approximate(sample.into()))
        }
        #[expect(clippy::cast_precision_loss, reason = "for eight bits")]
        DecodingResult::I64(samples) => {
            to_light(samples, [planes, channels], |sample| sample as f32)
        }
        DecodingResult::F64(samples) => to_light(samples, [planes, channels], approximate),
    };
    to_eight_bits(&light, channels)
}

/// Unpacks samples of less than eight bits. Each row starts with a new byte.
fn unpacked(packed: &[u8], samples_per_row: usize, bits: u8) -> Vec<u8> {
    let bits = usize::from(bits);
    let row_bytes = (samples_per_row * bits).div_ceil(8).max(1);
    let mut samples = Vec::with_capacity(packed.len() / row_bytes * samples_per_row);
    for row in packed.chunks_exact(row_bytes) {
        samples.extend((0..samples_per_row).map(|index| {
            let (at, skipped) = (index * bits / 8, index * bits % 8);
            let pair = [row[at], row.get(at + 1).copied().unwrap_or(0)];
            let [first, _] = (u16::from_be_bytes(pair) << skipped).to_be_bytes();
            first >> (8 - bits)
        }));
    }
    samples
}

fn first_bytes<T: Copy, const N: usize>(
    samples: Vec<T>,
    [planes, channels]: [usize; 2],
    bytes: fn(T) -> [u8; N],
) -> Vec<u8> {
    interleaved(samples.into_iter().map(|sample| bytes(sample)[0]).collect(), planes, channels)
}

fn to_light<T: Copy>(
    samples: Vec<T>,
    [planes, channels]: [usize; 2],
    light: impl Fn(T) -> f32,
) -> Vec<f32> {
    interleaved(samples.into_iter().map(light).collect(), planes, channels)
}

#[expect(clippy::cast_possible_truncation, reason = "for eight bits")]
fn approximate(sample: f64) -> f32 {
    sample as f32
}

fn interleaved<T: Copy>(samples: Vec<T>, planes: usize, channels: usize) -> Vec<T> {
    let length = samples.len() / planes.max(1);
    if planes <= 1 || length == 0 {
        return samples;
    }
    let planes: Vec<&[T]> = samples.chunks_exact(length).take(channels).collect();
    (0..length).flat_map(|pixel| planes.iter().map(move |plane| plane[pixel])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_few_bits_start_with_a_byte() {
        assert_eq!(unpacked(&[0b1010_0000, 0b0100_0000], 3, 1), [1, 0, 1, 0, 1, 0]);
        assert_eq!(unpacked(&[0x12, 0x30, 0x45, 0x60], 3, 4), [1, 2, 3, 4, 5, 6]);
        assert_eq!(unpacked(&[0b1100_1101, 0b1000_0000], 3, 3), [6, 3, 3]);
    }

    #[test]
    fn planes_become_pixels() {
        let planes = DecodingResult::U16(vec![0x0100, 0x0200, 0x0A00, 0x0B00, 0x1000, 0x1100]);
        assert_eq!(to_bytes(planes, 3, 3), [1, 10, 16, 2, 11, 17]);
    }

    #[test]
    fn whole_numbers_fill_their_range_and_light_is_encoded() {
        assert_eq!(to_bytes(DecodingResult::U32(vec![0, 1 << 31, u32::MAX]), 1, 1), [0, 128, 255]);
        assert_eq!(to_bytes(DecodingResult::F64(vec![-1.0, 0.5, 1.0]), 1, 1), [0, 188, 255]);
        let heights = to_bytes(DecodingResult::I16(vec![-5, 300, 3000]), 1, 1);
        assert!(heights.is_sorted() && heights[0] == 0 && heights[2] == 255, "{heights:?}");
    }
}

//! Decodes a page of a TIFF with samples of any type and number of bits. The crate that `image` uses is called
//! directly, because `image` converts CMYK without its profile, and refuses palettes, gray samples of few or many bits,
//! gray with alpha, and the colors of JPEG.

use std::{borrow::Cow, io::ErrorKind, slice::ChunksExact};

use image::{ColorType, RgbImage, metadata::Orientation};
use tiff::{
    ColorType as StoredColor, TiffError,
    decoder::{Decoder, DecodingResult, Limits, ifd::Value},
    tags::Tag,
};

use crate::{
    cmyk::convert_cmyk_rows,
    embedded_metadata::{IMAGE_RESOURCES, IPTC, XMP},
    jpeg::{MAX_SEGMENTS, segments_before_scan, ycbcr_to_rgb},
    limits::{
        Deadline, DecodeError, MAX_DECODE_BYTES, MAX_DECODER_BYTES, TimedReader, check_size,
        lock_memory,
    },
    raster::to_picture,
    source_colors::SourceColors,
    tiff_chunks::{FLOAT, TiffChunks, chunk_lengths, chunk_starts, unpacked},
    tiff_samples::{Samples, StatedRange, divide_by_alpha, interleaved, scale_to_byte},
    tiff_structure::{TiffDirectory, TiffStructure},
};

const PHOTOMETRIC: u16 = 0x0106;
const STRIP_STARTS: u16 = 0x0111;
const STRIP_LENGTHS: u16 = 0x0117;
const TILE_WIDTH: u16 = 0x0142;
const TILE_STARTS: u16 = 0x0144;
const TILE_LENGTHS: u16 = 0x0145;
const PROFILE: u16 = 0x8773;
/// The lengths of the parts of the metadata of `ImageJ`, and these parts.
const IMAGEJ_LENGTHS: Tag = Tag::Unknown(50_838);
const IMAGEJ_METADATA: u16 = 50_839;
/// Values of the photometric interpretation.
const WHITE_IS_ZERO: u16 = 0;
const BLACK_IS_ZERO: u16 = 1;
const PALETTE: u16 = 3;
/// The kinds of extra samples that are alpha. The colors are multiplied already with the first kind.
const ASSOCIATED_ALPHA: u16 = 1;
const UNASSOCIATED_ALPHA: u16 = 2;
/// The bits of the type of a page: a smaller copy of another page, or a mask of another page.
const REDUCED_OR_MASK: u32 = 1 | 4;
/// The type of a smaller copy in the older field.
const OLD_REDUCED: u16 = 2;
/// The number of pages among which the first whole picture is searched.
const MAX_PAGES: usize = 16;
const OLD_JPEG_COMPRESSION: u16 = 6;
const JPEG_COMPRESSION: u16 = 7;
/// The value of the fill order with the lowest bit first.
const LOWEST_BIT_FIRST: u16 = 2;
/// A JPEG in a TIFF consists of whole blocks, so it may be larger than its part of the page by up to this number of
/// pixels.
const MAX_JPEG_PADDING: u64 = 64;

type Reader<'a> = Decoder<TimedReader<Cow<'a, [u8]>>>;

/// A page whose fields have been read.
pub struct Tiff<'a> {
    bytes: &'a [u8],
    decoder: Reader<'a>,
    deadline: Deadline,
    size: (u32, u32),
    /// The colors of the palette, if the samples are indices into a palette.
    palette: Option<Vec<[u8; 3]>>,
    /// Whether low samples are bright, and the decoder does not know that.
    is_inverted: bool,
}

impl<'a> Tiff<'a> {
    pub fn open(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let deadline = Deadline::new();
        let complete = with_usual_fields(bytes).map_or(Cow::Borrowed(bytes), Cow::Owned);
        let mut decoder = open(complete.clone(), &deadline)?;
        let page = seek_to_picture(&mut decoder)?;
        let size = decoder.dimensions()?;
        check_size(size)?;
        let ordered = in_usual_bit_order(&complete, &mut decoder);
        let mut read = ordered.map_or(complete, Cow::Owned);
        let interpretation = decoder.find_tag_unsigned(Tag::PhotometricInterpretation);
        let (mut palette, mut is_inverted) = (None, false);
        match interpretation.ok().flatten() {
            Some(PALETTE) => {
                palette = Some(read_palette(&mut decoder)?);
                let gray = as_gray(&read, &mut decoder);
                read = Cow::Owned(gray.ok_or_else(|| unsupported("a palette"))?);
            }
            // The decoder inverts only single samples, and before their range is applied. It still inverts the samples
            // of a BigTIFF.
            Some(WHITE_IS_ZERO) => {
                if let Some(gray) = as_gray(&read, &mut decoder) {
                    is_inverted = true;
                    read = Cow::Owned(gray);
                }
            }
            _ => {}
        }
        if let Cow::Owned(_) = read {
            decoder = open(read, &deadline)?;
        }
        decoder.seek_to_image(page)?;
        Ok(Self { bytes, decoder, deadline, size, palette, is_inverted })
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

    /// Returns the IPTC records, or the image resources of Photoshop that contain them.
    pub fn iptc(&mut self) -> Option<Vec<u8>> {
        self.block(IPTC).or_else(|| self.block(IMAGE_RESOURCES))
    }

    /// Returns the bytes of a field.
    fn block(&mut self, tag: u16) -> Option<Vec<u8>> {
        // The structure is read first, because the decoder reads only fields of type byte, and most files give these
        // fields an undefined type.
        if let Some((structure, page)) = directory(self.bytes, &mut self.decoder)
            && let Some(block) = structure.bytes(page, tag)
        {
            return Some(block.to_vec());
        }
        self.decoder.get_tag_u8_vec(Tag::Unknown(tag)).ok()
    }

    /// Decodes the page to sRGB, with at least `min_side` pixels on the shorter side.
    pub fn decode(mut self, min_side: u32) -> Result<RgbImage, DecodeError> {
        let color = self.decoder.colortype()?;
        let layout = self.decoder.image_buffer_layout()?;
        let channels = usize::from(color.num_samples());
        let mut profile = self.block(PROFILE);
        let range = self.sample_range(color, profile.is_some());
        let is_wide_palette = self.palette.is_some() && color.bit_depth() > 8;
        let read_bands = if is_wide_palette { 1 } else { channels };
        let chunks =
            TiffChunks::of_page(&mut self.decoder, self.size, read_bands, color.bit_depth());
        let has_tiles = self.decoder.find_tag(Tag::TileWidth).ok().flatten().is_some();
        if chunks.is_none() && layout.planes > 1 && (layout.planes < channels || has_tiles) {
            return Err(unsupported("planes"));
        }
        let (read, buffer) = match &chunks {
            Some(chunks) => (chunks.bytes_per_sample(range), chunks.buffer_bytes()),
            None => (1, layout.complete_len as u64),
        };
        let pixels = u64::from(self.size.0) * u64::from(self.size.1);
        let made = pixels * (read * u64::from(color.num_samples()) + self.bytes_to_convert(color));
        let _lock = lock_memory(made.saturating_add(buffer))?;
        self.deadline.restart();
        let mut samples = if let Some(chunks) = chunks {
            let white = self.decoder.find_tag_unsigned(Tag::PhotometricInterpretation);
            self.is_inverted |= white.ok().flatten() == Some(WHITE_IS_ZERO);
            let file = self.decoder.inner().get_ref();
            if let Some(palette) = self.palette.as_ref().filter(|_| is_wide_palette) {
                let colors = chunks.read_colors(file, &self.deadline, palette)?;
                let profile = profile.map(SourceColors::Profile);
                return to_picture(colors, self.size, ColorType::Rgb8, min_side, profile.as_ref());
            }
            let samples = chunks.read(file, &self.deadline, range)?;
            // Light is encoded as sRGB here.
            profile = profile.filter(|_| matches!(samples, Samples::Bytes(_)));
            samples.into_bytes(channels)
        } else {
            let mut samples = self.read_by_decoder(color)?;
            if let Some(range) = range.filter(|range| range.is_for_display) {
                for sample in &mut samples {
                    *sample = range.to_byte((*sample).into());
                }
            }
            interleaved(samples, layout.planes, channels)
        };
        if self.palette.is_none() {
            scale_to_byte(&mut samples, color.bit_depth());
        }
        if self.is_inverted {
            self.invert(&mut samples, channels);
        }
        self.srgb_picture(samples, color, min_side, profile.map(SourceColors::Profile).as_ref())
    }

    fn invert(&mut self, samples: &mut [u8], channels: usize) {
        // The alpha follows the gray sample.
        let alpha = self.alpha().map(|_| 1);
        for pixel in samples.chunks_exact_mut(channels) {
            let bands = pixel.iter_mut().enumerate();
            bands
                .filter(|(band, _)| Some(*band) != alpha)
                .for_each(|(_, sample)| *sample = 255 - *sample);
        }
    }

    /// Returns the memory in bytes per pixel for making a picture from the samples.
    fn bytes_to_convert(&self, color: StoredColor) -> u64 {
        match color {
            _ if self.palette.is_some() => 7,
            // Such samples are converted where they are.
            StoredColor::RGB(_) | StoredColor::YCbCr(_) => 1,
            StoredColor::Gray(_) | StoredColor::Multiband { .. } => 3,
            _ => 4,
        }
    }

    /// Reads a page with a compression that only the decoder knows.
    fn read_by_decoder(&mut self, color: StoredColor) -> Result<Vec<u8>, DecodeError> {
        self.check_jpegs()?;
        let mut stored = DecodingResult::U8(Vec::new());
        self.decoder.read_image_to_buffer(&mut stored)?;
        let bits = usize::from(color.bit_depth());
        let row_samples = self.size.0 as usize * usize::from(color.num_samples());
        match stored {
            DecodingResult::U8(packed) if bits < 8 => {
                let rows = packed.chunks_exact((row_samples * bits).div_ceil(8).max(1));
                let samples = rows.flat_map(|row| unpacked(row, row_samples, bits));
                Ok(samples.map(|sample| sample.to_be_bytes()[1]).collect())
            }
            DecodingResult::U8(samples) => Ok(samples),
            // The compressions that are left are those of fax and JPEG.
            _ => Err(unsupported("samples of this type in this compression")),
        }
    }

    /// Returns the range of the samples, unless they are light. Floating-point samples from 0 to 1 are encoded if a
    /// profile says how. Gray samples are encoded, too, because other programs show them as they are. Colors without a
    /// profile are light, as in `libvips` and Photoshop.
    fn sample_range(&mut self, color: StoredColor, has_profile: bool) -> Option<StatedRange> {
        let stated = self.stated_range(color).or_else(|| StatedRange::of_bits(color.bit_depth()));
        let format = self.decoder.find_tag_unsigned_vec::<u16>(Tag::SampleFormat).ok().flatten();
        if format.is_none_or(|formats| formats.first() != Some(&FLOAT)) {
            return stated;
        }
        let is_used = |range: &StatedRange| {
            range.is_for_display || (!has_profile && *range != StatedRange::UNIT)
        };
        let is_encoded = has_profile || color.num_samples() < 3;
        stated.filter(is_used).or(is_encoded.then_some(StatedRange::UNIT))
    }

    /// Returns the range of gray samples or colors that the page states: the range that `ImageJ` shows, the bits of
    /// OME-TIFF, or the smallest and largest sample.
    fn stated_range(&mut self, color: StoredColor) -> Option<StatedRange> {
        let is_light = matches!(
            color,
            StoredColor::Gray(_) | StoredColor::RGB(_) | StoredColor::Multiband { .. }
        );
        if !is_light || self.palette.is_some() || self.alpha().is_some() {
            return None;
        }
        let description = self.decoder.get_tag_ascii_string(Tag::ImageDescription);
        let described =
            |text: String| StatedRange::of_imagej(&text).or_else(|| StatedRange::of_ome(&text));
        if let Some(range) = description.ok().and_then(described) {
            return Some(range);
        }
        if let Some(range) = self.range_of_channels(color.num_samples().into()) {
            return Some(range);
        }
        [(Tag::SMinSampleValue, Tag::SMaxSampleValue), (Tag::MinSampleValue, Tag::MaxSampleValue)]
            .into_iter()
            .find_map(|(low, high)| {
                StatedRange::of_samples(&self.numbers(low), &self.numbers(high))
            })
    }

    /// Returns the range that `ImageJ` shows of the channels of the page.
    fn range_of_channels(&mut self, channels: usize) -> Option<StatedRange> {
        let lengths = self.decoder.find_tag_unsigned_vec(IMAGEJ_LENGTHS).ok().flatten()?;
        StatedRange::of_imagej_channels(&self.block(IMAGEJ_METADATA)?, &lengths, channels)
    }

    /// Returns the numbers of a field of any type.
    fn numbers(&mut self, tag: Tag) -> Vec<f64> {
        self.decoder.find_tag(tag).ok().flatten().map(numbers).unwrap_or_default()
    }

    fn srgb_picture(
        mut self,
        mut samples: Vec<u8>,
        stored: StoredColor,
        min_side: u32,
        colors: Option<&SourceColors>,
    ) -> Result<RgbImage, DecodeError> {
        let width = self.size.0 as usize;
        let mut color = ColorType::Rgb8;
        match stored {
            _ if let Some(palette) = self.palette.take() => {
                let has_alpha = stored.num_samples() > 1 && self.alpha().is_some();
                let pixels = samples.chunks_exact(stored.num_samples().into());
                samples = palette_colors(pixels, &palette, has_alpha);
                color = if has_alpha { ColorType::Rgba8 } else { ColorType::Rgb8 };
            }
            StoredColor::Gray(_) => color = ColorType::L8,
            StoredColor::Multiband { num_samples: 2, .. } if self.alpha().is_some() => {
                color = ColorType::La8;
            }
            // The second band of a radar picture is another measurement.
            StoredColor::Multiband { num_samples: 2, .. } => {
                samples = samples.iter().step_by(2).copied().collect();
                color = ColorType::L8;
            }
            StoredColor::RGBA(_) if self.alpha().is_some() => color = ColorType::Rgba8,
            // Any other picture of many bands, such as one from a satellite, or with a fourth band of no stated meaning,
            // is drawn from its first three bands, as in other programs.
            StoredColor::Multiband { .. } | StoredColor::RGBA(_) => {
                let bands = samples.chunks_exact(stored.num_samples().into());
                samples = bands.flat_map(|bands| [bands[0], bands[1], bands[2]]).collect();
            }
            StoredColor::CMYK(_) => {
                convert_cmyk_rows(&mut samples, width, colors, |inks: [u8; 4]| inks);
            }
            StoredColor::CMYKA(_) => {
                let inks =
                    |[cyan, magenta, yellow, black, _]: [u8; 5]| [cyan, magenta, yellow, black];
                convert_cmyk_rows(&mut samples, width, colors, inks);
            }
            StoredColor::YCbCr(_) => {
                for color in samples.as_chunks_mut().0 {
                    *color = ycbcr_to_rgb(*color);
                }
            }
            _ => {}
        }
        if color.has_alpha() && self.alpha() == Some(ASSOCIATED_ALPHA) {
            divide_by_alpha(&mut samples, color.channel_count().into());
        }
        to_picture(samples, self.size, color, min_side, colors)
    }

    /// Returns the kind of alpha, if the first extra sample is alpha.
    fn alpha(&mut self) -> Option<u16> {
        let extra = self.decoder.find_tag_unsigned_vec(Tag::ExtraSamples).ok().flatten();
        let kind = extra.unwrap_or_default().first().copied();
        kind.filter(|kind| [ASSOCIATED_ALPHA, UNASSOCIATED_ALPHA].contains(kind))
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
        let mut starts = chunk_starts(&mut self.decoder).unwrap_or_default();
        let fits = |start: u64| {
            let part = usize::try_from(start).ok().and_then(|start| self.bytes.get(start..))?;
            let mut segments = segments_before_scan(part).fuse();
            let mut sizes = segments.by_ref().take(MAX_SEGMENTS).filter_map(jpeg_size).peekable();
            sizes.peek()?;
            let has_room = sizes.all(|size| size[0] <= max_size[0] && size[1] <= max_size[1]);
            (has_room && segments.next().is_none()).then_some(())
        };
        let damaged = || DecodeError("damaged TIFF: a JPEG that its part does not fit".to_owned());
        starts.sort_unstable();
        starts.dedup();
        starts.into_iter().try_for_each(|start| {
            self.deadline.check()?;
            fits(start).ok_or_else(damaged)
        })
    }
}

/// Returns the width and height that a segment of a JPEG claims.
fn jpeg_size((marker, body): (u8, &[u8])) -> Option<[u64; 2]> {
    let is_frame = matches!(marker, 0xC0..=0xCF) && !matches!(marker, 0xC4 | 0xC8 | 0xCC);
    let &[above, below, left, right] = body.get(1..5).filter(|_| is_frame)? else { return None };
    Some([[left, right], [above, below]].map(|side| u16::from_be_bytes(side).into()))
}

fn open<'a>(bytes: Cow<'a, [u8]>, deadline: &Deadline) -> Result<Reader<'a>, DecodeError> {
    let [pixels, others] = [MAX_DECODE_BYTES, MAX_DECODER_BYTES]
        .map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    let mut limits = Limits::default();
    limits.decoding_buffer_size = pixels;
    limits.intermediate_buffer_size = pixels;
    limits.ifd_value_size = others;
    let decoder = Decoder::new(TimedReader::new(bytes, deadline.clone()))?;
    Ok(decoder.with_limits(limits))
}

/// Returns a copy of the file with the fields that the decoder expects. Strips without lengths, which old programs do
/// not write, have the length 0, the positions of tiles are no longer called those of strips, and a page that links to
/// itself is the last one.
fn with_usual_fields(bytes: &[u8]) -> Option<Vec<u8>> {
    let (structure, page) = TiffStructure::open(bytes)?;
    if let Some(file) = structure.without_loop(page) {
        return Some(with_usual_fields(&file).unwrap_or(file));
    }
    let [starts, lengths, tile_width, tile_starts] =
        [STRIP_STARTS, STRIP_LENGTHS, TILE_WIDTH, TILE_STARTS]
            .map(|tag| structure.integers(page, tag, usize::MAX).len());
    if starts > 0 && tile_width > 0 && tile_starts == 0 {
        let tags = [(STRIP_STARTS, TILE_STARTS), (STRIP_LENGTHS, TILE_LENGTHS)];
        return Some(structure.with_tags(page, tags));
    }
    (starts > 0 && lengths == 0).then(|| structure.with_zeros(page, STRIP_LENGTHS, starts))?
}

/// Reads the colors of the palette. The field has all reds, then all greens and all blues, with 16 bits each.
fn read_palette(decoder: &mut Reader) -> Result<Vec<[u8; 3]>, DecodeError> {
    let stored = decoder.get_tag_u16_vec(Tag::ColorMap)?;
    // Some programs write eight bits instead of 16.
    let shift = if stored.iter().all(|&sample| sample < 256) { 0 } else { 8 };
    let count = stored.len() / 3;
    let sample = |index: usize| u8::try_from(stored[index] >> shift).unwrap_or(u8::MAX);
    Ok((0..count).map(|index| [0, count, 2 * count].map(|plane| sample(plane + index))).collect())
}

/// Returns the colors of pixels whose first band is an index into the palette, and whose second band may be alpha.
fn palette_colors(pixels: ChunksExact<u8>, palette: &[[u8; 3]], has_alpha: bool) -> Vec<u8> {
    let color_of = |bands: &[u8]| {
        let color = palette.get(usize::from(bands[0])).copied().unwrap_or_default();
        color.into_iter().chain(has_alpha.then(|| bands[1]))
    };
    pixels.flat_map(color_of).collect()
}

/// Returns a copy of the file whose samples are declared as gray, and low samples as dark, because the decoder does not
/// read palettes. Returns `None` for a `BigTIFF`.
fn as_gray(bytes: &[u8], decoder: &mut Reader) -> Option<Vec<u8>> {
    let (structure, page) = directory(bytes, decoder)?;
    structure.with_short(page, PHOTOMETRIC, BLACK_IS_ZERO)
}

/// Returns a copy of the file with the highest bit of each stored byte first, if the page has the lowest one first, as
/// fax machines and some scanners write it. The decoder does not know this field. Only JPEG has an order of its own.
fn in_usual_bit_order(bytes: &[u8], decoder: &mut Reader) -> Option<Vec<u8>> {
    let mut number = |tag| decoder.find_tag_unsigned::<u16>(tag).ok().flatten();
    let (order, compression) = (number(Tag::FillOrder), number(Tag::Compression));
    if order != Some(LOWEST_BIT_FIRST)
        || [Some(OLD_JPEG_COMPRESSION), Some(JPEG_COMPRESSION)].contains(&compression)
    {
        return None;
    }
    let (starts, lengths) = (chunk_starts(decoder)?, chunk_lengths(decoder)?);
    // The parts of a page do not overlap, so that they are not larger than the file.
    let total = lengths.iter().try_fold(0_u64, |sum, length| sum.checked_add(*length))?;
    if total > bytes.len() as u64 {
        return None;
    }
    let mut bytes = bytes.to_vec();
    for (start, length) in starts.into_iter().zip(lengths) {
        let part =
            usize::try_from(start).ok()?..usize::try_from(start.checked_add(length)?).ok()?;
        bytes.get_mut(part)?.iter_mut().for_each(|byte| *byte = byte.reverse_bits());
    }
    Some(bytes)
}

/// Seeks to the first page that is neither a smaller copy nor a mask of another page, and returns its number. If all
/// pages are, this is the first page.
fn seek_to_picture(decoder: &mut Reader) -> Result<usize, DecodeError> {
    for page in 0..MAX_PAGES {
        // A later page that cannot be read is not the picture.
        if page > 0 && decoder.seek_to_image(page).is_err() {
            break;
        }
        let kind: Option<u32> = decoder.find_tag_unsigned(Tag::NewSubfileType).ok().flatten();
        // Old programs write this field instead.
        let old_kind: Option<u16> = decoder.find_tag_unsigned(Tag::SubfileType).ok().flatten();
        if kind.unwrap_or(0) & REDUCED_OR_MASK == 0 && old_kind != Some(OLD_REDUCED) {
            return Ok(page);
        }
    }
    decoder.seek_to_image(0)?;
    Ok(0)
}

/// Returns the directory of the current page. Returns `None` for a `BigTIFF`.
fn directory<'a>(
    bytes: &'a [u8],
    decoder: &mut Reader,
) -> Option<(TiffStructure<'a>, TiffDirectory<'a>)> {
    let (structure, _) = TiffStructure::open(bytes)?;
    let page = structure.directory_at(u32::try_from(decoder.ifd_pointer()?.0).ok()?)?;
    Some((structure, page))
}

fn numbers(value: Value) -> Vec<f64> {
    match value {
        Value::List(values) => values.into_iter().flat_map(numbers).collect(),
        Value::Byte(number) => vec![number.into()],
        Value::Short(number) => vec![number.into()],
        Value::Unsigned(number) => vec![number.into()],
        Value::SignedByte(number) => vec![number.into()],
        Value::SignedShort(number) => vec![number.into()],
        Value::Signed(number) => vec![number.into()],
        Value::Float(number) => vec![number.into()],
        Value::Double(number) => vec![number],
        _ => Vec::new(),
    }
}

fn unsupported(what: &str) -> DecodeError {
    DecodeError(format!("a kind of TIFF that cannot be opened: {what}"))
}

impl From<TiffError> for DecodeError {
    fn from(error: TiffError) -> Self {
        Self(match error {
            TiffError::IoError(cause) if cause.kind() == ErrorKind::UnexpectedEof => {
                "truncated TIFF".to_owned()
            }
            TiffError::IoError(cause) if cause.kind() == ErrorKind::TimedOut => cause.to_string(),
            TiffError::LimitsExceeded => "TIFF needs more memory than the limit".to_owned(),
            TiffError::UnsupportedError(what) => return unsupported(&what.to_string()),
            _ => format!("damaged TIFF: {error}"),
        })
    }
}

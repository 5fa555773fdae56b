//! Reads the strips and tiles of a page of a TIFF that are stored as they are, or compressed with LZW, Deflate or
//! `PackBits`. The crate `tiff` reads the other compressions. It refuses tiles of LZW at the edge of a page, planes in
//! tiles, and samples of 10, 12 or 14 bits, and it drops further bands before it undoes the predictor.

use std::{
    borrow::Cow,
    cell::Cell,
    io::{Error, ErrorKind, Read, Seek},
};

use flate2::read::ZlibDecoder;
use half::f16;
use tiff::{
    decoder::Decoder,
    tags::{ByteOrder, Tag},
};
use weezl::{BitOrder, LzwStatus, decode::Configuration};

use crate::{
    limits::{Deadline, DecodeError, MAX_DECODE_BYTES},
    tiff_samples::{Samples, StatedRange},
};

/// Values of the sample format.
const UNSIGNED: u16 = 1;
const SIGNED: u16 = 2;
pub const FLOAT: u16 = 3;
const UNDEFINED: u16 = 4;
/// Values of the predictor.
const NO_PREDICTOR: u16 = 1;
const DIFFERENCES: u16 = 2;
const FLOAT_DIFFERENCES: u16 = 3;
/// The value of the planar configuration that stores each band by itself.
const PLANES: u16 = 2;

#[derive(Clone, Copy, Debug)]
enum Compression {
    Stored,
    Lzw,
    Deflate,
    PackBits,
}

impl Compression {
    fn of_number(number: u16) -> Option<Self> {
        Some(match number {
            1 => Self::Stored,
            5 => Self::Lzw,
            8 | 32946 => Self::Deflate,
            32773 => Self::PackBits,
            _ => return None,
        })
    }

    /// Decompresses to a buffer until it is full, and returns the number of bytes. What follows is not read, so that a
    /// missing end code and missing padding rows are no errors.
    fn decompress(self, stored: &[u8], buffer: &mut [u8]) -> Result<usize, Error> {
        match self {
            Self::Stored => {
                let length = stored.len().min(buffer.len());
                buffer[..length].copy_from_slice(&stored[..length]);
                Ok(length)
            }
            Self::Lzw => unpack_lzw(stored, buffer),
            Self::Deflate => inflate(stored, buffer),
            Self::PackBits => Ok(unpack_bits(stored, buffer)),
        }
    }
}

/// The strips or tiles of a page.
pub struct TiffChunks {
    starts: Vec<u64>,
    lengths: Vec<u64>,
    /// Width and height of the page.
    size: [usize; 2],
    /// Width and height of a strip or tile, with its padding.
    chunk: [usize; 2],
    /// The number of stored bands.
    bands: usize,
    /// The number of first bands that are read.
    read_bands: usize,
    has_planes: bool,
    is_little_endian: bool,
    compression: Compression,
    predictor: u16,
    format: u16,
    bits: usize,
}

impl TiffChunks {
    /// Reads the fields of the current page. Returns `None` for a page that only the crate `tiff` reads or refuses.
    pub fn of_page<R: Read + Seek>(
        decoder: &mut Decoder<R>,
        size: (u32, u32),
        read_bands: usize,
        bits: u8,
    ) -> Option<Self> {
        let (width, height) = decoder.chunk_dimensions();
        let is_little_endian = matches!(decoder.byte_order(), ByteOrder::LittleEndian);
        let (starts, lengths) = (chunk_starts(decoder)?, chunk_lengths(decoder)?);
        let mut number = |tag, default| -> Option<u16> {
            let numbers = decoder.find_tag_unsigned_vec(tag).ok()?;
            Some(numbers.and_then(|numbers| numbers.first().copied()).unwrap_or(default))
        };
        let chunks = Self {
            starts,
            lengths,
            size: [size.0 as usize, size.1 as usize],
            chunk: [width as usize, height as usize],
            bands: number(Tag::SamplesPerPixel, 1)?.into(),
            read_bands,
            has_planes: number(Tag::PlanarConfiguration, 1)? == PLANES,
            is_little_endian,
            compression: Compression::of_number(number(Tag::Compression, 1)?)?,
            predictor: number(Tag::Predictor, NO_PREDICTOR)?,
            format: number(Tag::SampleFormat, UNSIGNED)?,
            bits: bits.into(),
        };
        chunks.is_readable().then_some(chunks)
    }

    fn is_readable(&self) -> bool {
        let is_packed = self.is_packed();
        let has_format = match self.format {
            UNSIGNED | UNDEFINED => self.bits <= 16 || [32, 64].contains(&self.bits),
            SIGNED => [8, 16, 32, 64].contains(&self.bits),
            FLOAT => [16, 32, 64].contains(&self.bits),
            _ => false,
        };
        let has_predictor = match self.predictor {
            NO_PREDICTOR => true,
            DIFFERENCES => !is_packed,
            FLOAT_DIFFERENCES => self.format == FLOAT,
            _ => false,
        };
        has_format && has_predictor && (1..=self.bands).contains(&self.read_bands)
    }

    /// Whether samples are not whole bytes.
    fn is_packed(&self) -> bool {
        !self.bits.is_multiple_of(8)
    }

    /// The memory in bytes that is needed for one strip or tile, which may be much larger than the page, and for the
    /// samples of one of its rows.
    pub fn buffer_bytes(&self) -> u64 {
        let rows = self.chunk[1].min(self.size[1]) as u64;
        let row_samples = self.row_samples().saturating_mul(self.bits.div_ceil(8));
        (self.row_bytes() as u64).saturating_mul(rows).saturating_add(row_samples as u64)
    }

    /// The number of samples in a row of a strip or tile that are inside the page.
    fn row_samples(&self) -> usize {
        self.chunk[0].min(self.size[0]).saturating_mul(self.chunk_bands())
    }

    /// The number of bands that a strip or tile has.
    fn chunk_bands(&self) -> usize {
        if self.has_planes { 1 } else { self.bands }
    }

    fn row_bytes(&self) -> usize {
        self.chunk[0].saturating_mul(self.chunk_bands()).saturating_mul(self.bits).div_ceil(8)
    }

    /// Whether samples are light unless the page states their range.
    fn is_light(&self) -> bool {
        self.format == FLOAT
    }

    /// The memory in bytes for each sample that is read.
    pub fn bytes_per_sample(&self, range: Option<StatedRange>) -> u64 {
        // Light is first read as numbers of four bytes. A range that the samples contradict is not used.
        if self.is_light() && range.is_none_or(|range| !range.is_for_display) { 5 } else { 1 }
    }

    /// Returns the samples of all read bands. Samples fill the stated range. Without it, integers fill the range of
    /// their type, and all other samples are light.
    pub fn read(
        &self,
        file: &[u8],
        deadline: &Deadline,
        range: Option<StatedRange>,
    ) -> Result<Samples, DecodeError> {
        // Other programs ignore the largest of eight bits.
        let is_used = |range: &StatedRange| range.is_for_display || self.bits > 8;
        let page = Page { chunks: self, file, deadline, range: range.filter(is_used) };
        #[expect(clippy::cast_precision_loss, reason = "for eight bits")]
        match (self.format, self.bits) {
            (FLOAT, 16) => page.samples(|sample| f16::from_be_bytes(sample).into()),
            (FLOAT, 32) => page.samples(|sample| f32::from_be_bytes(sample).into()),
            (FLOAT, _) => page.samples(f64::from_be_bytes),
            (SIGNED, 8) => page.samples(|sample| i8::from_be_bytes(sample).into()),
            (SIGNED, 16) => page.samples(|sample| i16::from_be_bytes(sample).into()),
            (SIGNED, 32) => page.samples(|sample| i32::from_be_bytes(sample).into()),
            (SIGNED, _) => page.samples(|sample| i64::from_be_bytes(sample) as f64),
            (_, 0..=8) => page.samples(|sample| u8::from_be_bytes(sample).into()),
            (_, 9..=16) => page.samples(|sample| u16::from_be_bytes(sample).into()),
            (_, 32) => page.samples(|sample| u32::from_be_bytes(sample).into()),
            _ => page.samples(|sample| u64::from_be_bytes(sample) as f64),
        }
    }

    /// Returns the colors of samples that are indices into a palette of more than 256 colors.
    pub fn read_colors(
        &self,
        file: &[u8],
        deadline: &Deadline,
        palette: &[[u8; 3]],
    ) -> Result<Vec<u8>, DecodeError> {
        let color = |index| palette.get(usize::from(u16::from_be_bytes(index))).copied();
        let page = Page { chunks: self, file, deadline, range: None };
        Ok(page.read(|index| color(index).unwrap_or_default())?.into_flattened())
    }

    /// Appends the samples of a row that are inside the page as numbers in big-endian order.
    fn append_row<const N: usize>(&self, row: &mut [u8], samples: &mut Vec<[u8; N]>) {
        let (bands, count) = (self.chunk_bands(), self.row_samples());
        if self.is_packed() {
            samples.extend(unpacked(row, count, self.bits).map(last_bytes));
        } else if self.predictor == FLOAT_DIFFERENCES {
            for index in bands..row.len() {
                row[index] = row[index].wrapping_add(row[index - bands]);
            }
            // The first bytes of all samples are stored before the second bytes.
            let length = row.len() / N;
            let bytes = |index| std::array::from_fn(|byte| row[byte * length + index]);
            samples.extend((0..count).map(bytes));
        } else {
            samples.extend_from_slice(&row.as_chunks().0[..count]);
            if self.is_little_endian {
                for sample in samples.iter_mut() {
                    sample.reverse();
                }
            }
            if self.predictor == DIFFERENCES {
                for index in bands..samples.len() {
                    samples[index] = sum(samples[index], samples[index - bands]);
                }
            }
        }
    }
}

/// Returns the positions of the strips or tiles of the current page.
pub fn chunk_starts<R: Read + Seek>(decoder: &mut Decoder<R>) -> Option<Vec<u64>> {
    numbers(decoder, [Tag::StripOffsets, Tag::TileOffsets])
}

/// Returns the lengths of the strips or tiles of the current page in bytes.
pub fn chunk_lengths<R: Read + Seek>(decoder: &mut Decoder<R>) -> Option<Vec<u64>> {
    numbers(decoder, [Tag::StripByteCounts, Tag::TileByteCounts])
}

/// Returns the numbers of the first of two fields that the page has.
fn numbers<R: Read + Seek>(decoder: &mut Decoder<R>, tags: [Tag; 2]) -> Option<Vec<u64>> {
    tags.into_iter().find_map(|tag| decoder.find_tag_unsigned_vec(tag).ok().flatten())
}

/// A page that is being read.
struct Page<'a> {
    chunks: &'a TiffChunks,
    file: &'a [u8],
    deadline: &'a Deadline,
    range: Option<StatedRange>,
}

impl Page<'_> {
    /// Reads the samples, which are converted one by one, so that the stored numbers need no memory.
    fn samples<const N: usize>(
        &self,
        number: impl Fn([u8; N]) -> f64,
    ) -> Result<Samples, DecodeError> {
        if let Some(range) = self.range {
            let is_exceeded = Cell::new(false);
            let bytes = self.read(|sample| {
                let number = number(sample);
                is_exceeded.set(is_exceeded.get() || range.is_exceeded_by(number));
                range.to_byte(number)
            })?;
            if !is_exceeded.get() {
                return Ok(Samples::Bytes(bytes));
            }
        }
        if self.chunks.is_light() {
            #[expect(clippy::cast_possible_truncation, reason = "for eight bits")]
            return Ok(Samples::Light(self.read(|sample| number(sample) as f32)?));
        }
        // The lowest signed number is black. Other programs show signed numbers of eight bits as unsigned ones.
        let sign = if self.chunks.format == SIGNED && N > 1 { 0x80 } else { 0 };
        Ok(Samples::Bytes(self.read(|sample: [u8; N]| sample[0] ^ sign)?))
    }

    fn read<T: Copy + Default, const N: usize>(
        &self,
        converted: impl Fn([u8; N]) -> T,
    ) -> Result<Vec<T>, DecodeError> {
        let chunks = self.chunks;
        if chunks.buffer_bytes() > MAX_DECODE_BYTES {
            return Err(DecodeError("TIFF needs more memory than the limit".to_owned()));
        }
        let ([width, height], read_bands) = (chunks.size, chunks.read_bands);
        let row_bytes = chunks.row_bytes();
        let across = width.div_ceil(chunks.chunk[0]);
        let in_plane = across * height.div_ceil(chunks.chunk[1]);
        let planes = if chunks.has_planes { read_bands } else { 1 };
        let mut pixels = vec![T::default(); width * height * read_bands];
        let mut buffer = vec![0; row_bytes * chunks.chunk[1].min(height)];
        let mut samples = Vec::new();
        for index in 0..planes * in_plane {
            self.deadline.check()?;
            let (plane, at) = (index / in_plane, index % in_plane);
            let (left, top) = (at % across * chunks.chunk[0], at / across * chunks.chunk[1]);
            let rows = chunks.chunk[1].min(height - top);
            let columns = chunks.chunk[0].min(width - left);
            let buffer = &mut buffer[..row_bytes * rows];
            self.fill(index, buffer)?;
            for (y, row) in buffer.chunks_exact_mut(row_bytes).enumerate() {
                samples.clear();
                chunks.append_row(row, &mut samples);
                let first = ((top + y) * width + left) * read_bands + plane;
                let stored = samples.chunks_exact(chunks.chunk_bands()).take(columns);
                for (pixel, bands) in pixels[first..].chunks_mut(read_bands).zip(stored) {
                    pixel.iter_mut().zip(bands).for_each(|(to, sample)| *to = converted(*sample));
                }
            }
        }
        Ok(pixels)
    }

    /// Decompresses a strip or tile. One that a sparse file omits is zero.
    fn fill(&self, index: usize, buffer: &mut [u8]) -> Result<(), DecodeError> {
        let position =
            |numbers: &[u64]| numbers.get(index).and_then(|it| usize::try_from(*it).ok());
        let truncated = || DecodeError("truncated TIFF".to_owned());
        let start = position(&self.chunks.starts).ok_or_else(truncated)?;
        let length = position(&self.chunks.lengths).ok_or_else(truncated)?;
        if (start, length) == (0, 0) {
            buffer.fill(0);
            return Ok(());
        }
        let rest = self.file.get(start..).ok_or_else(truncated)?;
        // Old programs write no length, or the length 0.
        let length = if length == 0 { rest.len() } else { length.min(rest.len()) };
        let stored = &rest[..length];
        let filled = self.chunks.compression.decompress(stored, buffer);
        match filled {
            Ok(filled) if filled == buffer.len() => Ok(()),
            Ok(_) => Err(truncated()),
            Err(error) => Err(DecodeError(format!("damaged TIFF: {error}"))),
        }
    }
}

fn unpack_lzw(stored: &[u8], buffer: &mut [u8]) -> Result<usize, Error> {
    // The first code is 256. In files of old programs, codes begin with their lowest bit.
    let configuration = match stored {
        [0, second, ..] if second & 1 == 1 => Configuration::new(BitOrder::Lsb, 8),
        _ => Configuration::with_tiff_size_switch(BitOrder::Msb, 8),
    };
    let mut decoder = configuration.with_yield_on_full_buffer(true).build();
    let (mut read, mut filled) = (0, 0);
    while filled < buffer.len() {
        let progress = decoder.decode_bytes(&stored[read..], &mut buffer[filled..]);
        read += progress.consumed_in;
        filled += progress.consumed_out;
        match progress.status {
            Ok(LzwStatus::Ok) if progress.consumed_in + progress.consumed_out > 0 => {}
            Ok(_) => break,
            Err(error) => return Err(Error::new(ErrorKind::InvalidData, error)),
        }
    }
    Ok(filled)
}

fn inflate(stored: &[u8], buffer: &mut [u8]) -> Result<usize, Error> {
    let mut decoder = ZlibDecoder::new(stored);
    let mut filled = 0;
    while filled < buffer.len() {
        match decoder.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(length) => filled += length,
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => break,
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Unpacks runs: a negative number repeats the next byte, and any other number copies the next bytes.
fn unpack_bits(mut stored: &[u8], buffer: &mut [u8]) -> usize {
    let mut filled = 0;
    while let Some((&number, rest)) = stored.split_first() {
        let room = buffer.len() - filled;
        let (run, length): (Cow<[u8]>, usize) = match number {
            0..=127 => {
                let length = rest.len().min(usize::from(number) + 1);
                (Cow::Borrowed(&rest[..length]), length)
            }
            128 => (Cow::Borrowed(&[]), 0),
            129.. => match rest.first() {
                Some(&byte) => (Cow::Owned(vec![byte; 257 - usize::from(number)]), 1),
                None => break,
            },
        };
        let used = run.len().min(room);
        buffer[filled..filled + used].copy_from_slice(&run[..used]);
        filled += used;
        stored = &rest[length..];
        if filled == buffer.len() {
            break;
        }
    }
    filled
}

/// Unpacks the samples of a row that have at most 16 bits each.
pub fn unpacked(row: &[u8], count: usize, bits: usize) -> impl Iterator<Item = u16> {
    let byte = |index: usize| u32::from(row.get(index).copied().unwrap_or(0));
    (0..count).map(move |index| {
        let (at, skipped) = (index * bits / 8, index * bits % 8);
        let three = byte(at) << 16 | byte(at + 1) << 8 | byte(at + 2);
        let sample = three >> (24 - skipped - bits) & ((1 << bits) - 1);
        u16::try_from(sample).unwrap_or(u16::MAX)
    })
}

/// Returns the last `N` bytes of a number in big-endian order.
fn last_bytes<const N: usize>(number: u16) -> [u8; N] {
    let mut bytes = [0; N];
    let stored = number.to_be_bytes();
    bytes.iter_mut().rev().zip(stored.iter().rev()).for_each(|(to, byte)| *to = *byte);
    bytes
}

/// Adds two numbers in big-endian order. The sum wraps around.
fn sum<const N: usize>(one: [u8; N], other: [u8; N]) -> [u8; N] {
    let mut sum = one;
    let mut carry = false;
    for (to, byte) in sum.iter_mut().zip(other).rev() {
        (*to, carry) = to.carrying_add(byte, carry);
    }
    sum
}

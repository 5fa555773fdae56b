//! Decodes the entropy-coded data of a sequential JPEG to planes of reduced size, and the planes to pixels. The inverse
//! cosine transform treats the low frequencies of an 8x8 block as a block of 4x4, 2x2 or 1x1.

#![expect(
    clippy::inline_always,
    reason = "the reader stays in registers only if all that reads bits is inlined into the loop over blocks"
)]

use image::RgbImage;
use pulp::{Arch, NullaryFnOnce};

use super::{
    error::JpegError,
    header::{ColorSpace, Component, Header},
    huffman::{BitReader, CoefficientReader, CoefficientSkipper, END_OF_BLOCK, HuffmanTable},
};

/// The positions (8 times the row plus the column) of the coefficients in zigzag order, up to the last one that 4x4
/// samples need.
const ZIGZAG: [u8; 25] =
    [0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27];

pub struct ComponentPlane {
    samples: Vec<u8>,
    stride: usize,
    /// The number of pixels of the picture per sample, in each direction.
    pixels_per_sample: (usize, usize),
}

impl ComponentPlane {
    /// Returns the samples of a row of the picture. If necessary, they are upsampled into `buffer`.
    #[inline(always)]
    pub fn row<'a>(&'a self, y: usize, buffer: &'a mut [u8]) -> &'a [u8] {
        let row = &self.samples[y / self.pixels_per_sample.1 * self.stride..][..self.stride];
        if self.pixels_per_sample.0 == 1 {
            return row;
        }
        match self.pixels_per_sample.0 {
            // The loop is far faster with a factor that is known at compile time.
            2 => repeat::<2>(row, buffer),
            times => {
                for (places, &sample) in buffer.chunks_mut(times).zip(row) {
                    places.fill(sample);
                }
            }
        }
        buffer
    }
}

/// Repeats each sample until the buffer is full.
fn repeat<const TIMES: usize>(samples: &[u8], buffer: &mut [u8]) {
    let (groups, rest) = buffer.as_chunks_mut::<TIMES>();
    let mut samples = samples.iter();
    for (group, &sample) in groups.iter_mut().zip(samples.by_ref()) {
        *group = [sample; TIMES];
    }
    rest.fill(samples.next().copied().unwrap_or_default());
}

/// Decodes the scan to `SIDE` x `SIDE` samples (1, 2 or 4) for each block of 8x8 pixels.
pub fn decode<const SIDE: usize>(
    bytes: &[u8],
    header: &Header,
) -> Result<Vec<ComponentPlane>, JpegError> {
    let mut bits = BitReader::new(bytes, header.scan_start);
    let mut channels = header
        .components
        .iter()
        .map(|component| ComponentDecoder::<SIDE>::new(component, header))
        .collect::<Result<Vec<_>, _>>()?;
    let decoded = decode_mcus(&mut bits, header, &mut channels);
    // Zeros past the end may look like damage, but the file is truncated.
    if bits.is_overrun() {
        return Err(JpegError::Truncated);
    }
    decoded?;
    Ok(channels.into_iter().map(|channel| channel.plane).collect())
}

/// Decodes all MCUs. An MCU is the smallest rectangle with whole blocks of every component.
fn decode_mcus<'a, const SIDE: usize>(
    bits: &mut BitReader<'a>,
    header: &Header,
    channels: &mut [ComponentDecoder<'a, SIDE>],
) -> Result<(), JpegError> {
    let (across, down) = header.mcu_counts();
    let blocks: Vec<Vec<usize>> = channels.iter().map(ComponentDecoder::mcu_blocks).collect();
    // Without restart markers, no restart is ever due.
    let interval = if header.restart_interval == 0 { usize::MAX } else { header.restart_interval };
    let mut until_restart = interval;
    let arch = Arch::new();
    for y in 0..down {
        for channel in &mut *channels {
            channel.position = y * channel.blocks.1 * SIDE * channel.plane.stride;
        }
        let mut left = across;
        while left > 0 {
            if until_restart == 0 {
                restart(bits, channels)?;
                until_restart = interval;
            }
            let count = left.min(until_restart);
            let run = McuRun { bits: *bits, count, channels, blocks: &blocks };
            let (read, decoded) = arch.dispatch(run);
            *bits = read;
            decoded?;
            left -= count;
            until_restart -= count;
        }
        if bits.is_overrun() {
            return Err(JpegError::Truncated);
        }
    }
    Ok(())
}

/// MCUs between which no restart is due. This is a type, because the body of a closure would not be inlined and therefore
/// not be compiled for the processor, which has faster shifts by a variable number of bits.
struct McuRun<'c, 'a, const SIDE: usize> {
    /// The reader is passed by value, so that it stays in registers.
    bits: BitReader<'a>,
    count: usize,
    channels: &'c mut [ComponentDecoder<'a, SIDE>],
    /// The positions of the blocks of an MCU for each channel.
    blocks: &'c [Vec<usize>],
}

impl<'a, const SIDE: usize> NullaryFnOnce for McuRun<'_, 'a, SIDE> {
    type Output = (BitReader<'a>, Result<(), JpegError>);

    #[inline(always)]
    fn call(self) -> Self::Output {
        let Self { mut bits, count, channels, blocks } = self;
        for _ in 0..count {
            for (channel, blocks) in channels.iter_mut().zip(blocks) {
                for &block in blocks {
                    let at = channel.position.wrapping_add(block);
                    if let Err(error) = channel.decode_block(&mut bits, at) {
                        return (bits, Err(error));
                    }
                }
                channel.position += channel.blocks.0 * SIDE;
            }
        }
        (bits, Ok(()))
    }
}

fn restart<const SIDE: usize>(
    bits: &mut BitReader,
    channels: &mut [ComponentDecoder<'_, SIDE>],
) -> Result<(), JpegError> {
    if !bits.restart() {
        return Err(JpegError::Truncated);
    }
    for channel in channels {
        channel.last_dc = 0;
    }
    Ok(())
}

struct ComponentDecoder<'a, const SIDE: usize> {
    plane: ComponentPlane,
    /// The number of blocks in one MCU (horizontally, vertically).
    blocks: (usize, usize),
    dc: &'a HuffmanTable,
    /// `None` if there is one sample per block, for which no AC coefficient is needed.
    ac: Option<CoefficientReader<'a>>,
    skipper: CoefficientSkipper<'a>,
    quantization_table: [u16; 64],
    last_dc: i32,
    /// The position at which the samples of the next MCU begin.
    position: usize,
}

impl<'a, const SIDE: usize> ComponentDecoder<'a, SIDE> {
    /// The last coefficient that is read, in zigzag order.
    const LAST: usize = match SIDE {
        1 => 0,
        2 => 4,
        _ => 24,
    };

    fn new(component: &Component, header: &'a Header) -> Result<Self, JpegError> {
        let (across, down) = header.mcu_counts();
        let stride = across * component.sampling.0 * SIDE;
        let [dc, ac] = header.huffman_tables(component)?;
        let (max_across, max_down) = header.max_sampling();
        Ok(Self {
            plane: ComponentPlane {
                samples: vec![0; stride * down * component.sampling.1 * SIDE],
                stride,
                pixels_per_sample: (
                    max_across / component.sampling.0,
                    max_down / component.sampling.1,
                ),
            },
            blocks: component.sampling,
            dc,
            ac: (SIDE > 1).then(|| ac.ac_reader()),
            skipper: ac.skipper(),
            quantization_table: header.quantization_table(component)?,
            last_dc: 0,
            position: 0,
        })
    }

    /// Returns the positions at which the samples of the blocks of an MCU begin, relative to the first block.
    fn mcu_blocks(&self) -> Vec<usize> {
        let (across, down) = self.blocks;
        let row = |row| (0..across).map(move |column| (row * self.plane.stride + column) * SIDE);
        (0..down).flat_map(row).collect()
    }

    /// Decodes a block. Its samples begin at `at`.
    #[inline(always)]
    fn decode_block(&mut self, bits: &mut BitReader, at: usize) -> Result<(), JpegError> {
        let difference = self.dc.dc_difference(bits)?;
        // The sum wraps only for invalid data.
        self.last_dc = i32::from(self.last_dc.wrapping_add(difference) as i16);
        // The product does not overflow for valid data, because both factors have at most 16 bits.
        let dc = self.last_dc.wrapping_mul(i32::from(self.quantization_table[0]));
        let plain = idct_1x1(dc.clamp(-1 << 16, 1 << 16));
        let Some(ac) = self.ac else {
            self.plane.samples[at] = plain;
            return self.skipper.skip_block(bits, 1);
        };
        let mut low = LowFrequencies::default();
        low[0][0] = dc as f32;
        let is_plain = self.read_low_frequencies(ac, bits, &mut low)?;
        if is_plain {
            self.store(at, [[plain; SIDE]; SIDE]);
        } else if SIDE == 2 {
            self.store(at, idct_2x2(&low));
        } else {
            self.store(at, idct_4x4(&low));
        }
        Ok(())
    }

    /// Reads the low AC coefficients into `low` and skips the rest. Returns whether the block has no AC coefficient at
    /// all, as on plain surfaces.
    #[inline(always)]
    fn read_low_frequencies(
        &self,
        ac: CoefficientReader,
        bits: &mut BitReader,
        low: &mut LowFrequencies,
    ) -> Result<bool, JpegError> {
        let mut at = 1;
        while at <= Self::LAST {
            let (run, value) = ac.next(bits)?;
            at += run;
            if at >= 64 {
                return match run {
                    END_OF_BLOCK => Ok(at == 1 + run),
                    _ => Err(JpegError::Damaged("too many coefficients")),
                };
            }
            if let Some(&position) = ZIGZAG.get(at)
                && let Some(row) = low.get_mut(usize::from(position / 8))
                && let Some(coefficient) = row.get_mut(usize::from(position % 8))
            {
                *coefficient = (value * i32::from(self.quantization_table[at])) as f32;
            }
            at += 1;
        }
        self.skipper.skip_block(bits, at)?;
        Ok(false)
    }

    #[inline]
    fn store<const N: usize>(&mut self, at: usize, block: [[u8; N]; N]) {
        let rows = self.plane.samples[at..].chunks_mut(self.plane.stride);
        for (row, samples) in rows.zip(block) {
            row[..N].copy_from_slice(&samples);
        }
    }
}

/// The dequantized low frequencies of a block, as rows of four.
pub type LowFrequencies = [[f32; 4]; 4];

/// Returns the mean of a block, which follows from its DC coefficient.
#[inline]
pub fn idct_1x1(dc: i32) -> u8 {
    clamp(((dc + 4) >> 3) + 128)
}

#[inline]
pub fn idct_2x2(low: &LowFrequencies) -> [[u8; 2]; 2] {
    let [[a, b, ..], [c, d, ..], ..] = *low;
    [
        [sample((a + b + c + d) / 8.0), sample((a - b + c - d) / 8.0)],
        [sample((a + b - c - d) / 8.0), sample((a - b - c + d) / 8.0)],
    ]
}

#[inline]
pub fn idct_4x4(low: &LowFrequencies) -> [[u8; 4]; 4] {
    let rows = transpose(transform_columns(*low));
    let columns = transpose(transform_columns(rows));
    columns.map(|row| row.map(sample))
}

/// The four-point transform down each column.
fn transform_columns([x0, x1, x2, x3]: LowFrequencies) -> LowFrequencies {
    // cos(k pi / 8) / 2 for k = 1, 2, 3.
    const C1: f32 = 0.461_939_77;
    const C2: f32 = 0.353_553_4;
    const C3: f32 = 0.191_341_72;
    let mut out = LowFrequencies::default();
    for i in 0..4 {
        let (near, far) = (C2 * (x0[i] + x2[i]), C2 * (x0[i] - x2[i]));
        let (outer, inner) = (C1 * x1[i] + C3 * x3[i], C3 * x1[i] - C1 * x3[i]);
        out[0][i] = near + outer;
        out[1][i] = far + inner;
        out[2][i] = far - inner;
        out[3][i] = near - outer;
    }
    out
}

fn transpose(low: LowFrequencies) -> LowFrequencies {
    let mut out = LowFrequencies::default();
    for (y, row) in low.into_iter().enumerate() {
        for (x, value) in row.into_iter().enumerate() {
            out[x][y] = value;
        }
    }
    out
}

/// Converts a level around zero to a sample. The cast saturates.
#[inline]
fn sample(level: f32) -> u8 {
    (level + 128.5) as u8
}

#[inline]
fn clamp(level: i32) -> u8 {
    level.clamp(0, 255) as u8
}

pub fn to_rgb(planes: &[ComponentPlane], color: ColorSpace, width: u32, height: u32) -> RgbImage {
    let mut picture = RgbImage::new(width, height);
    Arch::new().dispatch(RgbConversion { planes, color, picture: &mut picture });
    picture
}

/// The conversion of planes to a picture. It is a type for the same reason as [`McuRun`].
struct RgbConversion<'a> {
    planes: &'a [ComponentPlane],
    color: ColorSpace,
    picture: &'a mut RgbImage,
}

impl NullaryFnOnce for RgbConversion<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let width = self.picture.width() as usize;
        let mut spread = [vec![0; width], vec![0; width], vec![0; width]];
        for (y, row) in self.picture.chunks_exact_mut(3 * width.max(1)).enumerate() {
            let pixels = row.as_chunks_mut::<3>().0;
            if let [first, second, third] = self.planes {
                let [a, b, c] = &mut spread;
                let rows = [first.row(y, a), second.row(y, b), third.row(y, c)];
                match self.color {
                    ColorSpace::Rgb => interleave_rgb(rows, pixels),
                    ColorSpace::YCbCr => convert_ycbcr(rows, pixels),
                }
            } else if let [gray] = self.planes {
                for (pixel, &sample) in pixels.iter_mut().zip(gray.row(y, &mut spread[0])) {
                    *pixel = [sample; 3];
                }
            }
        }
    }
}

#[inline(always)]
fn interleave_rgb([red, green, blue]: [&[u8]; 3], pixels: &mut [[u8; 3]]) {
    for (((pixel, &red), &green), &blue) in pixels.iter_mut().zip(red).zip(green).zip(blue) {
        *pixel = [red, green, blue];
    }
}

#[inline(always)]
fn convert_ycbcr([luma, cb, cr]: [&[u8]; 3], pixels: &mut [[u8; 3]]) {
    for (((pixel, &luma), &cb), &cr) in pixels.iter_mut().zip(luma).zip(cb).zip(cr) {
        *pixel = ycbcr_to_rgb([luma, cb, cr]);
    }
}

/// Converts a color by JFIF, in 16.16 fixed point.
#[inline]
pub fn ycbcr_to_rgb([luma, cb, cr]: [u8; 3]) -> [u8; 3] {
    const HALF: i32 = 1 << 15;
    let luma = (i32::from(luma) << 16) + HALF;
    let (cb, cr) = (i32::from(cb) - 128, i32::from(cr) - 128);
    let sample = |level: i32| (level >> 16).clamp(0, 255) as u8;
    [
        sample(luma + 91_881 * cr),
        sample(luma - 22_554 * cb - 46_802 * cr),
        sample(luma + 116_130 * cb),
    ]
}

//! Decodes the entropy-coded data of a sequential JPEG to planes of reduced size, and the planes to pixels. The inverse
//! cosine transform treats the low frequencies of an 8x8 block as a block of 1x1 to 6x6.

#![expect(
    clippy::inline_always,
    reason = "the reader stays in registers only if all that reads bits is inlined into the loop over blocks"
)]

use std::f32::consts::PI;

use image::RgbImage;
use pulp::{Arch, NullaryFnOnce};

use super::{
    error::JpegError,
    header::{ColorSpace, Component, Header},
    huffman::{BitReader, CoefficientReader, CoefficientSkipper, END_OF_BLOCK, HuffmanTable},
};

/// The positions (8 times the row plus the column) of the coefficients in zigzag order.
#[rustfmt::skip]
const ZIGZAG: [u8; 64] = [
     0,  1,  8, 16,  9,  2,  3, 10, 17, 24, 32, 25, 18, 11,  4,  5,
    12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13,  6,  7, 14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
    58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
];

/// Returns the last coefficient in zigzag order that `side` x `side` samples show.
const fn last_coefficient(side: u8) -> usize {
    let mut last = ZIGZAG.len() - 1;
    while ZIGZAG[last] / 8 >= side || ZIGZAG[last] % 8 >= side {
        last -= 1;
    }
    last
}

/// The coefficients of a block by rows.
type Coefficients = [[i16; LANES]; LANES];

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

/// Decodes the scan to `SIDE` x `SIDE` samples (1 to 6) for each block of 8x8 pixels.
pub fn decode<const SIDE: usize>(
    bytes: &[u8],
    header: &Header,
) -> Result<Vec<ComponentPlane>, JpegError> {
    let mut bits = BitReader::new(bytes, header.scan_start);
    let basis = cosine_basis();
    let mut channels = header
        .components
        .iter()
        .map(|component| ComponentDecoder::<SIDE>::new(component, header, &basis))
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
    /// The quantization step of the DC coefficient.
    dc_step: i32,
    /// The quantization steps by rows, times the share of the frequency that remains.
    steps: [Row; LANES],
    basis: &'a [Row; SIDE],
    last_dc: i32,
    /// The position at which the samples of the next MCU begin.
    position: usize,
}

impl<'a, const SIDE: usize> ComponentDecoder<'a, SIDE> {
    /// The last coefficient that is read, in zigzag order.
    const LAST: usize = last_coefficient(SIDE as u8);

    fn new(
        component: &Component,
        header: &'a Header,
        basis: &'a [Row; SIDE],
    ) -> Result<Self, JpegError> {
        let (across, down) = header.mcu_counts();
        let stride = across * component.sampling.0 * SIDE;
        let [dc, ac] = header.huffman_tables(component);
        let (dc, ac) = (dc?, ac?);
        let (max_across, max_down) = header.max_sampling();
        let table = header.quantization_table(component)?;
        let mut steps = [[0.0; LANES]; LANES];
        for (step, position) in table.into_iter().zip(ZIGZAG) {
            let weight = averaging_response::<SIDE>;
            steps.as_flattened_mut()[usize::from(position)] =
                f32::from(step) * weight(position / 8) * weight(position % 8);
        }
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
            dc_step: table[0].into(),
            steps,
            basis,
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
        let dc = self.last_dc.wrapping_mul(self.dc_step);
        let plain = idct_1x1(dc.clamp(-1 << 16, 1 << 16));
        let Some(ac) = self.ac else {
            self.plane.samples[at] = plain;
            return self.skipper.skip_block(bits, 1);
        };
        // The cast is lossless, because the sum is a number of 16 bits.
        let mut coefficients = Coefficients::default();
        coefficients[0][0] = self.last_dc as i16;
        let is_plain = self.read_low_frequencies(ac, bits, &mut coefficients)?;
        let samples = if is_plain {
            [[plain; LANES]; SIDE]
        } else {
            idct(&self.dequantize(&coefficients), self.basis)
        };
        self.store(at, &samples);
        Ok(())
    }

    /// Reads the low AC coefficients and skips the rest. Returns whether the block has no AC coefficient at all, as on
    /// plain surfaces.
    #[inline(always)]
    fn read_low_frequencies(
        &self,
        ac: CoefficientReader,
        bits: &mut BitReader,
        coefficients: &mut Coefficients,
    ) -> Result<bool, JpegError> {
        let coefficients = coefficients.as_flattened_mut();
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
            coefficients[usize::from(ZIGZAG[at])] = value as i16;
            at += 1;
        }
        self.skipper.skip_block(bits, at)?;
        Ok(false)
    }

    #[inline(always)]
    fn dequantize(&self, coefficients: &Coefficients) -> [Row; SIDE] {
        let mut low = [[0.0; LANES]; SIDE];
        for ((row, coefficients), steps) in low.iter_mut().zip(coefficients).zip(&self.steps) {
            for ((value, &coefficient), step) in row.iter_mut().zip(coefficients).zip(steps) {
                *value = f32::from(coefficient) * step;
            }
        }
        low
    }

    #[inline(always)]
    fn store(&mut self, at: usize, block: &[[u8; LANES]; SIDE]) {
        let rows = self.plane.samples[at..].chunks_mut(self.plane.stride);
        for (row, samples) in rows.zip(block) {
            row[..SIDE].copy_from_slice(&samples[..SIDE]);
        }
    }
}

/// Returns the mean of a block, which follows from its DC coefficient.
#[inline]
pub fn idct_1x1(dc: i32) -> u8 {
    clamp(((dc + 4) >> 3) + 128)
}

/// The length of a row of coefficients or samples. It is the same at every scale, so that the compiler uses vectors.
const LANES: usize = 8;

type Row = [f32; LANES];

/// Returns the basis of the inverse cosine transform to `SIDE` samples: a row for each frequency, with its amplitudes at
/// the samples.
fn cosine_basis<const SIDE: usize>() -> [Row; SIDE] {
    std::array::from_fn(|frequency| {
        let scale = if frequency == 0 { 0.125_f32.sqrt() } else { 0.5 };
        std::array::from_fn(|at| {
            let turn = (2 * at + 1) as f32 * frequency as f32 * PI / (2 * SIDE) as f32;
            if at < SIDE { scale * turn.cos() } else { 0.0 }
        })
    })
}

/// Returns the share of a frequency that remains in the averages of the areas of the `SIDE` samples. Without this factor,
/// the frequencies that are cut off would leave ripples beside edges.
fn averaging_response<const SIDE: usize>(frequency: u8) -> f32 {
    let turn = f32::from(frequency) * PI / (2 * SIDE) as f32;
    if frequency == 0 { 1.0 } else { turn.sin() / turn }
}

/// The sample of the level zero.
const ZERO_SAMPLE: f32 = 128.0;
/// A float of this size (2^23) has no bits after the point.
const INTEGER_BITS: f32 = 8_388_608.0;

/// Returns the samples of a block with these low frequencies: the first `SIDE` of each row.
#[inline(always)]
fn idct<const SIDE: usize>(low: &[Row; SIDE], basis: &[Row; SIDE]) -> [[u8; LANES]; SIDE] {
    let mut block = [[0; LANES]; SIDE];
    for (y, row) in block.iter_mut().enumerate() {
        let mut across = [0.0; LANES];
        for (frequencies, amplitudes) in low.iter().zip(basis) {
            add_product(&mut across, frequencies, amplitudes[y]);
        }
        let mut levels = [ZERO_SAMPLE; LANES];
        for (frequency, amplitudes) in across.into_iter().zip(basis) {
            add_product(&mut levels, amplitudes, frequency);
        }
        for (sample, level) in row.iter_mut().zip(levels) {
            // The sum has the rounded level in its lowest bits. A cast of a float would not be compiled to vectors.
            *sample = (level.clamp(0.0, 255.0) + INTEGER_BITS).to_bits() as u8;
        }
    }
    block
}

#[inline(always)]
fn add_product(sums: &mut Row, values: &Row, factor: f32) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum += factor * value;
    }
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

//! Computes depthwise convolutions, in which each channel of a picture is filtered by itself. In small models,
//! depthwise convolutions take half of the time of the runtime, although they are a tenth of the multiplications;
//! `staged_run` runs them here instead.
//!
//! Each channel is copied into a padded plane, so that the loop over the picture has no special case for borders. If
//! the stride is above 1, columns are grouped by their position in the stride, so that the loop reads adjacent numbers.
//!
//! The inner loop consists of plain loops over lanes that the compiler vectorizes; `pulp` selects the widest
//! instructions of the processor at run time. Products are added in the order of the weights, so that results are the
//! same on every machine.

#![expect(
    clippy::inline_always,
    reason = "only what is inlined into a dispatched call is compiled for its processor"
)]

use pulp::Arch;
use rayon::prelude::*;
use rten_tensor::{NdTensorView, Tensor, prelude::*};

/// The number of channels that a thread takes at once.
const CHANNELS: usize = 8;
/// Rows up to this width are filtered with half as many lanes.
const NARROW: usize = 8;

pub struct DepthwiseConvolution {
    pub geometry: FilterGeometry,
    /// The weights of each channel, row by row.
    pub weights: Vec<f32>,
    /// The bias of each channel.
    pub bias: Vec<f32>,
}

impl DepthwiseConvolution {
    /// Filters pictures. The output is written to `buffer`, whose previous content is ignored.
    pub fn apply(
        &self,
        input: &NdTensorView<f32, 4>,
        mut buffer: Vec<f32>,
    ) -> Result<Tensor<f32>, String> {
        let [batch, channels, height, width] = input.shape();
        let output = self.geometry.output_size([height, width]);
        let output = output.filter(|_| channels == self.bias.len());
        let output = output.ok_or_else(|| {
            format!("a convolution of {} channels got {:?}", self.bias.len(), input.shape())
        })?;
        let [source, target] = [height * width, output[0] * output[1]];
        buffer.resize(batch * channels * target, 0.0);
        let input = input.to_contiguous();
        // An empty picture has no chunks.
        let sources = input.data().par_chunks((source * CHANNELS).max(1));
        let targets = buffer.par_chunks_mut((target * CHANNELS).max(1));
        targets.zip(sources).enumerate().for_each(|(at, (targets, sources))| {
            let mut plane = PaddedPlane::new(&self.geometry, output);
            let channel = |at: usize| at % channels;
            let planes = targets.chunks_mut(target).zip(sources.chunks(source));
            for (next, (target, source)) in planes.enumerate() {
                plane.fill(source, width);
                self.filter(&plane, channel(at * CHANNELS + next), output[1], target);
            }
        });
        Ok(Tensor::from_data(&[batch, channels, output[0], output[1]], buffer))
    }

    fn filter(&self, plane: &PaddedPlane, channel: usize, width: usize, output: &mut [f32]) {
        let [rows, columns] = self.geometry.size;
        let weights = self.weights.chunks_exact(rows * columns).nth(channel).unwrap_or_default();
        let tap = |(&offset, &weight): (&usize, &f32)| Tap { offset, weight };
        let filter = PlaneFilter {
            plane: &plane.numbers,
            row_step: plane.row_step(),
            taps: &plane.offsets.iter().zip(weights).map(tap).collect::<Vec<_>>(),
            bias: self.bias[channel],
            width,
        };
        if width <= NARROW { filter.run::<NARROW>(output) } else { filter.run::<16>(output) }
    }
}

/// The limit for sizes, strides and paddings. Larger ones are left to the runtime, so that no size overflows here.
const MAX_SIZE: usize = 64;

/// The positions at which a filter is applied. Pairs are vertical, then horizontal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterGeometry {
    pub size: [usize; 2],
    pub strides: [usize; 2],
    pub dilations: [usize; 2],
    /// The padding at the top, left, bottom and right.
    pub padding: [usize; 4],
}

impl FilterGeometry {
    pub fn is_supported(&self) -> bool {
        let positive = [self.size, self.strides, self.dilations];
        positive.as_flattened().iter().all(|size| (1..=MAX_SIZE).contains(size))
            && self.padding.iter().all(|size| *size <= MAX_SIZE)
    }

    /// Returns the number of rows and columns that a filter spans.
    pub fn extent(&self) -> [usize; 2] {
        [0, 1].map(|axis| (self.size[axis] - 1) * self.dilations[axis] + 1)
    }

    /// Returns the size of the output for an input of this size, or `None` if the filter is larger than the padded
    /// picture.
    pub fn output_size(&self, input: [usize; 2]) -> Option<[usize; 2]> {
        let size = |axis: usize| {
            let padded = input[axis] + self.padding[axis] + self.padding[axis + 2];
            Some(padded.checked_sub(self.extent()[axis])? / self.strides[axis] + 1)
        };
        Some([size(0)?, size(1)?])
    }
}

/// One channel of a picture with its padding. A row is divided into as many parts as the stride has columns. The first
/// part has every column that is read first, and so on, so that the loop reads adjacent numbers. After each row and
/// below the last row, there is room for all lanes of the loop.
pub struct PaddedPlane {
    numbers: Vec<f32>,
    padding: [usize; 2],
    strides: [usize; 2],
    part: usize,
    /// The position that each weight of a filter reads, relative to the position of the output.
    offsets: Vec<usize>,
}

impl PaddedPlane {
    /// Creates an empty plane for an output of this size.
    pub fn new(geometry: &FilterGeometry, output: [usize; 2]) -> Self {
        let FilterGeometry { size, strides, dilations, padding } = *geometry;
        let [rows, lanes] = [output[0].next_multiple_of(ROWS), output[1].next_multiple_of(16)];
        let part = lanes + (geometry.extent()[1] - 1) / strides[1];
        let rows = rows.saturating_sub(1) * strides[0] + geometry.extent()[0];
        let row_length = part * strides[1];
        let offset = |row: usize, column: usize| {
            let column = column * dilations[1];
            row * dilations[0] * row_length + column % strides[1] * part + column / strides[1]
        };
        let offsets = (0..size[0])
            .flat_map(|row| (0..size[1]).map(move |column| offset(row, column)))
            .collect();
        let numbers = vec![0.0; rows * row_length];
        Self { numbers, padding: [padding[0], padding[1]], strides, part, offsets }
    }

    /// Returns the distance between the numbers that two consecutive rows of the output read.
    pub fn row_step(&self) -> usize {
        self.strides[0] * self.part * self.strides[1]
    }

    /// Copies a picture of this width into the plane. The padding around it stays 0.
    pub fn fill(&mut self, picture: &[f32], width: usize) {
        let [top, left] = self.padding;
        let stride = self.strides[1];
        let rows = self.numbers.chunks_exact_mut(self.part * stride).skip(top);
        for (source, target) in picture.chunks_exact(width).zip(rows) {
            for (at, target) in target.chunks_exact_mut(self.part).enumerate() {
                // The first column of the picture that belongs to this part.
                let first = (at + stride - left % stride) % stride;
                let source = source.get(first..).unwrap_or_default();
                let target = target.get_mut((first + left) / stride..).unwrap_or_default();
                copy_every(stride, source, target);
            }
        }
    }
}

/// Copies every `stride`-th number. The usual strides are constants, so that the compiler uses vectors.
fn copy_every(stride: usize, source: &[f32], target: &mut [f32]) {
    match stride {
        1 => copy(source, target),
        2 => {
            let (pairs, rest) = source.as_chunks::<2>();
            copy(pairs.iter().map(|[first, _]| first), target);
            copy(rest, target.get_mut(pairs.len()..).unwrap_or_default());
        }
        _ => copy(source.iter().step_by(stride), target),
    }
}

fn copy<'a>(source: impl IntoIterator<Item = &'a f32>, target: &mut [f32]) {
    target.iter_mut().zip(source).for_each(|(target, number)| *target = *number);
}

/// The number of rows that are filtered together. Their sums stay in registers, and each weight is read once for all of
/// them.
pub const ROWS: usize = 4;

/// A weight, and the position that it reads relative to the position of an output.
#[derive(Clone, Copy)]
pub struct Tap {
    pub offset: usize,
    pub weight: f32,
}

/// The filter of one channel.
pub struct PlaneFilter<'a> {
    /// The padded numbers, with room for all lanes and [`ROWS`].
    pub plane: &'a [f32],
    pub row_step: usize,
    pub taps: &'a [Tap],
    pub bias: f32,
    /// The width of the output.
    pub width: usize,
}

impl PlaneFilter<'_> {
    pub fn run<const LANES: usize>(&self, output: &mut [f32]) {
        Arch::new().dispatch(FilterCall::<LANES> { filter: self, output });
    }

    /// Returns the sums of a block of outputs.
    #[inline(always)]
    fn sums<const LANES: usize>(&self, begin: usize) -> [[f32; LANES]; ROWS] {
        let mut sums = [[self.bias; LANES]; ROWS];
        // If the rows are not indexed, all sums stay in registers.
        let [first, second, third, fourth] = &mut sums;
        let plane = &self.plane[begin..];
        for tap in self.taps {
            let rows = &plane[tap.offset..];
            let row = |number: usize| &rows[number * self.row_step..][..LANES];
            add_products(first, row(0), tap.weight);
            add_products(second, row(1), tap.weight);
            add_products(third, row(2), tap.weight);
            add_products(fourth, row(3), tap.weight);
        }
        sums
    }
}

#[inline(always)]
fn add_products<const LANES: usize>(sums: &mut [f32; LANES], numbers: &[f32], weight: f32) {
    for lane in 0..LANES {
        sums[lane] += numbers[lane] * weight;
    }
}

/// A call with its arguments. A closure cannot be used, because its body would not be inlined and therefore not be
/// compiled for the processor.
struct FilterCall<'a, const LANES: usize> {
    filter: &'a PlaneFilter<'a>,
    output: &'a mut [f32],
}

impl<const LANES: usize> pulp::NullaryFnOnce for FilterCall<'_, LANES> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let PlaneFilter { width, row_step, .. } = *self.filter;
        for (band, rows) in self.output.chunks_mut(ROWS * width).enumerate() {
            for left in (0..width).step_by(LANES) {
                let sums = self.filter.sums::<LANES>(band * ROWS * row_step + left);
                for (row, sums) in rows.chunks_exact_mut(width).zip(&sums) {
                    let rest = &mut row[left..];
                    if let Some(whole) = rest.first_chunk_mut() {
                        *whole = *sums;
                    } else {
                        rest.copy_from_slice(&sums[..rest.len()]);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;

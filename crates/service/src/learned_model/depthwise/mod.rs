//! Depthwise convolutions, in which each channel of a picture is filtered by itself: half of the work of the runtime in
//! small models, although they have a tenth of the multiplications.
//!
//! Each channel is copied into a padded plane, so that the loop over the picture knows no borders, with the
//! columns of a stride apart, so that it reads them in a row.

mod operators;
mod padded_plane;
mod plane_filter;

use rayon::prelude::*;
use rten_tensor::{NdTensorView, Tensor, prelude::*};

pub use operators::{ConvolutionOperator, OperatorReader};
use padded_plane::PaddedPlane;
use plane_filter::{PlaneFilter, Tap};

/// Larger filters, steps and paddings are left to the runtime. With these, no size in here overflows.
pub const MAX_SIZE: usize = 64;
/// Channels that a thread takes at once.
const CHANNELS: usize = 8;
/// Rows of pictures up to this width are filtered with half as many lanes.
const NARROW: usize = 8;

/// Where a filter is applied. Pairs are vertical, then horizontal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterGeometry {
    pub size: [usize; 2],
    pub strides: [usize; 2],
    pub dilations: [usize; 2],
    /// At the top, left, bottom and right.
    pub padding: [usize; 4],
}

impl FilterGeometry {
    pub fn is_supported(&self) -> bool {
        let positive = [self.size, self.strides, self.dilations];
        positive.as_flattened().iter().all(|size| (1..=MAX_SIZE).contains(size))
            && self.padding.iter().all(|size| *size <= MAX_SIZE)
    }

    /// Rows and columns that a filter reaches over.
    fn extent(&self) -> [usize; 2] {
        [0, 1].map(|axis| (self.size[axis] - 1) * self.dilations[axis] + 1)
    }

    /// The size of the output for one of the input. `None` if the filter is larger than the padded picture.
    fn output_size(&self, input: [usize; 2]) -> Option<[usize; 2]> {
        let size = |axis: usize| {
            let padded = input[axis] + self.padding[axis] + self.padding[axis + 2];
            Some(padded.checked_sub(self.extent()[axis])? / self.strides[axis] + 1)
        };
        Some([size(0)?, size(1)?])
    }
}

pub struct DepthwiseConvolution {
    pub geometry: FilterGeometry,
    /// Of each channel, in rows.
    pub weights: Vec<f32>,
    /// Of each channel.
    pub bias: Vec<f32>,
}

impl DepthwiseConvolution {
    /// Filters pictures. The output is written to `buffer`, whose content does not matter.
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
            plane: plane.numbers(),
            row_step: plane.row_step(),
            taps: &plane.offsets().iter().zip(weights).map(tap).collect::<Vec<_>>(),
            bias: self.bias[channel],
            width,
        };
        if width <= NARROW { filter.run::<NARROW>(output) } else { filter.run::<16>(output) }
    }
}

#[cfg(test)]
mod tests;

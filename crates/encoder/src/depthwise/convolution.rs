//! Filters each channel of a picture by itself.

use rayon::prelude::*;
use rten_tensor::{NdTensorView, Tensor, prelude::*};

use super::{
    filter_geometry::FilterGeometry,
    padded_plane::PaddedPlane,
    plane_filter::{PlaneFilter, Tap},
};

/// Channels that a thread takes at once.
const CHANNELS: usize = 8;
/// Rows of pictures up to this width are filtered with half as many lanes.
const NARROW: usize = 8;

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

//! The visual descriptor of an image: a unit vector, computed without a learned model.
//!
//! It concatenates edges (fine and coarse), color layout and color histogram. Each block is
//! centered on the mean of ordinary photographs and weighted. Without centering all images would be
//! close together; with it, unrelated images have a distance of about 1.

use half::f16;
use image::RgbImage;

use super::{
    color::OpponentChannels,
    descriptor_mean::{DESCRIPTOR_MEAN, DIMENSION},
    grid::{SQUARE_SIDE, downsample_2x},
    orientation_histogram::orientation_descriptor,
};

/// Length and factor of each block.
///
/// The factor is the weight of the block divided by its deviation over the photographs of
/// [`DESCRIPTOR_MEAN`]. Differences between the halves of an image weigh less than their means, and
/// edges weigh most.
const BLOCK_WEIGHTS: [(usize, f32); 11] = [
    (64, 1.45), // fine edges: 1.0
    (64, 2.33), // differences: 0.7
    (16, 1.63), // coarse edges: 0.5
    (16, 2.62), // differences: 0.35
    (8, 0.34),  // lightness: 0.5
    (8, 0.53),  // differences: 0.35
    (8, 2.46),  // red against green: 0.5
    (8, 6.69),  // differences: 0.35
    (8, 1.98),  // yellow against blue: 0.5
    (8, 5.78),  // differences: 0.35
    (48, 1.60), // color histogram: 0.8
];

/// Computes the descriptor of a square copy: [`DIMENSION`] numbers, length 1.
pub fn compute_descriptor(square: &RgbImage) -> Vec<f16> {
    let mut vector = raw_descriptor(square);
    let weights =
        BLOCK_WEIGHTS.iter().flat_map(|&(count, weight)| std::iter::repeat_n(weight, count));
    for ((value, center), weight) in vector.iter_mut().zip(&DESCRIPTOR_MEAN).zip(weights) {
        *value = (*value - center) * weight;
    }
    let length = vector.iter().map(|v| v * v).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    vector.iter().map(|value| f16::from_f32(value / length)).collect()
}

/// The blocks before centering.
pub fn raw_descriptor(square: &RgbImage) -> Vec<f32> {
    let gray: Vec<f32> = square
        .pixels()
        .map(|pixel| {
            let [red, green, blue] = pixel.0.map(f32::from);
            (0.299 * red + 0.587 * green + 0.114 * blue) / 255.0
        })
        .collect();
    let coarse = downsample_2x(&downsample_2x(&gray, SQUARE_SIDE), SQUARE_SIDE / 2);
    let colors = OpponentChannels::new(square);
    let mut vector = Vec::with_capacity(DIMENSION);
    vector.extend(orientation_descriptor(&gray, SQUARE_SIDE, 4));
    vector.extend(orientation_descriptor(&coarse, SQUARE_SIDE / 4, 2));
    vector.extend(colors.layout());
    vector.extend(colors.histogram());
    vector
}

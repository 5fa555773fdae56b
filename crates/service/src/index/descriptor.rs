//! The look of a picture as one unit vector, without any learned model.
//!
//! Edges (fine and coarse), colour layout and colour histogram are put side by side. Each block is
//! centred on what an ordinary photograph has there and weighted; without the centring all
//! pictures would lie close together, with it unrelated ones are about 1 apart.

use half::f16;
use image::RgbImage;

use super::{
    DIMENSION,
    color::OpponentChannels,
    descriptor_mean::DESCRIPTOR_MEAN,
    grid::{SQUARE_SIDE, downsample_2x},
    orientation_histogram::orientation_descriptor,
};

/// The blocks in order: how many numbers, and what they are multiplied by after centring.
///
/// Each factor is the weight of the block divided by its spread over the photographs of
/// [`CENTRE`]. Differences between the halves of a picture weigh less than what both have in
/// common, and edges most.
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
    (48, 1.60), // colour histogram: 0.8
];

/// The descriptor of a square copy: [`DIMENSION`] numbers, length 1.
pub fn compute_descriptor(square: &RgbImage) -> Vec<f16> {
    let mut vector = raw_descriptor(square);
    let weights =
        BLOCK_WEIGHTS.iter().flat_map(|&(count, weight)| std::iter::repeat_n(weight, count));
    for ((value, centre), weight) in vector.iter_mut().zip(&DESCRIPTOR_MEAN).zip(weights) {
        *value = (*value - centre) * weight;
    }
    let length = vector.iter().map(|v| v * v).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    vector.iter().map(|value| f16::from_f32(value / length)).collect()
}

/// The blocks as measured, before centring.
pub fn raw_descriptor(square: &RgbImage) -> Vec<f32> {
    let grey: Vec<f32> = square
        .pixels()
        .map(|pixel| {
            let [red, green, blue] = pixel.0.map(f32::from);
            (0.299 * red + 0.587 * green + 0.114 * blue) / 255.0
        })
        .collect();
    let coarse = downsample_2x(&downsample_2x(&grey, SQUARE_SIDE), SQUARE_SIDE / 2);
    let colours = OpponentChannels::new(square);
    let mut vector = Vec::with_capacity(DIMENSION);
    vector.extend(orientation_descriptor(&grey, SQUARE_SIDE, 4));
    vector.extend(orientation_descriptor(&coarse, SQUARE_SIDE / 4, 2));
    vector.extend(colours.layout());
    vector.extend(colours.histogram());
    vector
}

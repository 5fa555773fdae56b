//! The perceptual hash: the signs of the lowest frequencies of a picture.

use std::{f32::consts::PI, sync::LazyLock};

use image::RgbImage;

use super::grid::{SQUARE, halve};

/// Pixels a side the transform sees.
const SIDE: usize = SQUARE / 2;
/// Frequencies a side that are kept.
const KEPT: usize = 8;

/// Cosines of the lowest frequencies, one line of [`SIDE`] per frequency, the constant left out.
static COSINES: LazyLock<[[f32; SIDE]; KEPT]> = LazyLock::new(|| {
    std::array::from_fn(|frequency| {
        std::array::from_fn(|at| {
            ((2 * at + 1) as f32 * frequency as f32 * PI / (2 * SIDE) as f32).cos()
        })
    })
});

/// 64 bits, one per frequency: whether it is above the median. Near-duplicates differ in few bits.
pub fn perceptual(square: &RgbImage) -> u64 {
    let luma: Vec<f32> = super::quality::luma(square).iter().map(|&v| f32::from(v)).collect();
    let grey = halve(&luma, SQUARE);
    let mut across = [[0.0_f32; SIDE]; KEPT];
    for (frequency, line) in across.iter_mut().zip(COSINES.iter()) {
        for (value, row) in frequency.iter_mut().zip(grey.chunks_exact(SIDE)) {
            *value = row.iter().zip(line).map(|(pixel, cosine)| pixel * cosine).sum();
        }
    }
    let both: Vec<f32> = COSINES
        .iter()
        .flat_map(|line| {
            across
                .iter()
                .map(move |column| column.iter().zip(line).map(|(v, cosine)| v * cosine).sum())
        })
        .collect();
    let mut sorted = both.clone();
    sorted.sort_by(f32::total_cmp);
    let median = f32::midpoint(sorted[31], sorted[32]);
    both.iter().fold(0, |bits, value| bits << 1 | u64::from(*value > median))
}

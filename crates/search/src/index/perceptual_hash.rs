//! Perceptual hash: the signs of the lowest DCT frequencies.

use std::{f32::consts::PI, sync::LazyLock};

use image::RgbImage;

use super::grid::{SQUARE_SIDE, downsample_2x};

/// Pixels per side of the transformed image.
const INPUT_SIDE: usize = SQUARE_SIDE / 2;
const FREQUENCIES: usize = 8;

/// DCT basis of the lowest frequencies, one row of [`INPUT_SIDE`] per frequency.
static COSINE_TABLE: LazyLock<[[f32; INPUT_SIDE]; FREQUENCIES]> = LazyLock::new(|| {
    std::array::from_fn(|frequency| {
        std::array::from_fn(|at| {
            ((2 * at + 1) as f32 * frequency as f32 * PI / (2 * INPUT_SIDE) as f32).cos()
        })
    })
});

/// One bit per frequency: whether it is above the median. Near-duplicates differ in few bits.
pub fn compute(square: &RgbImage) -> u64 {
    let luma: Vec<f32> = super::quality::luma(square).iter().map(|&v| f32::from(v)).collect();
    let gray = downsample_2x(&luma, SQUARE_SIDE);
    let mut across = [[0.0_f32; INPUT_SIDE]; FREQUENCIES];
    for (frequency, line) in across.iter_mut().zip(COSINE_TABLE.iter()) {
        for (value, row) in frequency.iter_mut().zip(gray.chunks_exact(INPUT_SIDE)) {
            *value = row.iter().zip(line).map(|(pixel, cosine)| pixel * cosine).sum();
        }
    }
    let both: Vec<f32> = COSINE_TABLE
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

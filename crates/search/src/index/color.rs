//! Color layout and color histogram of an image.

use image::RgbImage;

use super::grid::{SQUARE_SIDE, fold_mirror, soft_pool};

/// Cells per side of the color layout.
const LAYOUT_CELLS: usize = 4;
const HUE_BINS: usize = 15;
const LIGHTNESS_BINS: usize = 3;
/// Chroma of a fully saturated color; below, part of the weight goes to the gray bin.
const FULL_SATURATION: f32 = 0.3;
/// Lightness deviation below which an image counts as flat.
const FLAT_SPREAD: f32 = 0.05;

/// The square copy in opponent color channels, each [`SQUARE_SIDE`] x [`SQUARE_SIDE`].
pub struct OpponentChannels {
    /// Lightness, 0.0 to 1.0.
    lightness: Vec<f32>,
    /// Red against green, -1.0 to 1.0.
    red_green: Vec<f32>,
    /// Yellow against blue, -1.0 to 1.0.
    yellow_blue: Vec<f32>,
}

impl OpponentChannels {
    /// Uses square roots of the values, so that brightening affects dark and light areas equally.
    pub fn new(square: &RgbImage) -> Self {
        let roots: Vec<[f32; 3]> = square
            .pixels()
            .map(|pixel| pixel.0.map(|value| (f32::from(value) / 255.0).sqrt()))
            .collect();
        let plane = |mix: fn(&[f32; 3]) -> f32| roots.iter().map(mix).collect();
        Self {
            lightness: plane(|[r, g, b]| (r + g + b) / 3.0),
            red_green: plane(|[r, g, _]| r - g),
            yellow_blue: plane(|[r, g, b]| f32::midpoint(*r, *g) - b),
        }
    }

    /// Mean colors on a soft grid, folded: 48 numbers. Lightness is standardized.
    pub fn layout(&self) -> Vec<f32> {
        let lightness = standardized(&soft_pool(&self.lightness, SQUARE_SIDE, LAYOUT_CELLS));
        let red_green = soft_pool(&self.red_green, SQUARE_SIDE, LAYOUT_CELLS);
        let yellow_blue = soft_pool(&self.yellow_blue, SQUARE_SIDE, LAYOUT_CELLS);
        [lightness, red_green, yellow_blue]
            .iter()
            .flat_map(|plane| fold_mirror(plane, LAYOUT_CELLS, 1))
            .collect()
    }

    /// Square roots of the share of each lightness and hue bin (15 hues and gray): 48 numbers.
    pub fn histogram(&self) -> Vec<f32> {
        let mut bins = [[0.0_f32; HUE_BINS + 1]; LIGHTNESS_BINS];
        let colors = self.red_green.iter().zip(&self.yellow_blue);
        for (lightness, (red_green, yellow_blue)) in self.lightness.iter().zip(colors) {
            let chroma = (red_green * red_green + yellow_blue * yellow_blue).sqrt();
            let colored = (chroma / FULL_SATURATION).min(1.0);
            let turn = yellow_blue.atan2(*red_green) / std::f32::consts::TAU + 1.0;
            let (hue, towards_next) = split_fraction(turn * HUE_BINS as f32);
            let step =
                (lightness * LIGHTNESS_BINS as f32 - 0.5).clamp(0.0, (LIGHTNESS_BINS - 1) as f32);
            let (level, towards_light) = split_fraction(step);
            let lighter = (level + 1).min(LIGHTNESS_BINS - 1);
            for (level, weight) in [(level, 1.0 - towards_light), (lighter, towards_light)] {
                let row = &mut bins[level];
                row[hue % HUE_BINS] += weight * colored * (1.0 - towards_next);
                row[(hue + 1) % HUE_BINS] += weight * colored * towards_next;
                row[HUE_BINS] += weight * (1.0 - colored);
            }
        }
        let pixels = (SQUARE_SIDE * SQUARE_SIDE) as f32;
        bins.iter().flatten().map(|share| (share / pixels).sqrt()).collect()
    }
}

/// Subtracts the mean and divides by the deviation, so that exposure and contrast do not matter.
fn standardized(values: &[f32]) -> Vec<f32> {
    let count = values.len() as f32;
    let mean = values.iter().sum::<f32>() / count;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f32>() / count;
    let scale = 1.0 / (variance.sqrt() + FLAT_SPREAD);
    values.iter().map(|value| (value - mean) * scale).collect()
}

fn split_fraction(value: f32) -> (usize, f32) {
    (value as usize, value.fract())
}

//! Computes the visual descriptor of an image, a unit vector, and its perceptual hash. No learned model is involved.
//!
//! The descriptor concatenates edges (fine and coarse), color layout and color histogram. Each block is centered on the
//! mean of ordinary photographs and weighted. Without centering, all images would be close together; with it, unrelated
//! images have a distance of about 1.

use std::{
    f32::consts::{FRAC_PI_2, PI, TAU},
    sync::LazyLock,
};

use half::f16;
use image::RgbImage;

use super::quality::{add_color_and_size, plain_color};

/// Length and factor of each block of the descriptor.
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

/// Computes the descriptor of the square copy of an image of `size` pixels: [`DIMENSION`] numbers, length 1.
pub fn compute_descriptor(square: &RgbImage, size: (u32, u32)) -> Vec<f16> {
    let mut vector = raw_descriptor(square);
    let weights =
        BLOCK_WEIGHTS.iter().flat_map(|&(count, weight)| std::iter::repeat_n(weight, count));
    for ((value, center), weight) in vector.iter_mut().zip(&DESCRIPTOR_MEAN).zip(weights) {
        *value = (*value - center) * weight;
    }
    if let Some(color) = plain_color(square) {
        add_color_and_size(&mut vector, color, size);
    }
    let length = vector.iter().map(|v| v * v).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    vector.iter().map(|value| f16::from_f32(value / length)).collect()
}

/// Computes the blocks before centering.
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

/// Cells per side of the color layout.
const LAYOUT_CELLS: usize = 4;
const HUE_BINS: usize = 15;
const LIGHTNESS_BINS: usize = 3;
/// Chroma of a fully saturated color. Below this chroma, a part of the weight goes to the gray bin.
const FULL_SATURATION: f32 = 0.3;
/// Lightness deviation below which an image counts as flat.
const FLAT_SPREAD: f32 = 0.05;

/// The square root of each sample, 0.0 to 1.0.
static ROOTS: LazyLock<[f32; 256]> =
    LazyLock::new(|| std::array::from_fn(|value| (value as f32 / 255.0).sqrt()));

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
    /// Converts the square copy. Square roots of the values make brightening affect dark and light areas equally.
    pub fn new(square: &RgbImage) -> Self {
        let roots: Vec<[f32; 3]> =
            square.pixels().map(|pixel| pixel.0.map(|value| ROOTS[usize::from(value)])).collect();
        Self {
            lightness: roots.iter().map(|[r, g, b]| (r + g + b) / 3.0).collect(),
            red_green: roots.iter().map(|[r, g, _]| r - g).collect(),
            yellow_blue: roots.iter().map(|[r, g, b]| f32::midpoint(*r, *g) - b).collect(),
        }
    }

    /// Returns the mean colors on a soft grid, folded to 48 numbers. Lightness is standardized.
    pub fn layout(&self) -> Vec<f32> {
        let lightness = standardized(&soft_pool(&self.lightness, SQUARE_SIDE, LAYOUT_CELLS));
        let red_green = soft_pool(&self.red_green, SQUARE_SIDE, LAYOUT_CELLS);
        let yellow_blue = soft_pool(&self.yellow_blue, SQUARE_SIDE, LAYOUT_CELLS);
        [lightness, red_green, yellow_blue]
            .iter()
            .flat_map(|channel| fold_mirror(channel, LAYOUT_CELLS, 1))
            .collect()
    }

    /// Returns the square roots of the shares of each lightness and hue bin (15 hues and gray): 48 numbers.
    pub fn histogram(&self) -> Vec<f32> {
        let mut bins = [[0.0_f32; HUE_BINS + 1]; LIGHTNESS_BINS];
        // The loop without a condition comes first, because the compiler uses vectors for it.
        let mut colors = vec![(0.0, 0.0); self.lightness.len()];
        let channels = self.red_green.iter().zip(&self.yellow_blue);
        for ((hue, colored), (red_green, yellow_blue)) in colors.iter_mut().zip(channels) {
            let chroma = (red_green * red_green + yellow_blue * yellow_blue).sqrt();
            *colored = (chroma / FULL_SATURATION).min(1.0);
            *hue = (angle(*red_green, *yellow_blue) / TAU + 1.0) * HUE_BINS as f32;
        }
        for (lightness, (hue, colored)) in self.lightness.iter().zip(colors) {
            let (hue, towards_next) = split_fraction(hue);
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

/// Splits a number of at least 0 into its whole part and its fraction. `f32::fract` calls a function of the C library
/// on processors of the baseline.
pub(super) fn split_fraction(value: f32) -> (usize, f32) {
    let whole = value as u32;
    (whole as usize, value - whole as f32)
}

/// Returns the angle of the vector (`x`, `y`) in radians, like `atan2`, with an error of at most 2e-5. The polynomial is
/// from Abramowitz and Stegun, "Handbook of Mathematical Functions", 4.4.49. It takes a third of the time of `atan2`.
fn angle(x: f32, y: f32) -> f32 {
    const POLYNOMIAL: [f32; 5] = [0.020_835_1, -0.085_133, 0.180_141, -0.330_299_5, 0.999_866];
    let (across, up) = (x.abs(), y.abs());
    let ratio = across.min(up) / across.max(up).max(f32::MIN_POSITIVE);
    let square = ratio * ratio;
    let angle = ratio * POLYNOMIAL.into_iter().fold(0.0, |sum, factor| sum * square + factor);
    let angle = if up > across { FRAC_PI_2 - angle } else { angle };
    let angle = if x < 0.0 { PI - angle } else { angle };
    angle.copysign(y)
}

/// Orientation bins over a half turn (edges have no sign).
const DIRECTION_BINS: usize = 8;
/// Edge strength below which a cell counts as flat, in luma times pixels.
const FLAT_STRENGTH: f32 = 1e-2;

/// Computes the orientation histograms of a square gray image (`side` x `side`, 0.0 to 1.0) on `cells` x `cells` cells.
/// The result is folded and has eight numbers per cell.
pub fn orientation_descriptor(gray: &[f32], side: usize, cells: usize) -> Vec<f32> {
    let mut grid = cell_histograms(gray, side, cells);
    normalize(&mut grid, cells);
    fold_mirror(&grid, cells, DIRECTION_BINS)
}

/// Returns the edge strength by cell and orientation, with linear interpolation in both.
fn cell_histograms(gray: &[f32], side: usize, cells: usize) -> Vec<f32> {
    let shares = cell_weights(side, cells);
    let width = cells * DIRECTION_BINS;
    let mut grid = vec![0.0; cells * width];
    for (y, down) in shares.iter().enumerate() {
        let across = row_histograms(gray, side, y, &shares, width);
        for &(row, weight) in down {
            for (sum, value) in grid[row * width..][..width].iter_mut().zip(&across) {
                *sum += weight * value;
            }
        }
    }
    grid
}

/// Returns the histograms of one row of pixels. Gradients at the border count as 0.
fn row_histograms(
    gray: &[f32],
    side: usize,
    y: usize,
    shares: &[CellWeights],
    width: usize,
) -> Vec<f32> {
    let mut across = vec![0.0; width];
    let row = &gray[y * side..][..side];
    let above = &gray[y.saturating_sub(1) * side..][..side];
    let below = &gray[(y + 1).min(side - 1) * side..][..side];
    // The loops without a condition come first, because the compiler uses vectors for them.
    let mut gradients = vec![(0.0, 0.0); side];
    for ((dx, _), pair) in gradients[1..side - 1].iter_mut().zip(row.iter().zip(&row[2..])) {
        *dx = pair.1 - pair.0;
    }
    if (1..side - 1).contains(&y) {
        for ((_, dy), pair) in gradients.iter_mut().zip(above.iter().zip(below)) {
            *dy = pair.1 - pair.0;
        }
    }
    let mut edges = vec![(0.0, 0.0); side];
    for ((strength, direction), (dx, dy)) in edges.iter_mut().zip(gradients) {
        *strength = (dx * dx + dy * dy).sqrt();
        // The whole part is the bin whose center precedes the orientation, plus a multiple of the number of bins.
        *direction = (angle(dx, dy) / PI + 2.0) * DIRECTION_BINS as f32 - 0.5;
    }
    for (share, (strength, direction)) in shares.iter().zip(edges) {
        let (bin, part) = split_fraction(direction);
        for &(cell, weight) in share {
            let bins = &mut across[cell * DIRECTION_BINS..][..DIRECTION_BINS];
            bins[bin % DIRECTION_BINS] += strength * weight * (1.0 - part);
            bins[(bin + 1) % DIRECTION_BINS] += strength * weight * part;
        }
    }
    across
}

/// Divides every cell by the geometric mean of its own strength and the mean strength, which is a compromise between
/// ignoring contrast and keeping it. The square root limits the influence of strong edges.
fn normalize(grid: &mut [f32], cells: usize) {
    let mean = grid.iter().sum::<f32>() / (cells * cells) as f32;
    for cell in grid.chunks_exact_mut(DIRECTION_BINS) {
        let strength = cell.iter().sum::<f32>();
        let scale = 1.0 / ((strength * mean).sqrt() + FLAT_STRENGTH);
        for bin in cell {
            *bin = (*bin * scale).sqrt();
        }
    }
}

/// Pixels per side of the square copy.
pub const SQUARE_SIDE: usize = 64;

/// The two cells that a position belongs to, with weights. A pixel between two cell centers is shared, so that small
/// shifts have a small effect. Beyond the outermost centers, both cells are the same.
pub type CellWeights = [(usize, f32); 2];

pub fn cell_weights(length: usize, cells: usize) -> Vec<CellWeights> {
    (0..length)
        .map(|pixel| {
            let position = (pixel as f32 + 0.5) / length as f32 * cells as f32 - 0.5;
            let position = position.clamp(0.0, (cells - 1) as f32);
            let (cell, part) = split_fraction(position);
            [(cell, 1.0 - part), ((cell + 1).min(cells - 1), part)]
        })
        .collect()
}

/// Averages `values` (`side` x `side`) over a soft grid of `cells` x `cells`.
pub fn soft_pool(values: &[f32], side: usize, cells: usize) -> Vec<f32> {
    let shares = cell_weights(side, cells);
    // The rows come first, because the compiler uses vectors for them.
    let mut rows = vec![0.0; cells * side];
    for (line, down) in values.chunks_exact(side).zip(&shares) {
        for &(row, weight) in down {
            for (sum, value) in rows[row * side..][..side].iter_mut().zip(line) {
                *sum += weight * value;
            }
        }
    }
    let mut grid = vec![0.0; cells * cells];
    for (row, sums) in grid.chunks_exact_mut(cells).zip(rows.chunks_exact(side)) {
        for (sum, share) in sums.iter().zip(&shares) {
            for &(cell, weight) in share {
                row[cell] += sum * weight;
            }
        }
    }
    let scale = (cells * cells) as f32 / (side * side) as f32;
    for cell in &mut grid {
        *cell *= scale;
    }
    grid
}

/// Halves the size of a square image by averaging.
pub fn downsample_2x(values: &[f32], side: usize) -> Vec<f32> {
    let half = side / 2;
    (0..half * half)
        .map(|at| {
            let corner = at / half * 2 * side + at % half * 2;
            (values[corner]
                + values[corner + 1]
                + values[corner + side]
                + values[corner + side + 1])
                / 4.0
        })
        .collect()
}

/// Folds a grid of `cells` x `cells`, each with `depth` numbers, along its vertical axis. The result has first the
/// means and then the absolute differences of every number and its mirrored counterpart.
///
/// Mirroring reverses the numbers within a cell, which are either orientation bins over a half turn or a single value.
pub fn fold_mirror(grid: &[f32], cells: usize, depth: usize) -> Vec<f32> {
    let pairs: Vec<(f32, f32)> = (0..cells)
        .flat_map(|row| (0..cells / 2).map(move |column| (row, column)))
        .flat_map(|(row, column)| {
            let left = &grid[(row * cells + column) * depth..][..depth];
            let right = &grid[(row * cells + cells - 1 - column) * depth..][..depth];
            left.iter().copied().zip(right.iter().rev().copied())
        })
        .collect();
    let means = pairs.iter().map(|(left, right)| (left + right) / 2.0);
    let differences = pairs.iter().map(|(left, right)| (left - right).abs() / 2.0);
    means.chain(differences).collect()
}

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

/// Computes the perceptual hash from the signs of the lowest DCT frequencies. Each bit says whether a frequency is
/// above the median. Near-duplicates differ in few bits.
pub fn perceptual_hash(square: &RgbImage) -> u64 {
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

pub const DIMENSION: usize = 256;

/// The mean of every component before centering, in block order.
///
/// The mean was measured on 400 photographs of 400 classes, which are two fifths of the "imagenet-sample-images" set;
/// the remaining photographs were kept for evaluation. It must be measured again when a block of the descriptor
/// changes.
#[rustfmt::skip]
pub const DESCRIPTOR_MEAN: [f32; DIMENSION] = [
    // Fine edges, mean of both halves.
    0.3362, 0.2860, 0.2899, 0.3526, 0.3430, 0.2618, 0.2586, 0.3280,
    0.3364, 0.3061, 0.3226, 0.3801, 0.3711, 0.3020, 0.2903, 0.3326,
    0.3670, 0.3200, 0.3101, 0.3524, 0.3439, 0.2886, 0.2965, 0.3593,
    0.3709, 0.3495, 0.3496, 0.3768, 0.3736, 0.3372, 0.3353, 0.3668,
    0.3618, 0.3066, 0.3012, 0.3506, 0.3474, 0.3053, 0.3150, 0.3688,
    0.3740, 0.3406, 0.3358, 0.3684, 0.3725, 0.3431, 0.3442, 0.3757,
    0.3239, 0.2722, 0.2790, 0.3529, 0.3630, 0.3039, 0.2958, 0.3364,
    0.3301, 0.2911, 0.3074, 0.3776, 0.3893, 0.3248, 0.3038, 0.3342,
    // Fine edges, difference of the halves.
    0.0429, 0.0421, 0.0428, 0.0446, 0.0470, 0.0431, 0.0432, 0.0444,
    0.0315, 0.0367, 0.0384, 0.0337, 0.0384, 0.0414, 0.0394, 0.0347,
    0.0464, 0.0433, 0.0404, 0.0403, 0.0387, 0.0444, 0.0461, 0.0483,
    0.0341, 0.0389, 0.0423, 0.0334, 0.0344, 0.0433, 0.0408, 0.0343,
    0.0424, 0.0398, 0.0408, 0.0374, 0.0380, 0.0406, 0.0404, 0.0447,
    0.0336, 0.0432, 0.0449, 0.0358, 0.0316, 0.0414, 0.0427, 0.0351,
    0.0416, 0.0417, 0.0419, 0.0391, 0.0364, 0.0437, 0.0425, 0.0436,
    0.0315, 0.0397, 0.0450, 0.0381, 0.0336, 0.0429, 0.0377, 0.0305,
    // Coarse edges, mean.
    0.3570, 0.3221, 0.3272, 0.3883, 0.3793, 0.2967, 0.2898, 0.3481,
    0.3559, 0.2953, 0.2998, 0.3783, 0.3836, 0.3146, 0.3143, 0.3633,
    // Coarse edges, difference.
    0.0351, 0.0438, 0.0456, 0.0357, 0.0388, 0.0443, 0.0447, 0.0364,
    0.0323, 0.0427, 0.0451, 0.0353, 0.0314, 0.0435, 0.0399, 0.0331,
    // Lightness, mean.
    0.0181, 0.1402, 0.0104, 0.0932, -0.0493, -0.0628, -0.0621, -0.0877,
    // Lightness, difference.
    0.3179, 0.2005, 0.3375, 0.2140, 0.3260, 0.2195, 0.2971, 0.1912,
    // Red-green, mean.
    0.0094, 0.0139, 0.0178, 0.0280, 0.0236, 0.0357, 0.0215, 0.0296,
    // Red-green, difference.
    0.0146, 0.0094, 0.0156, 0.0114, 0.0161, 0.0112, 0.0146, 0.0098,
    // Yellow-blue, mean.
    0.0474, 0.0506, 0.0559, 0.0609, 0.0627, 0.0672, 0.0630, 0.0668,
    // Yellow-blue, difference.
    0.0179, 0.0114, 0.0202, 0.0142, 0.0209, 0.0136, 0.0193, 0.0113,
    // Color histogram.
    0.0163, 0.0440, 0.0625, 0.0499, 0.0341, 0.0236, 0.0145, 0.0107,
    0.0119, 0.0158, 0.0189, 0.0148, 0.0091, 0.0058, 0.0078, 0.2240,
    0.0334, 0.0907, 0.1654, 0.1645, 0.1000, 0.0624, 0.0360, 0.0277,
    0.0312, 0.0473, 0.0602, 0.0351, 0.0185, 0.0124, 0.0144, 0.4801,
    0.0244, 0.0596, 0.1327, 0.1562, 0.0887, 0.0437, 0.0256, 0.0234,
    0.0302, 0.0525, 0.0623, 0.0313, 0.0181, 0.0127, 0.0146, 0.5505,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_are_those_of_atan2() {
        let sides = [-255.0, -3.0, -1.0, -0.01, 0.0, 1e-30, 0.5, 1.0, 2.0, 255.0];
        for (x, y) in sides.into_iter().flat_map(|x| sides.map(|y| (x, y))) {
            let (found, exact) = (angle(x, y), y.atan2(x));
            assert!((found - exact).abs() <= 2e-5, "({x}, {y}): {found} for {exact}");
        }
    }
}

//! Scores blur, darkness and brightness by two measurements on the small copy of an image. The thresholds of these
//! issues are defined here.

use image::RgbImage;

use super::keypoints::Channel;

/// A threshold between the sharpness of sharp pictures (photographs as well as graphics) and the sharpness of copies
/// that were blurred with a Gaussian of 3 of 500 pixels.
const BLURRED_THRESHOLD: f32 = 1.25;
/// The sharpness of single pixels, and of plain pictures without any edge.
pub const SHARPEST: f32 = 15.0;
/// Share of the pixels whose edges count.
const EDGE_SHARE: f32 = 0.02;
const MIN_EDGE_PIXELS: usize = 20;
/// Difference of luma per pixel from which a pixel counts as an edge.
const MIN_EDGE_GRADIENT: f32 = 1.0;
/// Bins of a histogram of gradients, which are below 256 / 2 * sqrt(2).
const BINS: usize = 1_024;
const BINS_PER_LUMA: f32 = 4.0;
// About 2 % of the photographs are darker. All of them are night scenes, caves and stages.
const DARK_THRESHOLD: f32 = 0.2;
// About 1 % of the photographs are brighter. All of them are objects on white.
const BRIGHT_THRESHOLD: f32 = 0.85;

/// Returns the confidence that an image is blurred: 1.0 for infinitely wide edges, 0.5 at the threshold.
pub fn blur_score(sharpness: f32) -> f32 {
    falloff(sharpness, BLURRED_THRESHOLD)
}

/// Returns the confidence that an image is dark: 1.0 for black, 0.5 at the threshold.
pub fn dark_score(brightness: f32) -> f32 {
    falloff(brightness, DARK_THRESHOLD)
}

/// Returns the confidence that an image is bright: 1.0 for white, 0.5 at the threshold.
pub fn bright_score(brightness: f32) -> f32 {
    falloff(1.0 - brightness, 1.0 - BRIGHT_THRESHOLD)
}

/// Returns 1.0 for a `value` of 0, 0.5 at the `border`, and less beyond, towards 0.0.
fn falloff(value: f32, border: f32) -> f32 {
    1.0 / (1.0 + (value / border).powi(2))
}

/// Returns the luma of every pixel, 0 to 255.
pub(super) fn luma(pixels: &RgbImage) -> Vec<u8> {
    pixels
        .pixels()
        .map(|pixel| {
            let [red, green, blue] = pixel.0.map(u32::from);
            // Weights of ITU-R BT.601 in 256ths.
            ((77 * red + 150 * green + 29 * blue + 128) >> 8) as u8
        })
        .collect()
}

/// Returns the mean luma, 0.0 black to 1.0 white.
pub(super) fn brightness(luma: &[u8]) -> f32 {
    let sum: u64 = luma.iter().map(|&value| u64::from(value)).sum();
    sum as f32 / (255 * luma.len().max(1)) as f32
}

/// Returns how sharp the strongest edges are: the inverse of the variance of their width in pixels, 0.0 to
/// [`SHARPEST`]. Smoothing widens an edge and so weakens its gradient, and weakens a sharp edge more than a blurred
/// one. The method is described by Zhuo and Sim, "Defocus map estimation from a single image" (2011). `smoothed` is
/// `luma` after a Gaussian of one pixel.
pub(super) fn sharpness(luma: &Channel, smoothed: &Channel) -> f32 {
    let after = squared_gradients(smoothed);
    let weakest = weakest_strong_edge(&after);
    let mut ratios: Vec<f32> = (squared_gradients(luma).into_iter().zip(after))
        .filter(|&(_, after)| after >= weakest)
        .map(|(before, after)| before / after)
        .collect();
    if ratios.len() < MIN_EDGE_PIXELS {
        return SHARPEST;
    }
    // The sharpest part counts, because a background may be out of focus.
    let at = ratios.len() * 9 / 10;
    let (_, ratio, _) = ratios.select_nth_unstable_by(at, f32::total_cmp);
    (*ratio - 1.0).clamp(0.0, SHARPEST)
}

/// Returns the squares of the gradients, by central differences, of all pixels except those at the border.
fn squared_gradients(channel: &Channel) -> Vec<f32> {
    let mut squares = Vec::with_capacity(channel.values.len());
    for y in 1..channel.height().max(1) as isize - 1 {
        let (above, here, below) = (channel.row(y - 1), channel.row(y), channel.row(y + 1));
        let sides = here.iter().zip(here.get(2..).unwrap_or_default());
        let inner = || 1..channel.width.max(1) - 1;
        let columns = above.get(inner()).unwrap_or_default().iter();
        let columns = columns.zip(below.get(inner()).unwrap_or_default());
        squares.extend(sides.zip(columns).map(|((left, right), (above, below))| {
            ((right - left).powi(2) + (below - above).powi(2)) / 4.0
        }));
    }
    squares
}

/// Returns the squared gradient at or above which a pixel is among the strongest [`EDGE_SHARE`].
fn weakest_strong_edge(squares: &[f32]) -> f32 {
    let bin = |square: f32| ((square.sqrt() * BINS_PER_LUMA) as usize).min(BINS - 1);
    let mut counts = [0_usize; BINS];
    for &square in squares {
        counts[bin(square)] += 1;
    }
    let mut left = ((squares.len() as f32 * EDGE_SHARE) as usize).max(MIN_EDGE_PIXELS);
    let strongest = (0..BINS).rev().find(|&bin| {
        left = left.saturating_sub(counts[bin]);
        left == 0
    });
    let gradient = strongest.unwrap_or_default() as f32 / BINS_PER_LUMA;
    gradient.max(MIN_EDGE_GRADIENT).powi(2)
}

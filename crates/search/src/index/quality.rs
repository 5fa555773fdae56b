//! Judges a picture: scores its blur, darkness and brightness by two measurements on the small copy, and recognizes
//! pictures of a single color.

#![expect(
    clippy::inline_always,
    reason = "only what is inlined into a dispatched call is compiled for its processor"
)]

use image::RgbImage;
use tessera_model::pseudorandom::splitmix64;

use super::{descriptor::split_fraction, keypoints::Channel};

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
/// A histogram of squared gradients has 128 bins between a power of two and the next one: the upper bits of a float, up
/// to the square of the largest gradient, which is at most 2^15.
const BIN_SHIFT: u32 = f32::MANTISSA_DIGITS - 8;
const FIRST_BIN: u32 = (MIN_EDGE_GRADIENT * MIN_EDGE_GRADIENT).to_bits() >> BIN_SHIFT;
const BINS: usize = 15 * 128;
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
#[inline(always)]
pub(super) fn luma(pixels: &RgbImage) -> Vec<u8> {
    let (pixels, _) = pixels.as_raw().as_chunks::<3>();
    pixels
        .iter()
        .map(|pixel| {
            let [red, green, blue] = pixel.map(u32::from);
            // Weights of ITU-R BT.601 in 256ths.
            ((77 * red + 150 * green + 29 * blue + 128) >> 8) as u8
        })
        .collect()
}

/// Returns the mean luma, 0.0 black to 1.0 white.
#[inline(always)]
pub(super) fn brightness(luma: &[u8]) -> f32 {
    // The sum of the pixels of a small copy does not overflow. The compiler uses vectors for unchecked additions only.
    let sum: u32 = luma.iter().fold(0, |sum, &value| sum.wrapping_add(u32::from(value)));
    sum as f32 / (255 * luma.len().max(1)) as f32
}

/// Returns how sharp the strongest edges are: the inverse of the variance of their width in pixels, 0.0 to
/// [`SHARPEST`]. Smoothing widens an edge and so weakens its gradient, and weakens a sharp edge more than a blurred
/// one. The method is described by Zhuo and Sim, "Defocus map estimation from a single image" (2011). `smoothed` is
/// `luma` after a Gaussian of one pixel.
#[inline(always)]
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
#[inline(always)]
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

/// Returns the squared gradient at or above which a pixel is among the strongest [`EDGE_SHARE`], at least the square of
/// [`MIN_EDGE_GRADIENT`].
#[inline(always)]
fn weakest_strong_edge(squares: &[f32]) -> f32 {
    let mut counts = [0_u32; BINS];
    let mut bins = [0_u16; 256];
    for block in squares.chunks(bins.len()) {
        // The bins of a block are computed before they are counted, so that the compiler uses vectors. Weak gradients
        // are counted in the first bin, because they change nothing: the result is at least `MIN_EDGE_GRADIENT`.
        for (bin, square) in bins.iter_mut().zip(block) {
            *bin = (square.to_bits() >> BIN_SHIFT).saturating_sub(FIRST_BIN) as u16;
        }
        for &bin in &bins[..block.len()] {
            counts[usize::from(bin).min(BINS - 1)] += 1;
        }
    }
    let mut left = ((squares.len() as f32 * EDGE_SHARE) as usize).max(MIN_EDGE_PIXELS);
    let strongest = (0..BINS).rev().find(|&bin| {
        left = left.saturating_sub(counts[bin] as usize);
        left == 0
    });
    f32::from_bits((strongest.unwrap_or_default() as u32 + FIRST_BIN) << BIN_SHIFT)
}

// Distinguishes pictures of a single color. They have neither edges nor corners, so that their descriptors would
// hardly differ, and all of them would be near-duplicates of each other. The part of their descriptor that is meant
// for edges stores the exact color and the size instead.

/// The largest difference of the samples of a plain picture, which a lossy format makes.
const MAX_SPREAD: u8 = 3;
/// The number of colors between which a sample is interpolated. Samples that differ by half a step are distinguished.
const STEPS: usize = 21;
/// The numbers for the color, and the number of a sign for each bit of the size.
const COLOR_NUMBERS: usize = 3 * STEPS;
const SIZE_START: usize = 64;
const SIZE_NUMBERS: usize = 64;
/// The lengths of the parts for a channel and for the size, as shares of the length of the descriptor. With these
/// lengths, two pictures of another size or another channel are farther apart than near-duplicates.
const CHANNEL_SHARE: f32 = 0.33;
const SIZE_SHARE: f32 = 0.5;

/// Returns the color of a picture of a single color.
pub fn plain_color(square: &RgbImage) -> Option<[u8; 3]> {
    let first = square.pixels().next()?.0;
    let (mut low, mut high) = (first, first);
    for pixel in square.pixels() {
        for channel in 0..3 {
            low[channel] = low[channel].min(pixel[channel]);
            high[channel] = high[channel].max(pixel[channel]);
        }
    }
    let is_plain = low.iter().zip(high).all(|(low, high)| high - low <= MAX_SPREAD);
    is_plain.then(|| [0, 1, 2].map(|channel| low[channel].midpoint(high[channel])))
}

/// Adds the color and the size (width, height) of a plain picture to its descriptor, which begins with the edges.
pub fn add_color_and_size(descriptor: &mut [f32], color: [u8; 3], (width, height): (u32, u32)) {
    let length = descriptor.iter().map(|number| number * number).sum::<f32>().sqrt();
    let (colors, sizes) = descriptor.split_at_mut(SIZE_START);
    for (sample, steps) in color.into_iter().zip(colors[..COLOR_NUMBERS].chunks_exact_mut(STEPS)) {
        let position = f32::from(sample) / 255.0 * (STEPS - 1) as f32;
        let (step, part) = split_fraction(position);
        let scale = CHANNEL_SHARE * length / (1.0 - part).hypot(part);
        steps[step] += scale * (1.0 - part);
        if let Some(next) = steps.get_mut(step + 1) {
            *next += scale * part;
        }
    }
    // Similar sizes have unrelated bits.
    let bits = splitmix64(u64::from(width) << 32 | u64::from(height));
    let share = SIZE_SHARE * length / (SIZE_NUMBERS as f32).sqrt();
    for (bit, number) in sizes[..SIZE_NUMBERS].iter_mut().enumerate() {
        *number += if bits >> bit & 1 == 1 { share } else { -share };
    }
}

#[cfg(test)]
mod tests {
    use super::super::descriptor::{SQUARE_SIDE, compute_descriptor};
    use image::Rgb;

    use super::*;

    fn descriptor(color: [u8; 3], size: (u32, u32)) -> Vec<f32> {
        let square = RgbImage::from_pixel(SQUARE_SIDE as u32, SQUARE_SIDE as u32, Rgb(color));
        compute_descriptor(&square, size).iter().map(|number| number.to_f32()).collect()
    }

    fn distance(one: &[f32], other: &[f32]) -> f32 {
        1.0 - one.iter().zip(other).map(|(one, other)| one * other).sum::<f32>()
    }

    #[test]
    fn plain_pictures_differ_in_color_and_size() {
        let size = (640, 360);
        let grays = (0..=255).step_by(8).map(|level| [level; 3]);
        let blues = (0..=255).step_by(15).skip(1).map(|level| [0, 0, level]);
        let colors: Vec<[u8; 3]> = grays.chain(blues).collect();
        let all: Vec<Vec<f32>> = colors.iter().map(|color| descriptor(*color, size)).collect();
        for (number, one) in all.iter().enumerate() {
            for (other, vector) in all.iter().enumerate().skip(number + 1) {
                let distance = distance(one, vector);
                assert!(distance > 0.042, "{:?} {:?}: {distance}", colors[number], colors[other]);
            }
        }
        let sides =
            [(640, 360), (360, 640), (320, 180), (320, 240), (641, 360), (1280, 720), (1, 1)];
        let all = sides.map(|size| descriptor([255; 3], size));
        for (number, one) in all.iter().enumerate() {
            for (other, vector) in all.iter().enumerate().skip(number + 1) {
                let distance = distance(one, vector);
                assert!(distance > 0.042, "{:?} {:?}: {distance}", sides[number], sides[other]);
            }
        }
    }

    #[test]
    fn equal_plain_pictures_stay_equal() {
        let white = descriptor([255; 3], (640, 360));
        assert!(distance(&white, &descriptor([255; 3], (640, 360))) < 0.001);
        let recompressed = distance(&white, &descriptor([254; 3], (640, 360)));
        assert!(recompressed < 0.01, "{recompressed}");
    }

    #[test]
    fn a_picture_with_an_edge_is_not_plain() {
        let mut square = RgbImage::from_pixel(64, 64, Rgb([200, 30, 90]));
        assert_eq!(plain_color(&square), Some([200, 30, 90]));
        square.put_pixel(9, 9, Rgb([200, 33, 90]));
        assert_eq!(plain_color(&square), Some([200, 31, 90]));
        square.put_pixel(9, 9, Rgb([200, 34, 90]));
        assert_eq!(plain_color(&square), None);
    }
}

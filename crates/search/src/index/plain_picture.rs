//! Distinguishes pictures of a single color. They have neither edges nor corners, so that their descriptors would
//! hardly differ, and all of them would be near-duplicates of each other. The part of their descriptor that is meant
//! for edges stores the exact color and the size instead.

use image::RgbImage;

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
        let (step, part) = (position as usize, position.fract());
        let scale = CHANNEL_SHARE * length / (1.0 - part).hypot(part);
        steps[step] += scale * (1.0 - part);
        if let Some(next) = steps.get_mut(step + 1) {
            *next += scale * part;
        }
    }
    let bits = mixed(u64::from(width) << 32 | u64::from(height));
    let share = SIZE_SHARE * length / (SIZE_NUMBERS as f32).sqrt();
    for (bit, number) in sizes[..SIZE_NUMBERS].iter_mut().enumerate() {
        *number += if bits >> bit & 1 == 1 { share } else { -share };
    }
}

/// Mixes the bits of a number, as the generator `SplitMix64` does, so that similar sizes have unrelated bits.
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let number = (number ^ number >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ number >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ number >> 31
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

//! Brings pictures with any range of light into that of a screen.

/// The brightness that the logarithmic average of a picture gets: a gray of 18 %, the middle of a scale from
/// black to white.
const KEY: f32 = 0.18;

/// Converts linear samples of gray or RGB pixels, with or without alpha (0 to 1), to eight bits of sRGB: with the
/// global operator of Reinhard and others, "Photographic Tone Reproduction for Digital Images" (2002).
/// Pictures without light above 1 are only encoded. What is not a number is black.
pub fn to_eight_bits(samples: &[f32], channels: usize) -> Vec<u8> {
    let colors = if channels < 3 { 1 } else { 3 };
    let (exposure, white) = exposure_and_white(samples, channels, colors);
    let mut bytes = Vec::with_capacity(samples.len());
    for pixel in samples.chunks_exact(channels) {
        let light = luminance(&pixel[..colors]) * exposure;
        // The same factor for each color keeps its hue.
        let factor = match white {
            Some(white) => exposure * (1.0 + light / (white * white)) / (1.0 + light),
            None => 1.0,
        };
        bytes.extend(pixel[..colors].iter().map(|&sample| encode_srgb(finite(sample) * factor)));
        bytes.extend(pixel[colors..].iter().map(|&alpha| to_byte(finite(alpha))));
    }
    bytes
}

/// The factor that brings the average light to the key, and the light that becomes white, after that factor;
/// `None` for a picture that fits the screen.
fn exposure_and_white(samples: &[f32], channels: usize, colors: usize) -> (f32, Option<f32>) {
    let (mut sum, mut count, mut most) = (0.0_f64, 0_u32, 0.0_f32);
    for pixel in samples.chunks_exact(channels) {
        let light = luminance(&pixel[..colors]);
        if light > 0.0 {
            sum += f64::from(light.ln());
            count += 1;
            most = most.max(light);
        }
    }
    if most <= 1.0 {
        return (1.0, None);
    }
    #[expect(clippy::cast_possible_truncation, reason = "an average of logarithms of f32")]
    let average = (sum / f64::from(count)).exp() as f32;
    let exposure = KEY / average;
    (exposure, Some(most * exposure))
}

/// The relative luminance of a gray or RGB pixel, with the weights of ITU-R BT.709.
fn luminance(pixel: &[f32]) -> f32 {
    match *pixel {
        [red, green, blue] => 0.2126 * finite(red) + 0.7152 * finite(green) + 0.0722 * finite(blue),
        [gray, ..] => finite(gray),
        [] => 0.0,
    }
}

/// The sample, at least 0; 0 for what is not a finite number.
fn finite(sample: f32) -> f32 {
    if sample.is_finite() { sample.max(0.0) } else { 0.0 }
}

/// The transfer function of IEC 61966-2-1.
fn encode_srgb(linear: f32) -> u8 {
    to_byte(if linear <= 0.003_130_8 {
        12.92 * linear
    } else {
        1.055 * linear.powf(1.0 / 2.4) - 0.055
    })
}

fn to_byte(value: f32) -> u8 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let byte = (value.clamp(0.0, 1.0) * 255.0).round() as u8;
    byte
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_within_the_range_of_a_screen_is_only_encoded() {
        let bytes = to_eight_bits(&[0.0, 0.214_041, 1.0, 0.5, 0.5, 0.5], 3);
        assert_eq!(bytes, [0, 127, 255, 188, 188, 188]);
        assert_eq!(to_eight_bits(&[1.0, 0.5, f32::NAN, f32::INFINITY], 2), [255, 128, 0, 0]);
    }

    #[test]
    fn brighter_stays_brighter_and_the_brightest_is_white() {
        let light: Vec<f32> = (0..20).map(|step| 1.7_f32.powi(step - 8)).collect();
        let bytes = to_eight_bits(&light, 1);
        assert!(bytes.is_sorted() && bytes[19] == 255, "{bytes:?}");
        assert!(
            bytes[8] > 60 && bytes[8] < 160,
            "the average is neither black nor white: {bytes:?}"
        );
    }

    #[test]
    fn hues_are_kept() {
        let bytes = to_eight_bits(&[0.5, 0.25, 0.0, 40.0, 20.0, 0.0], 3);
        assert!(bytes[0] > bytes[1] && bytes[1] > bytes[2], "{bytes:?}");
        assert_eq!(to_eight_bits(&[9.0, 9.0, 9.0, 0.25], 4)[3], 64);
    }
}

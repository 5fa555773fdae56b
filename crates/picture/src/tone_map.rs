//! Maps pictures with any range of light to the range of a screen: linear light of HDR and `OpenEXR` files, and the
//! transfer characteristics of ITU-R BT.2100.

use image::RgbImage;
use moxcms::ColorProfile;

/// A transfer function whose samples stand for light beyond the white of a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HighDynamicRange {
    /// SMPTE ST 2084.
    PerceptualQuantization,
    /// ARIB STD-B67.
    HybridLogGamma,
}

/// The brightness to which the logarithmic average of a picture is mapped. A gray of 18 % is the perceptual middle
/// between black and white.
const KEY: f32 = 0.18;

/// Converts linear samples of gray or RGB pixels (0 to 1), with or without alpha, to eight bits of sRGB. Pictures with
/// light above 1 are mapped by the global operator of Reinhard and others, "Photographic Tone Reproduction for Digital
/// Images" (2002); all other pictures are only encoded. A sample that is not a number becomes black.
pub fn to_eight_bits(samples: &[f32], channels: usize) -> Vec<u8> {
    let colors = if channels < 3 { 1 } else { 3 };
    let (exposure, white) = exposure_and_white(samples, channels, colors);
    let mut bytes = Vec::with_capacity(samples.len());
    for pixel in samples.chunks_exact(channels) {
        let light = luminance(&pixel[..colors]) * exposure;
        // One factor for all colors of a pixel keeps the hue.
        let factor = match white {
            Some(white) => exposure * (1.0 + light / (white * white)) / (1.0 + light),
            None => 1.0,
        };
        bytes.extend(pixel[..colors].iter().map(|&sample| encode_srgb(finite(sample) * factor)));
        bytes.extend(pixel[colors..].iter().map(|&alpha| to_byte(finite(alpha))));
    }
    bytes
}

/// Returns the factor that maps the average light to the key, and the light that becomes white after this factor. The
/// light is `None` if the picture fits the range of the screen.
fn exposure_and_white(samples: &[f32], channels: usize, colors: usize) -> (f32, Option<f32>) {
    let (mut sum, mut count, mut brightest) = (0.0_f64, 0_u32, 0.0_f32);
    for pixel in samples.chunks_exact(channels) {
        let light = luminance(&pixel[..colors]);
        if light > 0.0 {
            sum += f64::from(light.ln());
            count += 1;
            brightest = brightest.max(light);
        }
    }
    if brightest <= 1.0 {
        return (1.0, None);
    }
    #[expect(clippy::cast_possible_truncation, reason = "an average of logarithms of f32")]
    let average = (sum / f64::from(count)).exp() as f32;
    let exposure = KEY / average;
    (exposure, Some(brightest * exposure))
}

/// Returns the relative luminance of a gray or RGB pixel, with the weights of ITU-R BT.709.
fn luminance(pixel: &[f32]) -> f32 {
    match *pixel {
        [red, green, blue] => 0.2126 * finite(red) + 0.7152 * finite(green) + 0.0722 * finite(blue),
        [gray, ..] => finite(gray),
        [] => 0.0,
    }
}

/// Returns the sample, or 0 if it is negative or not a finite number.
fn finite(sample: f32) -> f32 {
    if sample.is_finite() { sample.max(0.0) } else { 0.0 }
}

/// Encodes linear light with the transfer function of IEC 61966-2-1.
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

/// The light of white paper in cd/m² (ITU-R BT.2408), which is mapped to the white of a screen.
const DIFFUSE_WHITE: f32 = 203.0;
/// The light of a reference display for hybrid log-gamma, in cd/m², and its system gamma.
const DISPLAY_PEAK: f32 = 1000.0;
const SYSTEM_GAMMA: f32 = 1.2;

/// Converts a picture with the transfer characteristics of ITU-R BT.2100 to sRGB. Its primaries are those of `profile`,
/// or of sRGB. Light up to the brightness of white keeps its brightness.
pub fn high_dynamic_range_to_srgb(
    picture: &mut RgbImage,
    transfer: HighDynamicRange,
    profile: Option<&ColorProfile>,
) {
    let decode = match transfer {
        HighDynamicRange::PerceptualQuantization => perceptual_quantization,
        HighDynamicRange::HybridLogGamma => hybrid_log_gamma,
    };
    let curve: [f32; 256] = std::array::from_fn(|code| {
        decode(f32::from(u8::try_from(code).unwrap_or(u8::MAX)) / 255.0)
    });
    let matrix =
        profile.map(|profile| profile.transform_matrix(&ColorProfile::new_srgb()).to_f32().v);
    let mut light = Vec::with_capacity(picture.as_raw().len());
    for pixel in picture.pixels() {
        let mut linear = pixel.0.map(|code| curve[usize::from(code)]);
        if transfer == HighDynamicRange::HybridLogGamma {
            let luminance = 0.2627 * linear[0] + 0.678 * linear[1] + 0.0593 * linear[2];
            let factor = DISPLAY_PEAK / DIFFUSE_WHITE * luminance.powf(SYSTEM_GAMMA - 1.0);
            linear = linear.map(|sample| sample * factor);
        }
        let [red, green, blue] = linear;
        light.extend(match matrix {
            Some(rows) => rows.map(|[r, g, b]| r * red + g * green + b * blue),
            None => linear,
        });
    }
    picture.copy_from_slice(&to_eight_bits(&light, 3));
}

/// Returns the light of a sample of SMPTE ST 2084, relative to white.
fn perceptual_quantization(sample: f32) -> f32 {
    const M1: f32 = 2610.0 / 16384.0;
    const M2: f32 = 2523.0 / 4096.0 * 128.0;
    const C1: f32 = 3424.0 / 4096.0;
    const C2: f32 = 2413.0 / 4096.0 * 32.0;
    const C3: f32 = 2392.0 / 4096.0 * 32.0;
    let power = sample.powf(1.0 / M2);
    let light = ((power - C1).max(0.0) / (C2 - C3 * power)).powf(1.0 / M1);
    light * 10_000.0 / DIFFUSE_WHITE
}

/// Returns the scene light of a sample of ARIB STD-B67, from 0 to 1.
fn hybrid_log_gamma(sample: f32) -> f32 {
    const A: f32 = 0.178_832_77;
    const B: f32 = 1.0 - 4.0 * A;
    // 0.5 - A ln(4 A)
    const C: f32 = 0.559_910_7;
    if sample <= 0.5 { sample * sample / 3.0 } else { (((sample - C) / A).exp() + B) / 12.0 }
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

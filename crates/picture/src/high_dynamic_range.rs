//! Brings pictures with the transfer characteristics of ITU-R BT.2100 into the range of a screen.

use image::RgbImage;
use moxcms::ColorProfile;

use crate::{
    coded_colors::{CodedColors, PERCEPTUAL_QUANTIZATION},
    tone_map::to_eight_bits,
};

/// The light of white paper, in cd/m² (ITU-R BT.2408), which is the white of a screen.
const DIFFUSE_WHITE: f32 = 203.0;
/// The light of a reference display of hybrid log-gamma, in cd/m², and its system gamma.
const DISPLAY_PEAK: f32 = 1000.0;
const SYSTEM_GAMMA: f32 = 1.2;

/// Converts a picture to sRGB: what is not brighter than white stays as bright as it is.
pub fn to_srgb(picture: &mut RgbImage, colors: CodedColors) {
    let is_quantized = colors.transfer == PERCEPTUAL_QUANTIZATION;
    let decode = if is_quantized { perceptual_quantization } else { hybrid_log_gamma };
    let curve: [f32; 256] = std::array::from_fn(|code| {
        decode(f32::from(u8::try_from(code).unwrap_or(u8::MAX)) / 255.0)
    });
    let matrix = colors
        .profile()
        .map(|profile| profile.transform_matrix(&ColorProfile::new_srgb()).to_f32().v);
    let mut light = Vec::with_capacity(picture.as_raw().len());
    for pixel in picture.pixels() {
        let mut linear = pixel.0.map(|code| curve[usize::from(code)]);
        if !is_quantized {
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

/// The light of a sample of SMPTE ST 2084, relative to white.
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

/// The light of the scene of a sample of ARIB STD-B67, from 0 to 1.
fn hybrid_log_gamma(sample: f32) -> f32 {
    const A: f32 = 0.178_832_77;
    const B: f32 = 1.0 - 4.0 * A;
    // 0.5 - A ln(4 A)
    const C: f32 = 0.559_910_7;
    if sample <= 0.5 { sample * sample / 3.0 } else { (((sample - C) / A).exp() + B) / 12.0 }
}

#[cfg(test)]
mod tests {
    use image::Rgb;

    use super::*;

    fn converted(transfer: u8, pixels: &[[u8; 3]]) -> Vec<[u8; 3]> {
        let width = u32::try_from(pixels.len()).unwrap();
        let mut picture = RgbImage::from_fn(width, 1, |x, _| Rgb(pixels[x as usize]));
        to_srgb(&mut picture, CodedColors { primaries: 9, transfer });
        picture.pixels().map(|pixel| pixel.0).collect()
    }

    fn is_near(found: &[[u8; 3]], expected: &[[u8; 3]]) -> bool {
        let pairs = found.as_flattened().iter().zip(expected.as_flattened());
        pairs.into_iter().all(|(one, other)| one.abs_diff(*other) <= 4)
    }

    #[test]
    fn light_up_to_white_is_only_encoded() {
        // By ITU-R BT.2408, white has the sample 0.58 in PQ and 0.75 in HLG; a gray card of 26 cd/m² has 0.38 in both.
        let quantized = converted(16, &[[147; 3], [96; 3], [0; 3]]);
        assert!(is_near(&quantized, &[[251; 3], [100; 3], [0; 3]]), "{quantized:?}");
        let logarithmic = converted(18, &[[190; 3], [97; 3], [0; 3]]);
        assert!(is_near(&logarithmic, &[[252; 3], [100; 3], [0; 3]]), "{logarithmic:?}");
    }

    #[test]
    fn brighter_light_keeps_its_order_and_hue() {
        let found = converted(16, &[[100; 3], [150; 3], [200; 3], [200, 160, 120]]);
        assert!(found[..3].is_sorted() && found[2] == [255; 3], "{found:?}");
        assert!(found[3].is_sorted_by(|one, other| one > other), "{found:?}");
    }
}

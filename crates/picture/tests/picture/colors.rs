//! Colors with a profile, and those of printing, against the conversion of Little CMS.
//!
//! Each chart in `colors` has 12 x 8 patches of 8 x 8 pixels. Beside it are their colors in sRGB, as `convert CHART
//! -profile sRGB.icc` of `ImageMagick` gives them; of the one without a profile by (1 - ink)(1 - black). The profile
//! for CMYK is a model of printing, with a table of 5 x 5 x 5 x 5 colors.

use std::{fs, path::Path};

use image::RgbImage;
use tessera_picture::decode::decode;

const CHARTS: [&str; 10] = [
    "cmyk.jpg",
    "cmyk_progressive.jpg",
    "cmyk_without_profile.jpg",
    "ycck.jpg",
    "gray_gamma.jpg",
    "gray_dot_gain.png",
    "gray_linear_16_bits.png",
    "adobe_rgb.jpg",
    "prophoto.png",
    "display_p3.tiff",
];

/// The mean difference that is not visible side by side.
const MAX_MEAN_DIFFERENCE: f64 = 2.0;

#[test]
fn charts_have_the_colors_of_little_cms() {
    for name in CHARTS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/picture/colors");
        let chart = fs::read(folder.join(name)).expect("a chart");
        let expected = folder.join(name).with_extension("expected.png");
        let expected = fs::read(expected).expect("its colors");
        let expected = decode(&expected, u32::MAX).expect("decoded").pixels;
        let chart_pixels = decode(&chart, u32::MAX).expect("decoded").pixels;
        assert_eq!(chart_pixels.dimensions(), (96, 64), "{name}");
        let centers =
            RgbImage::from_fn(12, 8, |x, y| *chart_pixels.get_pixel(8 * x + 4, 8 * y + 4));
        // Decoded at an eighth of the size, each patch is one pixel.
        let eighth = decode(&chart, 8).expect("decoded").pixels;
        assert_eq!(eighth.dimensions(), (12, 8), "{name}");
        for (size, pixels) in [("whole", centers), ("an eighth", eighth)] {
            let difference = mean_difference(&pixels, &expected);
            assert!(difference < MAX_MEAN_DIFFERENCE, "{name}, {size}: {difference}");
        }
    }
}

/// The mean color difference of 1976 (CIE 76).
pub fn mean_difference(found: &RgbImage, expected: &RgbImage) -> f64 {
    let pairs = found.pixels().zip(expected.pixels());
    let differences = pairs.map(|(found, expected)| {
        let (found, expected) = (lab(found.0), lab(expected.0));
        found.iter().zip(expected).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    });
    let differences: Vec<f64> = differences.collect();
    differences.iter().sum::<f64>() / f64::from(found.width() * found.height())
}

/// A color of sRGB in CIELAB, by the matrix and the white of IEC 61966-2-1.
fn lab(color: [u8; 3]) -> [f64; 3] {
    let [red, green, blue] = color.map(|sample| {
        let sample = f64::from(sample) / 255.0;
        if sample <= 0.04045 { sample / 12.92 } else { ((sample + 0.055) / 1.055).powf(2.4) }
    });
    let stimuli = [
        (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505,
        0.2126 * red + 0.7152 * green + 0.0722 * blue,
        (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089,
    ];
    let [x, y, z] = stimuli.map(|stimulus| {
        let limit: f64 = 6.0 / 29.0;
        if stimulus > limit.powi(3) {
            stimulus.cbrt()
        } else {
            stimulus / (3.0 * limit * limit) + 4.0 / 29.0
        }
    });
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

//! Compares the scaled decoder with the full decoder, and runs it on damaged files.

use jpeg_encoder::{ColorType, Encoder, SamplingFactor};
use proptest::prelude::*;

use super::*;
use crate::decode::{Decoded, decode};

/// Paints smooth colors with some texture and an edge.
fn test_picture(width: u16, height: u16) -> RgbImage {
    RgbImage::from_fn(width.into(), height.into(), |x, y| {
        let texture = (x * 7 + y * 13) % 16;
        let edge = if x + y > u32::from(width) / 2 { 20 } else { 0 };
        let red = 40 + x * 120 / u32::from(width) + edge;
        let blue = 200 - y * 150 / u32::from(height);
        image::Rgb([red as u8, (90 + texture) as u8, blue as u8])
    })
}

fn encode(picture: &RgbImage, adjust: impl FnOnce(&mut Encoder<&mut Vec<u8>>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, 92);
    adjust(&mut encoder);
    let (width, height) = picture.dimensions();
    encoder.encode(picture.as_raw(), width as u16, height as u16, ColorType::Rgb).expect("encoded");
    bytes
}

/// Returns the peak signal-to-noise ratio, in decibels, between `small` and the averages of squares in `full`.
fn psnr(full: &RgbImage, small: &RgbImage, factor: u32) -> f64 {
    let (mut error, mut count) = (0.0, 0.0);
    // Squares that the edge of the picture cuts contain pixels that the encoder made up.
    for (x, y, pixel) in small.enumerate_pixels() {
        if (x + 1) * factor > full.width() || (y + 1) * factor > full.height() {
            continue;
        }
        for channel in 0..3 {
            let square = (0..factor * factor).map(|i| {
                let at = (x * factor + i % factor, y * factor + i / factor);
                f64::from(full.get_pixel(at.0, at.1)[channel])
            });
            let mean = square.sum::<f64>() / f64::from(factor * factor);
            error += (mean - f64::from(pixel[channel])).powi(2);
            count += 1.0;
        }
    }
    10.0 * (255.0 * 255.0 * count / error).log10()
}

fn assert_close_to_full_decode(bytes: &[u8], context: &str) {
    let full = decode(bytes, u32::MAX).expect("decoded in full").pixels;
    let jpeg = Jpeg::open(bytes).expect("a header");
    assert!(jpeg.header.is_baseline, "{context}");
    // In a small picture, the few samples of chroma are coarse.
    let scales =
        [(JpegScale::Eighth, 8, 24.0), (JpegScale::Quarter, 4, 28.0), (JpegScale::Half, 2, 30.0)];
    for (scale, factor, least) in scales {
        let small = jpeg.decode(scale).expect("decoded at a scale");
        let size = (full.width().div_ceil(factor), full.height().div_ceil(factor));
        assert_eq!(small.dimensions(), size, "{context}");
        let psnr = psnr(&full, &small, factor);
        assert!(psnr > least, "{context} {scale:?}: {psnr:.1} dB");
    }
}

#[test]
fn every_sampling_and_odd_size_looks_like_the_full_decode() {
    for sampling in
        [SamplingFactor::F_1_1, SamplingFactor::F_2_1, SamplingFactor::F_1_2, SamplingFactor::F_2_2]
    {
        for (width, height) in [(160, 120), (161, 119), (97, 33), (33, 131)] {
            let bytes = encode(&test_picture(width, height), |encoder| {
                encoder.set_sampling_factor(sampling);
            });
            assert_close_to_full_decode(&bytes, &format!("{sampling:?} {width}x{height}"));
        }
    }
}

#[test]
fn restarts_and_gray() {
    let picture = test_picture(150, 100);
    let restarts = encode(&picture, |encoder| encoder.set_restart_interval(3));
    assert_close_to_full_decode(&restarts, "restarts");
    let mut gray = Vec::new();
    let samples: Vec<u8> = picture.pixels().map(|pixel| pixel[0]).collect();
    Encoder::new(&mut gray, 90).encode(&samples, 150, 100, ColorType::Luma).expect("encoded");
    assert_close_to_full_decode(&gray, "gray");
}

#[test]
fn what_is_not_plain_goes_to_the_general_decoder() {
    let progressive = encode(&test_picture(120, 90), |encoder| encoder.set_progressive(true));
    // The other case has one scan for each component.
    let scans = encode(&test_picture(120, 90), |encoder| {
        encoder.set_optimized_huffman_tables(true);
    });
    for bytes in [progressive, scans] {
        assert_eq!(Jpeg::open(&bytes).expect("a header").scale(10), None);
        let Decoded { pixels, original } = decode(&bytes, 10).expect("decoded");
        assert_eq!((original, pixels.dimensions()), ((120, 90), (14, 10)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_bytes_after_a_header_are_decoded_or_refused(
        noise in proptest::collection::vec(any::<u8>(), 0..2000),
        scale in 0_usize..3,
    ) {
        let mut bytes = encode(&test_picture(61, 47), |_| {});
        let start = Jpeg::open(&bytes).expect("a header").header.scan_start;
        bytes.truncate(start);
        bytes.extend(noise);
        let scale = [JpegScale::Eighth, JpegScale::Quarter, JpegScale::Half][scale];
        if let Ok(picture) = Jpeg::open(&bytes).expect("a header").decode(scale) {
            let size = [61, 47].map(|side: u32| side.div_ceil(8 / scale as u32));
            prop_assert_eq!(picture.dimensions(), (size[0], size[1]));
        }
    }
}

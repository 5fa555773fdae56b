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

/// Returns the peak signal-to-noise ratio, in decibels, between `small` and the averages in `full` of the areas of its
/// pixels, which have a side of eight pixels divided by the scale.
fn psnr(full: &RgbImage, small: &RgbImage, scale: JpegScale) -> f64 {
    let side = 8.0 / f64::from(scale as u32);
    // The pixels of a row or column that an area covers, and how much of each.
    let covered = |at: u32| {
        let (first, last) = (f64::from(at) * side, f64::from(at + 1) * side);
        (first as u32..last.ceil() as u32)
            .map(move |pixel| (pixel, last.min(f64::from(pixel + 1)) - first.max(f64::from(pixel))))
    };
    let (mut error, mut count) = (0.0, 0.0);
    // Areas that the edge of the picture cuts contain pixels that the encoder made up.
    let is_whole = |at: u32, pixels: u32| f64::from(at + 1) * side <= f64::from(pixels);
    for (x, y, pixel) in small.enumerate_pixels() {
        if !is_whole(x, full.width()) || !is_whole(y, full.height()) {
            continue;
        }
        for channel in 0..3 {
            let area = covered(y).flat_map(|row| covered(x).map(move |column| (row, column)));
            let sum = area.map(|((y, down), (x, across))| {
                down * across * f64::from(full.get_pixel(x, y)[channel])
            });
            let mean = sum.sum::<f64>() / (side * side);
            error += (mean - f64::from(pixel[channel])).powi(2);
            count += 1.0;
        }
    }
    10.0 * (255.0 * 255.0 * count / error).log10()
}

fn assert_close_to_full_decode(bytes: &[u8], context: &str) {
    let full = decode(bytes, u32::MAX).expect("decoded in full").pixels;
    let jpeg = Jpeg::open(bytes).expect("a header");
    assert!(jpeg.header.supports_scaled_decoding, "{context}");
    for scale in JpegScale::ALL {
        let small = jpeg.decode(scale).expect("decoded at a scale");
        let reduced = |side: u32| (side * scale as u32).div_ceil(8);
        let size = (reduced(full.width()), reduced(full.height()));
        assert_eq!(small.dimensions(), size, "{context}");
        let psnr = psnr(&full, &small, scale);
        // In a small picture, the few samples of chroma are coarse.
        let least = match scale {
            JpegScale::OneEighth => 24.0,
            JpegScale::TwoEighths => 28.0,
            _ => 30.0,
        };
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

/// A picture of waves has power at many frequencies, so that no coefficient may be missing or in another place.
#[test]
fn every_frequency_that_a_scale_shows_is_decoded() {
    let waves = RgbImage::from_fn(128, 96, |x, y| {
        let (x, y) = (f64::from(x), f64::from(y));
        let level = 128.0 + 50.0 * (x * 0.9 + 0.01 * y * y).sin() + 40.0 * (y * 0.5).cos();
        image::Rgb([level as u8; 3])
    });
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, 99);
    encoder.set_sampling_factor(SamplingFactor::F_1_1);
    encoder.encode(waves.as_raw(), 128, 96, ColorType::Rgb).expect("encoded");
    let full = decode(&bytes, u32::MAX).expect("decoded in full").pixels;
    for scale in JpegScale::ALL {
        let small = Jpeg::open(&bytes).expect("a header").decode(scale).expect("decoded");
        let psnr = psnr(&full, &small, scale);
        assert!(psnr > 33.0, "{scale:?}: {psnr:.1} dB");
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
        scale in proptest::sample::select(&JpegScale::ALL[..]),
    ) {
        let mut bytes = encode(&test_picture(61, 47), |_| {});
        let start = Jpeg::open(&bytes).expect("a header").header.scan_start;
        bytes.truncate(start);
        bytes.extend(noise);
        if let Ok(picture) = Jpeg::open(&bytes).expect("a header").decode(scale) {
            let size = [61, 47].map(|side: u32| (side * scale as u32).div_ceil(8));
            prop_assert_eq!(picture.dimensions(), (size[0], size[1]));
        }
    }
}

/// Returns a file with other segments before its first scan.
fn with_segments(bytes: &[u8], mut change: impl FnMut(u8, &mut Vec<u8>) -> bool) -> Vec<u8> {
    let mut changed = bytes[..2].to_vec();
    let mut at = 2;
    loop {
        let (marker, _, next) = segment(bytes, at).expect("a segment");
        let end = if marker == header::START_OF_SCAN { bytes.len() } else { next };
        let mut whole = bytes[at..end].to_vec();
        if change(marker, &mut whole) {
            changed.extend(whole);
        }
        if end == bytes.len() {
            return changed;
        }
        at = next;
    }
}

/// Names the components `R`, `G` and `B`, in the frame and in the scan.
fn name_rgb(marker: u8, segment: &mut [u8]) {
    let (first, step) = match marker {
        0xC0 => (10, 3),
        header::START_OF_SCAN => (5, 2),
        _ => return,
    };
    for (index, name) in b"RGB".iter().enumerate() {
        segment[first + step * index] = *name;
    }
}

fn adobe(transform: u8) -> Vec<u8> {
    [&b"\xFF\xEE\x00\x0EAdobe\x00\x64\x00\x00\x00\x00"[..], &[transform]].concat()
}

/// Checks that two files show the same at full size and at a reduced size.
fn assert_same_picture(one: &[u8], other: &[u8], context: &str) {
    for side in [u32::MAX, 8] {
        let [one, other] = [one, other].map(|bytes| decode(bytes, side).expect("decoded").pixels);
        let pairs = one.as_raw().iter().zip(other.as_raw());
        let most = pairs.map(|(a, b)| a.abs_diff(*b)).max();
        assert!(most <= Some(4), "{context}, {side}: {most:?}");
    }
}

#[test]
fn the_markers_decide_about_colors_in_the_order_of_libjpeg() {
    let plain = encode(&test_picture(96, 64), |_| {});
    let keep = |_: u8, _: &mut Vec<u8>| true;
    let without_jfif = |marker: u8, _: &mut Vec<u8>| marker != 0xE0;
    let insert = |bytes: Vec<u8>, transform| [&bytes[..2], &adobe(transform), &bytes[2..]].concat();
    let named = |bytes: &[u8]| {
        with_segments(bytes, |marker, segment| {
            name_rgb(marker, segment);
            true
        })
    };
    let jfif = with_segments(&plain, keep);
    assert_eq!(jfif, plain);
    let bare = with_segments(&plain, without_jfif);
    for (bytes, context) in [
        (insert(plain.clone(), 0), "Adobe without a transform, and JFIF"),
        (named(&plain), "components R, G and B, and JFIF"),
        (insert(bare.clone(), 1), "Adobe with a transform"),
        (named(&insert(bare, 1)), "components R, G and B, and Adobe with a transform"),
    ] {
        assert_same_picture(&plain, &bytes, context);
    }
}

#[test]
fn four_inks_with_any_transform_are_ycck() {
    let picture = test_picture(96, 64);
    let inks: Vec<u8> =
        picture.pixels().flat_map(|pixel| [pixel[0], pixel[1], pixel[2], 30]).collect();
    let mut plain = Vec::new();
    let encoder = Encoder::new(&mut plain, 92);
    encoder.encode(&inks, 96, 64, ColorType::CmykAsYcck).expect("encoded");
    let changed = with_segments(&plain, |marker, segment| {
        if marker == 0xEE {
            segment[15] = 1;
        }
        true
    });
    assert_ne!(changed, plain);
    assert_same_picture(&plain, &changed, "transform 1");
}

#[test]
fn frames_without_tables_use_those_of_the_standard() {
    let plain = encode(&test_picture(96, 64), |_| {});
    let bare = with_segments(&plain, |marker, _| marker != 0xC4);
    assert!(bare.len() < plain.len());
    assert_same_picture(&plain, &bare, "without tables");
}

#[test]
fn the_height_may_follow_the_scan_and_names_may_be_equal() {
    let plain = encode(&test_picture(96, 64), |_| {});
    let mut late = with_segments(&plain, |marker, segment| {
        if marker == 0xC0 {
            segment[5..7].fill(0);
        }
        true
    });
    assert_eq!(Jpeg::open(&late).expect("a header").size(), (96, 0));
    let end = late.len() - 2;
    late.splice(end..end, [0xFF, 0xDC, 0, 4, 0, 64]);
    assert_same_picture(&plain, &late, "a late height");
    let mut twice = plain.clone();
    twice.splice(plain.len() - 2..plain.len() - 2, [0xFF, 0xDC, 0, 4, 0, 64]);
    assert_same_picture(&plain, &twice, "the same height twice");
    let equal = with_segments(&plain, |marker, segment| {
        let (first, step) = if marker == 0xC0 { (10, 3) } else { (5, 2) };
        if [0xC0, header::START_OF_SCAN].contains(&marker) {
            (0..3).for_each(|index| segment[first + step * index] = 1);
        }
        true
    });
    assert_same_picture(&plain, &equal, "equal names");
}

#[test]
fn a_kind_without_a_decoder_is_named() {
    let plain = encode(&test_picture(96, 64), |_| {});
    let wide = with_segments(&plain, |marker, segment| {
        if marker == 0xC0 {
            segment[4] = 12;
        }
        true
    });
    let refused = decode(&wide, u32::MAX).expect_err("refused").to_string();
    assert!(refused.contains("eight bits") && !refused.contains("damaged"), "{refused}");
    for (marker, name) in [(0xC9, "arithmetic coding"), (0xC3, "lossless")] {
        let other = with_segments(&plain, |found, segment| {
            if found == 0xC0 {
                segment[1] = marker;
            }
            true
        });
        let refused = decode(&other, u32::MAX).expect_err("refused").to_string();
        assert!(refused.contains(name) && !refused.contains("damaged"), "{refused}");
    }
}

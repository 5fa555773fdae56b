//! Features of images: descriptor, keypoints, perceptual hash and thumbnail.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "pixel arithmetic within the range of a byte"
)]

use image::{GrayImage, Luma, Rgb, RgbImage, imageops};
use proptest::prelude::*;
use tessera_model::Region;
use tessera_search::index::{
    DIMENSION, Features, Keypoint, Keypoints, extract, extract_regions,
    quality::{SHARPEST, blur_score, bright_score, dark_score},
};

/// A scene of colored discs on a gradient, determined by the seed.
fn scene(seed: u32) -> RgbImage {
    let discs: Vec<[u32; 6]> = (0..12)
        .map(|disc| {
            let mut state = seed * 977 + disc * 131 + 7;
            std::array::from_fn(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                state >> 16
            })
        })
        .collect();
    RgbImage::from_fn(400, 300, |x, y| {
        let inside = discs.iter().find(|[cx, cy, radius, ..]| {
            (x.abs_diff(cx % 400)).pow(2) + (y.abs_diff(cy % 300)).pow(2)
                < (20 + radius % 40).pow(2)
        });
        inside.map_or(Rgb([60, (60 + y / 4) as u8, (x / 4) as u8]), |[.., r, g, b]| {
            Rgb([*r, *g, *b].map(|value| (40 + value % 150) as u8))
        })
    })
}

fn png(pixels: &RgbImage) -> Vec<u8> {
    let mut file = std::io::Cursor::new(Vec::new());
    pixels.write_to(&mut file, image::ImageFormat::Png).unwrap();
    file.into_inner()
}

fn features(pixels: &RgbImage) -> Features {
    extract(&png(pixels)).unwrap()
}

fn distance(a: &Features, b: &Features) -> f32 {
    let products = a.descriptor.iter().zip(&b.descriptor);
    1.0 - products.map(|(a, b)| a.to_f32() * b.to_f32()).sum::<f32>()
}

#[test]
fn edited_copies_stay_near_and_other_scenes_far() {
    for seed in 0..4 {
        let original = scene(seed);
        let of_original = features(&original);
        let mut bright = original.clone();
        bright.pixels_mut().for_each(|pixel| {
            pixel.0 = pixel.0.map(|value| (f32::from(value) * 1.35) as u8);
        });
        let half = imageops::resize(&original, 200, 150, imageops::FilterType::Triangle);
        let cropped = imageops::crop_imm(&original, 10, 8, 380, 284).to_image();
        let mirrored = imageops::flip_horizontal(&original);
        for (edit, copy) in [bright, half, cropped, mirrored].iter().enumerate() {
            let away = distance(&of_original, &features(copy));
            assert!(away < 0.15, "edit {edit} of scene {seed} is {away} away");
        }
        let away = distance(&of_original, &features(&scene(seed + 100)));
        assert!(away > 0.4, "scene {seed} and another are only {away} apart");
    }
}

#[test]
fn the_hash_of_a_smaller_copy_differs_in_few_bits() {
    let original = scene(1);
    let half = imageops::resize(&original, 200, 150, imageops::FilterType::Triangle);
    let bits = |a: &Features, b: &Features| (a.hash ^ b.hash).count_ones();
    let of_original = features(&original);
    assert!(bits(&of_original, &features(&half)) <= 4);
    assert!(bits(&of_original, &features(&scene(2))) >= 16);
}

#[test]
fn the_thumbnail_keeps_the_shape_and_is_never_enlarged() {
    for ((width, height), expected) in [
        ((400, 300), (256, 192)),
        ((300, 400), (192, 256)),
        ((40, 30), (40, 30)),
        ((2000, 3), (256, 1)),
    ] {
        let found = features(&RgbImage::new(width, height));
        let thumbnail = image::load_from_memory(&found.thumbnail).unwrap();
        assert_eq!((thumbnail.width(), thumbnail.height()), expected);
        assert_eq!((found.width, found.height), (width, height));
    }
}

#[test]
fn the_same_bytes_give_the_same_features() {
    let bytes = png(&scene(3));
    let (first, second) = (extract(&bytes).unwrap(), extract(&bytes).unwrap());
    assert_eq!(first.descriptor, second.descriptor);
    assert_eq!(first.thumbnail, second.thumbnail);
    assert_eq!(first.hash, second.hash);
}

#[test]
fn invalid_images_are_rejected() {
    assert!(extract(b"").is_err());
    assert!(extract(b"GIF89a").is_err());
    let file = png(&scene(0));
    assert!(extract(&file[..file.len() / 2]).is_err());
}

#[test]
fn a_region_has_the_features_of_its_crop() {
    let whole = scene(5);
    let region = Region::new(0.25, 0.2, 0.5, 0.6).unwrap();
    let parts = extract_regions(&png(&whole), &[region, Region::new(0.0, 0.0, 1.0, 1.0).unwrap()]);
    let cropped = features(&imageops::crop_imm(&whole, 100, 60, 200, 180).to_image());
    for (part, file) in parts.unwrap().iter().flatten().zip([cropped, features(&whole)]) {
        assert_eq!((part.width, part.height), (file.width, file.height));
        assert_eq!(part.descriptor, file.descriptor);
        assert_eq!(part.keypoints, file.keypoints);
        assert_eq!(part.thumbnail, file.thumbnail);
    }
    assert!(extract_regions(&png(&whole), &[]).unwrap().is_empty());
    assert!(extract_regions(b"no picture", &[region]).is_err());
}

/// A gray image of these shades, which are its luma.
fn gray(width: u32, height: u32, shade: impl Fn(u32, u32) -> u32) -> Features {
    let gray = GrayImage::from_fn(width, height, |x, y| Luma([shade(x, y) as u8]));
    features(&image::DynamicImage::from(gray).to_rgb8())
}

#[test]
fn a_smooth_image_is_blurred_and_a_detailed_one_is_not() {
    assert!(blur_score(gray(64, 64, |x, _| x * 3).sharpness) > 0.5);
    assert!(blur_score(gray(64, 64, |x, _| x / 2 % 2 * 90).sharpness) <= 0.5);
}

/// Plain surfaces with few edges, as in drawings.
#[test]
fn a_drawing_with_sharp_edges_is_not_blurred_and_its_blurred_copy_is() {
    let drawing = RgbImage::from_fn(500, 400, |x, y| {
        let is_inside = x.abs_diff(250).pow(2) + y.abs_diff(200).pow(2) < 120 * 120;
        Rgb(if is_inside { [200, 60, 40] } else { [240, 240, 230] })
    });
    assert!(blur_score(features(&drawing).sharpness) < 0.4);
    let blurred = image::imageops::blur(&drawing, 3.0);
    assert!(blur_score(features(&blurred).sharpness) > 0.6);
}

#[test]
fn black_is_dark_white_is_bright_and_gray_is_neither() {
    for (shade, is_dark, is_bright) in [(0, true, false), (255, false, true), (128, false, false)] {
        let brightness = gray(3, 3, |_, _| shade).brightness;
        assert_eq!(dark_score(brightness) > 0.5, is_dark, "{shade}");
        assert_eq!(bright_score(brightness) > 0.5, is_bright, "{shade}");
    }
    assert!((gray(3, 3, |_, _| 255).brightness - 1.0).abs() < 1e-6);
}

#[test]
fn scores_are_monotonic_and_one_half_at_the_threshold() {
    let half = |confidence: f32| (confidence - 0.5).abs() < 1e-6;
    assert!(half(blur_score(1.25)) && half(dark_score(0.2)) && half(bright_score(0.85)));
    let steps = || (0_u8..=20).map(|step| f32::from(step) / 20.0);
    assert!(steps().map(|at| blur_score(at * SHARPEST)).is_sorted_by(|a, b| a > b));
    assert!(steps().map(dark_score).is_sorted_by(|a, b| a > b));
    assert!(steps().map(bright_score).is_sorted_by(|a, b| a < b));
    assert!(dark_score(0.0) > 0.99 && bright_score(1.0) > 0.99 && blur_score(0.0) > 0.99);
}

#[test]
fn plain_images_of_any_size_are_not_blurred() {
    for (width, height) in [(1, 1), (1, 2), (2, 1), (9, 1), (1, 8), (3, 3), (256, 200)] {
        assert!(blur_score(gray(width, height, |_, _| 7).sharpness) < 0.1);
    }
}

/// A shade of a checkered pattern with many shades.
fn checkered(x: u32, y: u32) -> u32 {
    (x / 9 * 37 + y / 7 * 61) * 29 % 251
}

#[test]
fn keypoints_are_inside_spread_out_and_restorable() {
    let keypoints = gray(256, 192, checkered).keypoints;
    assert_eq!(keypoints.len(), 64);
    assert_eq!(Keypoints::from_bytes(keypoints.as_bytes()), keypoints);
    assert_eq!(keypoints.as_bytes().len(), 64 * Keypoints::ENCODED_SIZE);
    assert!(keypoints.iter().all(|keypoint| keypoint.y < 192));
    for (column, row) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let inside = |k: &Keypoint| (k.x / 128, k.y / 96) == (column, row);
        assert!(keypoints.iter().filter(inside).count() >= 8, "few in {column}, {row}");
    }
}

#[test]
fn a_mirrored_image_has_mirrored_descriptors() {
    let original = gray(256, 192, checkered).keypoints;
    let mirrored = gray(256, 192, |x, y| checkered(255 - x, y)).keypoints;
    let is_in_original = |keypoint: &Keypoint| {
        let back = keypoint.mirrored().descriptor;
        original.iter().any(|other| (other.descriptor ^ back).count_ones() <= 12)
    };
    let near = mirrored.iter().filter(is_in_original).count();
    assert!(near >= 48, "only {near} of 64");
}

#[test]
fn images_without_corners_have_no_keypoints() {
    assert!(gray(256, 192, |_, _| 90).keypoints.is_empty());
    for (width, height) in [(1, 1), (2, 2), (3, 1), (1, 9), (20, 20), (256, 1)] {
        assert!(gray(width, height, checkered).keypoints.is_empty(), "{width} x {height}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn plain_pictures_of_any_size_have_a_unit_descriptor(
        width in 1_u32..70, height in 1_u32..70, color in any::<[u8; 3]>(),
    ) {
        let found = features(&RgbImage::from_pixel(width, height, Rgb(color)));
        prop_assert_eq!(found.descriptor.len(), DIMENSION);
        let length: f32 = found.descriptor.iter().map(|v| v.to_f32().powi(2)).sum();
        prop_assert!((length - 1.0).abs() < 2e-3, "length {}", length);
        prop_assert!((0.0..=1.0).contains(&found.brightness));
        prop_assert!(blur_score(found.sharpness) < 0.1);
    }
}

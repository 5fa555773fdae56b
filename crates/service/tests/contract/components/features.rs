//! Features of images: descriptor, keypoints, perceptual hash and thumbnail.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "pixel arithmetic within the range of a byte"
)]

use image::{Rgb, RgbImage, imageops};
use proptest::prelude::*;
use tessera_model::Region;
use tessera_service::index::{DIMENSION, Features, extract, extract_regions};

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
    for (part, file) in parts.unwrap().iter().zip([cropped, features(&whole)]) {
        assert_eq!((part.width, part.height), (file.width, file.height));
        assert_eq!(part.descriptor, file.descriptor);
        assert_eq!(part.keypoints, file.keypoints);
        assert_eq!(part.thumbnail, file.thumbnail);
    }
    assert!(extract_regions(&png(&whole), &[]).unwrap().is_empty());
    assert!(extract_regions(b"no picture", &[region]).is_err());
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
        prop_assert!(found.sharpness.abs() < 1e-3);
    }
}

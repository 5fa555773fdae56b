//! Every sampling and every order of scans gives the right picture, at full size and scaled.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "samples and sides are small"
)]

use image::RgbImage;
use proptest::prelude::*;
use tessera_picture::decode::decode;

use crate::jpeg_writer::{Jpeg, Layout};

/// The largest mean difference, and the largest difference of a pixel. Decoders upsample in different ways.
const TOLERANCE: (f64, f64) = (5.0, 30.0);

/// Smooth waves, which are as bright after any upsampling.
fn wave(component: usize, x: f64, y: f64) -> f64 {
    let phase = component as f64;
    128.0 + 50.0 * (x / 61.0 + phase).sin() + 40.0 * (y / 53.0 - 2.0 * phase).cos()
}

fn expected(Jpeg { layout, samples, .. }: &Jpeg) -> RgbImage {
    let (width, height) = layout.size;
    RgbImage::from_fn(width as u32, height as u32, |x, y| {
        let at = y as usize * width + x as usize;
        let stored: Vec<f64> = samples.iter().map(|component| component[at]).collect();
        let color = match stored[..] {
            [gray] => [gray; 3],
            [luma, cb, cr] if layout.adobe_transform != Some(0) => to_rgb([luma, cb, cr]),
            [red, green, blue] => [red, green, blue],
            // Inks are stored inverted, and the three colors of YCCK are those of the inks.
            [luma, cb, cr, black] if layout.adobe_transform == Some(2) => {
                to_rgb([luma, cb, cr]).map(|ink| (255.0 - ink) * black / 255.0)
            }
            _ => [0, 1, 2].map(|ink| stored[ink] * stored[3] / 255.0),
        };
        image::Rgb(color.map(|sample| sample.round() as u8))
    })
}

fn to_rgb([luma, cb, cr]: [f64; 3]) -> [f64; 3] {
    let (cb, cr) = (cb - 128.0, cr - 128.0);
    [luma + 1.402 * cr, luma - 0.344_14 * cb - 0.714_14 * cr, luma + 1.772 * cb]
        .map(|sample| sample.clamp(0.0, 255.0))
}

/// Returns the mean and the largest difference.
fn difference(one: &RgbImage, other: &RgbImage) -> (f64, f64) {
    assert_eq!(one.dimensions(), other.dimensions());
    let differences = || {
        one.as_raw().iter().zip(other.as_raw()).map(|(one, other)| f64::from(one.abs_diff(*other)))
    };
    (differences().sum::<f64>() / one.as_raw().len() as f64, differences().fold(0.0, f64::max))
}

/// Returns the averages of squares.
fn averaged(picture: &RgbImage, factor: u32) -> RgbImage {
    let (width, height) = picture.dimensions();
    RgbImage::from_fn(width.div_ceil(factor), height.div_ceil(factor), |x, y| {
        let (right, bottom) = ((x * factor + factor).min(width), (y * factor + factor).min(height));
        let pixels = || {
            (y * factor..bottom)
                .flat_map(|y| (x * factor..right).map(move |x| picture.get_pixel(x, y).0))
        };
        let count = pixels().count() as u32;
        image::Rgb([0, 1, 2].map(|channel| {
            (pixels().map(|pixel| u32::from(pixel[channel])).sum::<u32>() / count) as u8
        }))
    })
}

/// Returns what is wrong with the decoded picture.
fn flaw(jpeg: &Jpeg) -> Option<String> {
    let (bytes, expected) = (jpeg.bytes(), expected(jpeg));
    let side = expected.width().min(expected.height());
    // A tiny picture is not worth scaling.
    let factors: &[u32] = if side < 16 { &[1] } else { &[1, 2, 4, 8] };
    for &factor in factors {
        let decoded = match decode(&bytes, side / factor) {
            Ok(decoded) => decoded.pixels,
            Err(error) => return Some(format!("1/{factor}: {error}")),
        };
        let (mean, max) = difference(&decoded, &averaged(&expected, factor));
        if mean > TOLERANCE.0 || max > TOLERANCE.1 {
            return Some(format!("1/{factor}: differs by {mean:.1}, at most by {max}"));
        }
    }
    None
}

/// Whether the picture without its end marker has the same pixels.
fn is_same_without_end(jpeg: &Jpeg) -> bool {
    let bytes = jpeg.bytes();
    let pixels = |bytes: &[u8]| decode(bytes, 100).map(|decoded| decoded.pixels).ok();
    pixels(&bytes[..bytes.len() - 2]) == pixels(&bytes)
}

const SIZES: [(usize, usize); 3] = [(67, 53), (32, 48), (9, 7)];
/// The sampling factors of three components. A fourth component has those of the first.
const SAMPLINGS: [[(usize, usize); 3]; 19] = [
    [(1, 1), (1, 1), (1, 1)],
    [(2, 1), (1, 1), (1, 1)],
    [(1, 2), (1, 1), (1, 1)],
    [(2, 2), (1, 1), (1, 1)],
    [(4, 1), (1, 1), (1, 1)],
    [(1, 4), (1, 1), (1, 1)],
    [(4, 2), (1, 1), (1, 1)],
    [(2, 4), (1, 1), (1, 1)],
    [(3, 1), (1, 1), (1, 1)],
    [(2, 2), (2, 1), (2, 1)],
    [(2, 2), (1, 2), (1, 2)],
    [(2, 2), (2, 1), (1, 2)],
    [(2, 1), (2, 1), (1, 1)],
    [(2, 2), (2, 2), (2, 2)],
    // The brightness has fewer samples than the colors.
    [(1, 1), (2, 1), (2, 1)],
    [(1, 1), (1, 2), (1, 2)],
    [(1, 1), (2, 2), (2, 2)],
    [(2, 1), (1, 2), (1, 2)],
    [(1, 1), (1, 1), (2, 2)],
];

/// The components of the scans: one scan, a scan for each component, or one for the brightness and one for the colors.
fn groups(components: usize) -> Vec<Vec<Vec<usize>>> {
    let single = (0..components).map(|number| vec![number]).collect();
    let mut groups = vec![vec![(0..components).collect()], single];
    if components > 1 {
        groups.push(vec![vec![0], (1..components).collect()]);
    }
    groups
}

/// Changes how the picture is stored, but not its coefficients.
fn store(layout: &mut Layout, groups: Vec<Vec<usize>>, variant: u8) {
    layout.groups = groups;
    layout.progressive = variant & 1 != 0;
    layout.restart_interval = if variant & 2 != 0 { 3 } else { 0 };
    layout.adobe_transform = match (layout.sampling.len(), variant) {
        (4, 0 | 3) => Some(2),
        (3, 3) | (4, _) => Some(0),
        _ => None,
    };
}

#[test]
fn every_layout_is_decoded_as_its_coefficients_say() {
    let (mut count, mut flaws) = (0, Vec::new());
    let pictures = [1, 3, 4].map(|count| SAMPLINGS.map(|sampling| (count, sampling))).concat();
    for (components, sampling) in pictures {
        // The factors of a single component have no effect, but they are legal.
        let sampling: Vec<_> = sampling.into_iter().chain([sampling[0]]).take(components).collect();
        for size in SIZES {
            let mut jpeg = Jpeg::new(Layout::new(size, sampling.clone()), wave);
            for (groups, variant) in groups(components)
                .iter()
                .flat_map(|groups| [0, 1, 2, 3].map(|variant| (groups, variant)))
            {
                store(&mut jpeg.layout, groups.clone(), variant);
                if jpeg.layout.is_legal() {
                    count += 1;
                    flaws.extend(flaw(&jpeg).map(|flaw| format!("{:?}: {flaw}", jpeg.layout)));
                    assert!(is_same_without_end(&jpeg), "{:?}", jpeg.layout);
                }
            }
        }
    }
    assert!(count > 1000, "{count}");
    assert!(flaws.is_empty(), "{} of {count}:\n{}", flaws.len(), flaws.join("\n"));
}

#[test]
fn a_fraction_between_two_samplings_is_named() {
    let mut layout = Layout::new((20, 20), vec![(3, 1), (2, 1), (1, 1)]);
    store(&mut layout, vec![vec![0, 1, 2]], 0);
    let error = decode(&Jpeg::new(layout, wave).bytes(), 20).expect_err("a fraction");
    assert!(error.0.starts_with("a kind of JPEG that cannot be opened"), "{error}");
}

#[test]
fn three_samplings_are_decoded_or_named() {
    for sampling in [[(4, 1), (2, 1), (1, 1)], [(1, 4), (1, 1), (1, 2)]] {
        let mut jpeg = Jpeg::new(Layout::new((67, 53), sampling.to_vec()), wave);
        for (groups, variant) in
            groups(3).iter().flat_map(|groups| [0, 1, 2, 3].map(|variant| (groups, variant)))
        {
            store(&mut jpeg.layout, groups.clone(), variant);
            let has_own_scans = groups.len() > 2 || jpeg.layout.progressive;
            match flaw(&jpeg) {
                Some(flaw) if has_own_scans && flaw.contains("three samplings") => {}
                flaw => assert_eq!(flaw, None, "{:?}", jpeg.layout),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn damage_of_an_uncommon_layout_gives_a_picture_or_a_sentence(
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        variant in 0_u8..4,
        sampling in prop::sample::select(&SAMPLINGS[..]),
        components in prop::sample::select(&[1_usize, 3, 4][..]),
    ) {
        let sampling = sampling.into_iter().chain([(1, 1)]).take(components).collect();
        let mut jpeg = Jpeg::new(Layout::new((29, 19), sampling), wave);
        store(&mut jpeg.layout, (0..components).map(|number| vec![number]).collect(), variant);
        let mut bytes = jpeg.bytes();
        for (place, byte) in damage {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Err(error) = decode(&bytes, 19) {
            prop_assert!(!error.0.contains("the decoder failed"), "{}", error.0);
        }
    }
}

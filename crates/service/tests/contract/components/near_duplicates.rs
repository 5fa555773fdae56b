//! Near-duplicates of edited images, and the order in which the groups of every similarity are contiguous.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "pixel coordinates are small"
)]

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    io::Cursor,
};

use image::{Rgb, RgbImage, imageops};
use proptest::prelude::*;
use rayon::prelude::*;
use tessera_search::{
    index::{CornerColor, DIMENSION, Features, Keypoint, Keypoints, extract},
    similarity::{
        CopyCandidate, CopySearch, DuplicatePair, Neighbor, NeighborGraph, Vectors,
        near_duplicates, neighbor_graph, order_by_group,
    },
};

/// A sample image and its copies: one for each heavy edit, and its mirror image.
pub fn edited_family(image: &tessera_sample::SampleImage) -> Vec<RgbImage> {
    let whole = tessera_sample::render(image);
    let original = imageops::thumbnail(&whole, 300, 300 * whole.height() / whole.width());
    let (width, height) = original.dimensions();
    let (sine, cosine) = 8_f32.to_radians().sin_cos();
    let turned = RgbImage::from_fn(width, height, |x, y| {
        let (x, y) = (x as f32 - width as f32 / 2.0, y as f32 - height as f32 / 2.0);
        let from = (cosine * x + sine * y, cosine * y - sine * x);
        let (x, y) = (from.0 + width as f32 / 2.0, from.1 + height as f32 / 2.0);
        imageops::interpolate_bilinear(&original, x, y).unwrap_or(Rgb([0; 3]))
    });
    let cropped = imageops::crop_imm(&original, 0, 0, width * 7 / 10, height * 7 / 10);
    let mut gray = original.clone();
    gray.pixels_mut().for_each(|pixel| pixel.0 = [pixel.0[1]; 3]);
    let mut written = original.clone();
    for (x, y, pixel) in written.enumerate_pixels_mut() {
        if y > height * 4 / 5 {
            pixel.0 = [(x / 7 * (y / 9 + 3) % 2 * 200) as u8; 3];
        }
    }
    let copies = [
        turned,
        cropped.to_image(),
        gray,
        written,
        imageops::fast_blur(&original, 2.0),
        imageops::flip_horizontal(&original),
    ];
    std::iter::once(original).chain(copies).collect()
}

fn found(images: &[RgbImage]) -> Vec<DuplicatePair> {
    let features: Vec<Features> = images
        .par_iter()
        .map(|image| {
            let mut file = Cursor::new(Vec::new());
            image.write_to(&mut file, image::ImageFormat::Bmp).unwrap();
            extract(&file.into_inner()).unwrap()
        })
        .collect();
    let mut vectors = Vectors::new(DIMENSION);
    for features in &features {
        vectors.push(&features.descriptor);
    }
    let keypoints: Vec<Keypoints> =
        features.into_iter().map(|features| features.keypoints).collect();
    let graph = neighbor_graph(&vectors, 16, |_| true).unwrap();
    near_duplicates(&*keypoints, &graph, |_| true).unwrap().unwrap()
}

#[test]
fn hard_edits_are_found_and_other_images_are_not() {
    let originals = 6;
    let images: Vec<Vec<RgbImage>> =
        tessera_sample::plan(originals, 11).par_iter().map(edited_family).collect();
    let size = images[0].len();
    let pairs = found(&images.concat());
    let of = |row: u32| row as usize / size;
    let (same, other): (Vec<&DuplicatePair>, Vec<&DuplicatePair>) =
        pairs.iter().partition(|pair| of(pair.rows.0) == of(pair.rows.1));
    let planted = originals * size * (size - 1) / 2;
    assert!(same.len() * 10 >= planted * 6, "{} of {planted}", same.len());
    assert!(other.len() * 50 <= pairs.len(), "{} of {} are false", other.len(), pairs.len());
    assert!(pairs.iter().all(|pair| (0.84..=1.0).contains(&pair.similarity)));
    let rows: HashSet<(u32, u32)> = pairs.iter().map(|pair| pair.rows).collect();
    assert_eq!(rows.len(), pairs.len());
    assert!(rows.iter().all(|(lower, higher)| lower < higher));
}

#[test]
fn identical_images_match_and_plain_ones_differ_by_color() {
    let plain = |color| RgbImage::from_pixel(64, 48, Rgb(color));
    let images = [plain([200, 30, 30]), plain([200, 30, 30]), plain([30, 30, 200])];
    let pairs = found(&images);
    assert_eq!(pairs.iter().map(|pair| pair.rows).collect::<Vec<_>>(), [(0, 1)]);
    // Without corners, the second picture could be the mirror image of the first one.
    assert!((pairs[0].similarity - 0.999).abs() < 1e-6, "{pairs:?}");
}

#[test]
fn progress_reaches_one_and_can_cancel_the_search() {
    let keypoints = vec![Keypoints::default(); 100];
    let graph = NeighborGraph::new(100, 0);
    let heard = std::sync::Mutex::new(Vec::new());
    let pairs = near_duplicates(&*keypoints, &graph, |share| {
        heard.lock().unwrap().push(share);
        true
    });
    assert_eq!(pairs, Ok(Some(Vec::new())));
    let mut heard = heard.into_inner().unwrap();
    heard.sort_by(f32::total_cmp);
    assert_eq!(heard, [0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0]);
    assert_eq!(near_duplicates(&*keypoints, &graph, |_| false), Ok(None));
}

/// Dissimilar random corners, spread over a picture; each seed gives another picture.
fn corners(seed: u32) -> Vec<Keypoint> {
    let mut state = u128::from(seed) * 2 + 1;
    let mut number = || {
        state = state.wrapping_mul(0xda94_2042_e4dd_58b5_da94_2042_e4dd_58b5).wrapping_add(77);
        state ^ state >> 61
    };
    let mut point = |last: u128| ((number() >> 64) % last) as u8;
    let points: Vec<[u8; 2]> = (0..60).map(|_| [point(250), point(190)]).collect();
    points
        .into_iter()
        .map(|[x, y]| Keypoint { x, y, descriptor: number(), color: CornerColor(0) })
        .collect()
}

/// The same corners moved, with a few bits of each descriptor changed.
fn moved(corners: &[Keypoint], to: impl Fn(f32, f32) -> (f32, f32)) -> Vec<Keypoint> {
    let moved = corners.iter().filter_map(|corner| {
        let (x, y) = to(f32::from(corner.x), f32::from(corner.y));
        let inside = (0.0..256.0).contains(&x) && (0.0..192.0).contains(&y);
        let descriptor = corner.descriptor ^ 0x11 << 40;
        inside.then_some(Keypoint { x: x as u8, y: y as u8, descriptor, ..*corner })
    });
    moved.collect()
}

fn encoded(corners: &[Keypoint]) -> Keypoints {
    let mut bytes = Vec::new();
    for corner in corners {
        bytes.extend([corner.x, corner.y, corner.color.0]);
        bytes.extend(corner.descriptor.to_le_bytes());
    }
    Keypoints::from_bytes(&bytes)
}

/// The similarity of two pictures by their corners alone: 0.84 (just enough) to 0.99.
fn similarity(left: &[Keypoint], right: &[Keypoint]) -> Option<f32> {
    similarity_at(f32::INFINITY, left, right)
}

/// The similarity of two pictures with this distance of their descriptors.
fn similarity_at(distance: f32, left: &[Keypoint], right: &[Keypoint]) -> Option<f32> {
    let graph: NeighborGraph =
        [Vec::new(), vec![Neighbor { row: 0, distance }]].into_iter().collect();
    let pairs =
        near_duplicates(&[encoded(left), encoded(right)][..], &graph, |_| true).unwrap().unwrap();
    pairs.first().map(|pair| pair.similarity)
}

#[test]
fn rotated_crop_matches_its_original_and_another_image_does_not() {
    let original = corners(1);
    let (sine, cosine) = 0.14_f32.sin_cos();
    let rotate =
        |x, y| (1.4 * (cosine * x - sine * y) - 40.0, 1.4 * (sine * x + cosine * y) - 60.0);
    assert!(similarity(&original, &moved(&original, rotate)).unwrap() > 0.75);
    assert_eq!(similarity(&original, &corners(2)), None);
    assert_eq!(similarity(&original, &[]), None);
}

#[test]
fn only_the_same_picture_is_identical() {
    let (picture, plain, other) = (corners(1), &corners(2)[..8], &corners(3)[..8]);
    let half: Vec<Keypoint> = picture.iter().copied().filter(|corner| corner.x < 128).collect();
    for (distance, left, right, expected) in [
        (0.0, &*picture, &*picture, 1.0),
        (0.0, plain, plain, 1.0),
        (0.3, &picture, &half, 0.99),
        (0.005, &picture, plain, 0.995),
        (0.0001, &picture, &half, 0.999),
        (0.005, plain, other, 0.94),
        (0.03, plain, other, 0.94),
        (0.03, &picture[..20], &picture[..20], 0.94),
        (0.03, &picture, plain, 0.94),
    ] {
        let found = similarity_at(distance, left, right).unwrap();
        assert!((found - expected).abs() < 1e-4, "{distance}: {found}, not {expected}");
    }
    let rows = [encoded(&half), encoded(&picture)];
    let search = CopySearch::new(&rows[1], &[]).unwrap();
    let candidates = [0, 1].map(CopyCandidate::upright);
    let found = search.copies(&candidates, |row| rows.get(row as usize));
    assert!(matches!(found[..], [(0, 0.009..=0.011), (1, 0.0)]), "{found:?}");
}

#[test]
fn the_same_picture_in_other_colors_is_another_picture() {
    const GRAY: u8 = 7;
    let colored = |color: &dyn Fn(u8) -> [u8; 2]| -> Vec<Keypoint> {
        let corners = (0..).zip(corners(1)).map(|(number, corner)| {
            let [red_green, yellow_blue] = color(number);
            Keypoint { color: CornerColor(red_green << 4 | yellow_blue), ..corner }
        });
        corners.collect()
    };
    let original = colored(&|corner| [GRAY + corner % 6, GRAY + corner % 3]);
    let paler = colored(&|corner| [GRAY + corner % 6 / 2, GRAY + corner % 3 / 2]);
    let warmer = colored(&|corner| [GRAY + corner % 6 + 1, GRAY + corner % 3 + 1]);
    let gray = colored(&|_| [GRAY, GRAY]);
    let green = colored(&|corner| [GRAY - corner % 6, GRAY + corner % 3]);
    let with_another_sign = colored(&|corner| match corner {
        0..8 => [GRAY - 5, GRAY],
        corner => [GRAY + corner % 6, GRAY + corner % 3],
    });
    for (name, other, is_copy) in [
        ("paler", paler, true),
        ("warmer", warmer, true),
        ("gray", gray, true),
        ("green", green, false),
        ("another sign", with_another_sign, false),
    ] {
        assert_eq!(similarity(&original, &other).is_some(), is_copy, "{name}");
        assert_eq!(similarity_at(0.005, &original, &other).is_some(), is_copy, "{name}");
    }
    let sign = |color: [u8; 2]| colored(&|_| color);
    let (red, orange, purple) =
        (sign([GRAY + 4, GRAY + 2]), sign([GRAY + 3, GRAY + 3]), sign([GRAY + 3, GRAY - 2]));
    assert!(similarity(&red, &orange).is_some());
    assert_eq!(similarity(&red, &purple), None);
}

#[test]
fn shared_banner_alone_is_not_a_match() {
    let mut banner = corners(3);
    for corner in &mut banner {
        corner.y = 150 + corner.y % 40;
    }
    let with_banner = |seed| [&corners(seed)[..40], &banner[..30]].concat();
    assert_eq!(similarity(&with_banner(4), &with_banner(5)), None);
    let without_banner = corners(4);
    assert!(similarity(&with_banner(4), &without_banner).is_some());
}

#[test]
fn mirroring_twice_restores_the_keypoints() {
    let original = corners(6);
    let mirrored: Vec<Keypoint> = original.iter().map(|corner| corner.mirrored()).collect();
    assert_eq!(similarity(&original, &mirrored), None);
    let back: Vec<Keypoint> = mirrored.iter().map(|corner| corner.mirrored()).collect();
    assert_eq!(original, back);
}

const ROWS: u32 = 24;

fn pairs() -> impl Strategy<Value = Vec<DuplicatePair>> {
    let pair = (0..ROWS - 1, 1..ROWS, 84..=100_u8).prop_map(|(row, after, percent)| {
        let other = (row + after).min(ROWS - 1);
        DuplicatePair { rows: (row, other), similarity: f32::from(percent) / 100.0 }
    });
    proptest::collection::vec(pair, 0..30)
}

/// Returns the connected components with more than one row, by spreading the lowest row of each.
fn components(pairs: &[DuplicatePair], similarity: f32) -> BTreeSet<Vec<u32>> {
    let mut lowest: Vec<u32> = (0..ROWS).collect();
    for _ in 0..ROWS {
        for DuplicatePair { rows: (one, other), .. } in
            pairs.iter().filter(|pair| pair.similarity >= similarity)
        {
            let shared = lowest[*one as usize].min(lowest[*other as usize]);
            (lowest[*one as usize], lowest[*other as usize]) = (shared, shared);
        }
    }
    let mut groups: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (row, first) in (0..).zip(lowest) {
        groups.entry(first).or_default().push(row);
    }
    groups.into_values().filter(|group| group.len() > 1).collect()
}

proptest! {
    #[test]
    fn groups_are_connected_components_at_every_similarity(pairs in pairs(), percent in 84..=100_u8) {
        let similarity = f32::from(percent) / 100.0;
        let order = order_by_group(&pairs, ROWS as usize);
        let groups = order.chunk_by(|_, next| next.link >= similarity);
        let groups: Vec<Vec<u32>> =
            groups.map(|group| group.iter().map(|it| it.row).collect()).collect();
        prop_assert!(groups.iter().all(|group| group.iter().min() == group.first()));
        let sorted = groups.into_iter().filter(|group| group.len() > 1).map(|mut group| {
            group.sort_unstable();
            group
        });
        prop_assert_eq!(sorted.collect::<BTreeSet<_>>(), components(&pairs, similarity));
        prop_assert!(order.first().is_none_or(|first| first.link == 0.0));
    }
}

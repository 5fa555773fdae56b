//! Near-duplicates: pairs of rows that show the same picture, original or edited.
//!
//! Light edits (size, compression, mirroring, brightness, a trimmed border) hardly change the
//! descriptor. Heavy edits (rotation, cropping, bleaching, blur, text) preserve corners; candidates
//! for them come from the keypoint index and from the neighbor graph, and every pair is verified.

use rayon::prelude::*;

use super::{
    Neighbor,
    geometric_verification::inlier_score,
    keypoint_index::{KeypointIndex, Votes},
    step_counter::StepCounter,
};
use crate::index::{Keypoint, Keypoints};

/// Cosine distance up to which pictures are duplicates whatever their corners.
const EQUAL_DISTANCE: f32 = 0.01;
/// The same for a picture with fewer than [`MIN_CORNERS`] corners.
const PLAIN_EQUAL_DISTANCE: f32 = 0.04;
/// Fewest corners that decide.
const MIN_CORNERS: usize = 24;
/// Cosine distance up to which a duplicate counts as lightly edited.
const EASY_EDIT_DISTANCE: f32 = 0.1;
/// Similarity of a pair found by its corners alone: with the fewest and with all of them matching.
const HARD_EDIT_SIMILARITY: (f32, f32) = (0.6, 0.9);
/// Most candidates per row besides its neighbors.
const MAX_CANDIDATES: usize = 128;
const ROWS_PER_STEP: usize = 32;

/// Two rows that show the same picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DuplicatePair {
    /// The lower row and the higher one.
    pub rows: (u32, u32),
    /// 1.0: identical; from 0.9: a light edit; 0.6 to 0.9: matched by corners, more for more
    /// matches.
    pub similarity: f32,
}

/// Finds all pairs of near-duplicates, each once, ordered by rows. `progress` receives the share
/// done, 0.0 to 1.0, from any thread, and returns whether to continue; `None` if it stopped the
/// search.
///
/// `graph` contains the nearest neighbors of the rows. The keypoint index of 100,000 rows takes 130
/// MiB.
pub fn near_duplicates(
    keypoints: &[Keypoints],
    graph: &[Vec<Neighbor>],
    progress: impl Fn(f32) -> bool + Sync,
) -> Option<Vec<DuplicatePair>> {
    let words = KeypointIndex::new(keypoints);
    let rows: Vec<u32> = (0..).take(keypoints.len()).collect();
    let steps = StepCounter::new(rows.len().div_ceil(ROWS_PER_STEP), &progress);
    let found: Option<Vec<Vec<DuplicatePair>>> = rows
        .par_chunks(ROWS_PER_STEP)
        .map_init(Votes::default, |votes, rows| {
            let pairs = rows.iter().flat_map(|&row| {
                let mut others = graph[row as usize].clone();
                words.add_candidates(
                    row,
                    &keypoints[row as usize],
                    MAX_CANDIDATES,
                    votes,
                    &mut others,
                );
                duplicates_of_row(row, &others, keypoints)
            });
            let pairs = pairs.collect();
            steps.advance().then_some(pairs)
        })
        .collect();
    let mut pairs = found?.concat();
    // Two rows may each be a neighbor of the other.
    pairs.par_sort_unstable_by_key(|pair| pair.rows);
    pairs.dedup_by_key(|pair| pair.rows);
    Some(pairs)
}

/// The pairs of a row with any of `others`, possibly repeated.
fn duplicates_of_row(row: u32, others: &[Neighbor], keypoints: &[Keypoints]) -> Vec<DuplicatePair> {
    let corners = |row: u32| keypoints[row as usize].iter().collect::<Vec<Keypoint>>();
    let own = corners(row);
    let pair = |other: &Neighbor| {
        let theirs = corners(other.row);
        let (lower, higher) = if row < other.row { (&own, &theirs) } else { (&theirs, &own) };
        Some(DuplicatePair {
            rows: (row.min(other.row), row.max(other.row)),
            similarity: similarity(lower, higher, other.distance)?,
        })
    };
    others.iter().filter_map(pair).collect()
}

/// The similarity of two pictures if they are duplicates, by their corners and their distance,
/// which is infinite if unknown.
fn similarity(lower: &[Keypoint], higher: &[Keypoint], distance: f32) -> Option<f32> {
    let plain = lower.len().min(higher.len()) < MIN_CORNERS;
    let close = if plain { PLAIN_EQUAL_DISTANCE } else { EQUAL_DISTANCE };
    if distance <= close {
        return Some(1.0 - distance);
    }
    let mirrored = || {
        let higher: Vec<Keypoint> = higher.iter().map(|corner| corner.mirrored()).collect();
        inlier_score(lower, &higher)
    };
    // A mirror image has a similar descriptor, so only a neighbor can be one.
    let share =
        inlier_score(lower, higher).or_else(|| distance.is_finite().then(mirrored).flatten())?;
    let alike = distance <= EASY_EDIT_DISTANCE;
    Some(if alike {
        1.0 - distance
    } else {
        HARD_EDIT_SIMILARITY.0 + (HARD_EDIT_SIMILARITY.1 - HARD_EDIT_SIMILARITY.0) * share
    })
}

#[cfg(test)]
mod tests {
    use std::{collections::HashSet, io::Cursor};

    use image::{Rgb, RgbImage, imageops};

    use super::*;
    use crate::{index, similarity};

    /// A sample image and its copies: one for each heavy edit, and its mirror image.
    fn family(image: &tessera_sample::SampleImage) -> Vec<RgbImage> {
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
        let features: Vec<index::Features> = images
            .par_iter()
            .map(|image| {
                let mut file = Cursor::new(Vec::new());
                image.write_to(&mut file, image::ImageFormat::Bmp).unwrap();
                index::extract(&file.into_inner()).unwrap()
            })
            .collect();
        let mut vectors = similarity::Vectors::new(index::DIMENSION);
        for features in &features {
            vectors.push(&features.descriptor);
        }
        let keypoints: Vec<Keypoints> =
            features.into_iter().map(|features| features.keypoints).collect();
        let graph = similarity::neighbor_graph(&vectors, 16, |_| true).unwrap();
        near_duplicates(&keypoints, &graph, |_| true).unwrap()
    }

    #[test]
    fn hard_edits_are_found_and_other_images_are_not() {
        let originals = 6;
        let images: Vec<Vec<RgbImage>> =
            tessera_sample::plan(originals, 11).par_iter().map(family).collect();
        let size = images[0].len();
        let pairs = found(&images.concat());
        let of = |row: u32| row as usize / size;
        let (same, other): (Vec<&DuplicatePair>, Vec<&DuplicatePair>) =
            pairs.iter().partition(|pair| of(pair.rows.0) == of(pair.rows.1));
        let planted = originals * size * (size - 1) / 2;
        assert!(same.len() * 10 >= planted * 6, "{} of {planted}", same.len());
        assert!(other.len() * 50 <= pairs.len(), "{} of {} are false", other.len(), pairs.len());
        assert!(pairs.iter().all(|pair| (0.6..=1.0).contains(&pair.similarity)));
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
        assert!(pairs[0].similarity > 0.999);
    }

    #[test]
    fn progress_reaches_one_and_can_cancel_the_search() {
        let keypoints = vec![Keypoints::default(); 100];
        let graph = vec![Vec::new(); 100];
        let heard = std::sync::Mutex::new(Vec::new());
        let pairs = near_duplicates(&keypoints, &graph, |share| {
            heard.lock().unwrap().push(share);
            true
        });
        assert_eq!(pairs, Some(Vec::new()));
        let mut heard = heard.into_inner().unwrap();
        heard.sort_by(f32::total_cmp);
        assert_eq!(heard, [0.25, 0.5, 0.75, 1.0]);
        assert_eq!(near_duplicates(&keypoints, &graph, |_| false), None);
    }
}

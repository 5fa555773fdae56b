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

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DuplicatePair {
    /// The lower row and the higher one.
    pub rows: (u32, u32),
    /// 1.0: identical; from 0.9: a light edit; 0.6 to 0.9: matched by corners.
    pub similarity: f32,
}

/// Finds all pairs of near-duplicates, each once, ordered by rows. `graph` contains the nearest
/// neighbors of the rows. For `progress`, see [`neighbor_graph`](super::neighbor_graph). The keypoint
/// index of 100,000 rows takes 130 MiB.
pub fn near_duplicates(
    keypoints: &[Keypoints],
    graph: &[Vec<Neighbor>],
    progress: impl Fn(f32) -> bool + Sync,
) -> Option<Vec<DuplicatePair>> {
    let index = KeypointIndex::new(keypoints);
    let rows: Vec<u32> = (0..).take(keypoints.len()).collect();
    let steps = StepCounter::new(rows.len().div_ceil(ROWS_PER_STEP), &progress);
    let found: Option<Vec<Vec<DuplicatePair>>> = rows
        .par_chunks(ROWS_PER_STEP)
        .map_init(Votes::default, |votes, rows| {
            let pairs = rows.iter().flat_map(|&row| {
                let own = &keypoints[row as usize];
                let mut others = graph[row as usize].clone();
                index.add_candidates(row, own, MAX_CANDIDATES, votes, &mut others);
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

/// The similarity of two duplicates; `None` for others. An unknown `distance` is infinite.
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
    Some(if distance <= EASY_EDIT_DISTANCE {
        1.0 - distance
    } else {
        HARD_EDIT_SIMILARITY.0 + (HARD_EDIT_SIMILARITY.1 - HARD_EDIT_SIMILARITY.0) * share
    })
}

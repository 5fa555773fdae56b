//! Near-duplicates: pairs of rows that show the same picture, original or edited.
//!
//! Light edits (size, compression, mirroring, brightness, a trimmed border) hardly change the
//! descriptor. Heavy edits (rotation, cropping, bleaching, blur, text) preserve corners; candidates
//! for them come from the keypoint index and from the neighbor graph, and every pair is verified.

use rayon::prelude::*;

use super::{
    Neighbor,
    geometric_verification::{CornerColumns, copy_similarity, inlier_score},
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
/// Most candidates per row besides its neighbors; edits of 200 photographs among 1,600 were all among the first ones.
const MAX_CANDIDATES: usize = 32;
/// Cosine distance up to which a neighbor is compared with its mirror image, too, whose descriptor is nearly the same.
const MAX_MIRRORED_DISTANCE: f32 = 0.4;
const ROWS_PER_STEP: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DuplicatePair {
    /// The lower row and the higher one.
    pub rows: (u32, u32),
    /// 1.0: identical; from 0.84 on, matched by corners.
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
        .map_init(Verification::default, |verification, rows| {
            let mut pairs = Vec::new();
            for &row in rows {
                verification.add_duplicates(row, keypoints, graph, &index, &mut pairs);
            }
            steps.advance().then_some(pairs)
        })
        .collect();
    let mut pairs = found?.concat();
    pairs.par_sort_unstable_by_key(|pair| pair.rows);
    Some(pairs)
}

/// Verifies the candidates of one row after the other, in the same memory.
#[derive(Default)]
struct Verification {
    votes: Votes,
    candidates: Vec<Neighbor>,
    own: CornerColumns,
    others: CornerColumns,
}

impl Verification {
    /// Adds the duplicates of a row to `pairs`. A pair that is known from both of its rows is verified from one.
    fn add_duplicates(
        &mut self,
        row: u32,
        keypoints: &[Keypoints],
        graph: &[Vec<Neighbor>],
        index: &KeypointIndex,
        pairs: &mut Vec<DuplicatePair>,
    ) {
        let corners = &keypoints[row as usize];
        self.candidates.clone_from(&graph[row as usize]);
        index.add_candidates(row, corners, MAX_CANDIDATES, &mut self.votes, &mut self.candidates);
        self.own.fill(corners.iter());
        for other in std::mem::take(&mut self.candidates) {
            let is_verified_there = (other.row > row || other.distance.is_infinite())
                && graph[other.row as usize].iter().any(|neighbor| neighbor.row == row);
            if is_verified_there {
                continue;
            }
            let rows = (row.min(other.row), row.max(other.row));
            let similarity = self.similarity(&keypoints[other.row as usize], other, rows.0 == row);
            pairs.extend(similarity.map(|similarity| DuplicatePair { rows, similarity }));
        }
    }

    /// The similarity of the row and a duplicate; `None` for others. An unknown distance is infinite.
    fn similarity(&mut self, corners: &Keypoints, other: Neighbor, is_lower: bool) -> Option<f32> {
        let distance = other.distance;
        let plain = self.own.len().min(corners.len()) < MIN_CORNERS;
        let close = if plain { PLAIN_EQUAL_DISTANCE } else { EQUAL_DISTANCE };
        if distance <= close {
            return Some(1.0 - distance);
        }
        let mut score = |corners: &mut dyn Iterator<Item = Keypoint>| {
            self.others.fill(corners);
            if is_lower {
                inlier_score(&self.own, &self.others)
            } else {
                inlier_score(&self.others, &self.own)
            }
        };
        let share = score(&mut corners.iter()).or_else(|| {
            let may_be_mirrored = distance <= MAX_MIRRORED_DISTANCE;
            may_be_mirrored.then(|| score(&mut corners.iter().map(Keypoint::mirrored))).flatten()
        })?;
        Some(copy_similarity(share).max(1.0 - distance))
    }
}

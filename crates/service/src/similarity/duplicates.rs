//! Near-duplicates: pairs of rows that show the same picture, original or edited.
//!
//! Light edits (size, compression, mirroring, brightness, a trimmed border) hardly change the
//! descriptor. Heavy edits (rotation, cropping, bleaching, blur, text) preserve corners; candidates
//! for them come from the keypoint index and from the neighbor graph, and every pair is verified.

use rayon::prelude::*;

use super::{
    Neighbor, NeighborGraph,
    geometric_verification::{CornerColumns, copy_similarity, inlier_score},
    keypoint_index::{KeypointIndex, Votes},
    keypoint_source::{KeypointSource, for_each_block},
    row_lists::RowLists,
    step_counter::StepCounter,
};
use crate::index::{Keypoint, Keypoints, decode_keypoints};

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
/// neighbors of the rows. For `progress`, see [`neighbor_graph`](super::neighbor_graph()).
///
/// The keypoints are read four times: their index and they themselves are in memory one after the other, each with
/// about 100 MiB for 100,000 rows.
pub fn near_duplicates<S: KeypointSource + ?Sized>(
    source: &S,
    graph: &NeighborGraph,
    progress: impl Fn(f32) -> bool + Sync,
) -> Result<Option<Vec<DuplicatePair>>, S::Error> {
    let steps = StepCounter::new(2 * source.rows().div_ceil(ROWS_PER_STEP), &progress);
    let Some(candidates) = find_candidates(source, graph, || steps.advance())? else {
        return Ok(None);
    };
    let mut keypoints =
        RowLists::with_capacity(source.rows(), source.corners() * Keypoints::ENCODED_SIZE);
    source.for_each(|row, encoded| keypoints.set(row as usize, encoded.iter().copied()))?;
    let pictures = Pictures { keypoints, graph, candidates };
    Ok(verify_candidates(&pictures, || steps.advance()))
}

/// The candidates of every row besides its neighbors, each with the lower one. `None` if `advance` returned false.
fn find_candidates<S: KeypointSource + ?Sized>(
    source: &S,
    graph: &NeighborGraph,
    advance: impl Fn() -> bool + Sync,
) -> Result<Option<RowLists<u32>>, S::Error> {
    let index = KeypointIndex::new(source)?;
    let mut candidates = Some(RowLists::with_capacity(source.rows(), 0));
    for_each_block(source, |block| {
        let positions: Vec<usize> = (0..block.len()).collect();
        let find = |votes: &mut Votes, positions: &[usize]| {
            let found = positions.iter().map(|&position| {
                let (row, keypoints) = block.row(position);
                let (known, mut found) = (&graph[row as usize], Vec::new());
                index.add_candidates(row, keypoints, MAX_CANDIDATES, known, votes, &mut found);
                (row, found)
            });
            let found: Vec<(u32, Vec<u32>)> = found.collect();
            advance().then_some(found)
        };
        let found: Option<Vec<_>> =
            positions.par_chunks(ROWS_PER_STEP).map_init(Votes::default, find).collect();
        match (found, &mut candidates) {
            (Some(found), Some(candidates)) => {
                let found = found.into_iter().flatten();
                found.for_each(|(row, found)| candidates.set(row as usize, found));
            }
            _ => candidates = None,
        }
    })?;
    Ok(candidates)
}

/// What is compared with each other.
struct Pictures<'a> {
    /// Encoded.
    keypoints: RowLists<u8>,
    graph: &'a NeighborGraph,
    candidates: RowLists<u32>,
}

/// `None` if `advance` returned false.
fn verify_candidates(
    pictures: &Pictures,
    advance: impl Fn() -> bool + Sync,
) -> Option<Vec<DuplicatePair>> {
    let rows: Vec<u32> = (0..).take(pictures.graph.len()).collect();
    let found: Option<Vec<Vec<DuplicatePair>>> = rows
        .par_chunks(ROWS_PER_STEP)
        .map_init(Verification::default, |verification, rows| {
            let mut pairs = Vec::new();
            for &row in rows {
                verification.add_duplicates(row, pictures, &mut pairs);
            }
            advance().then_some(pairs)
        })
        .collect();
    let mut pairs = found?.concat();
    pairs.par_sort_unstable_by_key(|pair| pair.rows);
    Some(pairs)
}

/// Verifies the candidates of one row after the other, in the same memory.
#[derive(Default)]
struct Verification {
    own: CornerColumns,
    others: CornerColumns,
}

impl Verification {
    /// Adds the duplicates of a row to `pairs`. A pair that is known from both of its rows is verified from one.
    fn add_duplicates(&mut self, row: u32, pictures: &Pictures, pairs: &mut Vec<DuplicatePair>) {
        let Pictures { keypoints, graph, candidates } = pictures;
        self.own.fill(decode_keypoints(&keypoints[row as usize]));
        let unknown = |&row: &u32| Neighbor { row, distance: f32::INFINITY };
        let candidates = candidates[row as usize].iter().map(unknown);
        for other in graph[row as usize].iter().copied().chain(candidates) {
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
    fn similarity(&mut self, encoded: &[u8], other: Neighbor, is_lower: bool) -> Option<f32> {
        let distance = other.distance;
        let corners = || decode_keypoints(encoded);
        let plain = self.own.len().min(corners().len()) < MIN_CORNERS;
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
        let share = score(&mut corners()).or_else(|| {
            let may_be_mirrored = distance <= MAX_MIRRORED_DISTANCE;
            may_be_mirrored.then(|| score(&mut corners().map(Keypoint::mirrored))).flatten()
        })?;
        Some(copy_similarity(share).max(1.0 - distance))
    }
}

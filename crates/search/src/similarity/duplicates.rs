//! Finds near-duplicates: pairs of rows that show the same picture, unchanged or edited.
//!
//! Light edits (size, compression, mirroring, brightness, a trimmed border) hardly change the descriptor. Heavy edits
//! (rotation, cropping, bleaching, blur, text) preserve corners. Candidates for heavy edits come from the keypoint
//! index and from the neighbor graph. Every candidate pair is verified.

use std::{cmp::Reverse, ops::Range};

use rayon::prelude::*;

use super::{
    Neighbor, NeighborGraph,
    geometric_verification::{Comparison, CornerColumns, compare_corners, copy_similarity},
    keypoint_index::{KeypointIndex, KeypointSource, Votes, for_each_block},
    progress::{StepCounter, Stoppable},
    row_lists::{RowCandidates, RowLists},
};
use crate::index::{Keypoint, Keypoints, decode_keypoints};

/// Two rows that show the same picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DuplicatePair {
    /// The lower row and the higher one.
    pub rows: (u32, u32),
    /// 1.0 for identical pictures. Pairs that were matched by corners have at least 0.84, and copies at most 0.99.
    pub similarity: f32,
}

/// Cosine distance up to which pictures are copies although their corners do not match, unless both have few corners. The
/// corners of a small copy differ from those of its original.
const EQUAL_DISTANCE: f32 = 0.01;
/// Cosine distance up to which a picture with fewer than [`MIN_CORNERS`] corners is a duplicate of another one.
const PLAIN_EQUAL_DISTANCE: f32 = 0.04;
/// Minimum number of corners of a picture for its corners to decide.
const MIN_CORNERS: usize = 24;
/// Cosine distance up to which pictures with equal corners are the same picture.
const SAME_DISTANCE: f32 = 0.001;
/// The largest similarity of a picture that is not the same. Greater ones would be shown rounded, as 1.
const MAX_EDITED_SIMILARITY: f32 = 0.999;
/// The largest similarity of two edited pictures with few corners, or of an edited one whose corners do not match. The
/// descriptors of different patterns, such as stripes, can be as close, and a few of their corners can match.
const MAX_PLAIN_SIMILARITY: f32 = 0.94;
/// Maximum number of candidates per row, in addition to its neighbors. All edits of 200 photographs among 1,600 were
/// within this limit.
const MAX_CANDIDATES: usize = 32;
/// Cosine distance up to which a neighbor is also compared as a mirror image. A mirror image has nearly the same
/// descriptor.
const MAX_MIRRORED_DISTANCE: f32 = 0.4;
pub const ROWS_PER_STEP: usize = 32;

/// Finds all pairs of near-duplicates, each once, ordered by rows. `graph` contains the nearest
/// neighbors of the rows. For `progress`, see [`neighbor_graph`](super::neighbor_graph()).
///
/// The keypoints are read four times, because the index of the keypoints and the keypoints themselves are in memory one
/// after the other. Each takes about 100 MiB for 100,000 rows.
pub fn near_duplicates<S: KeypointSource + ?Sized>(
    source: &S,
    graph: &NeighborGraph,
    progress: impl Fn(f32) -> bool + Sync,
) -> Stoppable<Vec<DuplicatePair>, S::Error> {
    let rows = source.rows();
    let steps = StepCounter::new(2 * rows.div_ceil(ROWS_PER_STEP), &progress);
    let index = KeypointIndex::new(source)?;
    let found = find_candidates(source, 0..rows, &index, graph, || steps.advance())?;
    drop(index);
    let Some(candidates) = found else { return Ok(None) };
    let keypoints = read_keypoints(source)?;
    Ok(verify(&keypoints, graph, &candidates, || steps.advance()).map(in_order_of_rows))
}

pub fn in_order_of_rows(mut pairs: Vec<DuplicatePair>) -> Vec<DuplicatePair> {
    pairs.par_sort_unstable_by_key(|pair| pair.rows);
    pairs
}

/// Returns the candidates of the rows at some positions of the source, or `None` if `advance` returned false.
pub fn find_candidates<S: KeypointSource + ?Sized>(
    source: &S,
    positions: Range<usize>,
    index: &KeypointIndex,
    graph: &NeighborGraph,
    advance: impl Fn() -> bool + Sync,
) -> Stoppable<RowCandidates, S::Error> {
    let mut candidates = Some(RowCandidates::default());
    for_each_block(source, positions, |block| {
        let rows: Vec<(u32, &[u8])> = block.iter().collect();
        let find = |votes: &mut Votes, rows: &[(u32, &[u8])]| {
            let found = rows.iter().map(|&(row, keypoints)| {
                let (known, mut found) = (&graph[row as usize], Vec::new());
                index.add_candidates(row, keypoints, MAX_CANDIDATES, known, votes, &mut found);
                (row, found)
            });
            let found: Vec<(u32, Vec<u32>)> = found.collect();
            advance().then_some(found)
        };
        let found: Option<Vec<_>> =
            rows.par_chunks(ROWS_PER_STEP).map_init(Votes::default, find).collect();
        match (found, &mut candidates) {
            (Some(found), Some(candidates)) => {
                let found = found.into_iter().flatten();
                found.for_each(|(row, found)| candidates.push(row, found));
            }
            _ => candidates = None,
        }
    })?;
    Ok(candidates)
}

/// Reads the encoded keypoints of all rows, by row.
pub fn read_keypoints<S: KeypointSource + ?Sized>(source: &S) -> Result<RowLists<u8>, S::Error> {
    let bytes = source.corners() * Keypoints::ENCODED_SIZE;
    let mut keypoints = RowLists::with_capacity(source.rows(), bytes);
    source.for_each(0..source.rows(), |row, encoded| {
        keypoints.set(row as usize, encoded.iter().copied());
    })?;
    Ok(keypoints)
}

/// Returns the duplicates of rows among their neighbors and candidates, or `None` if `advance` returned false.
pub fn verify(
    keypoints: &RowLists<u8>,
    graph: &NeighborGraph,
    candidates: &RowCandidates,
    advance: impl Fn() -> bool + Sync,
) -> Option<Vec<DuplicatePair>> {
    let rows: Vec<(u32, &[u32])> = candidates.iter().collect();
    let found: Option<Vec<Vec<DuplicatePair>>> = rows
        .par_chunks(ROWS_PER_STEP)
        .map_init(Verification::default, |verification, rows| {
            let mut pairs = Vec::new();
            for (row, candidates) in rows {
                verification.add_duplicates(*row, (keypoints, graph), candidates, &mut pairs);
            }
            advance().then_some(pairs)
        })
        .collect();
    Some(found?.concat())
}

/// Verifies the candidates of one row after the other, reusing the same memory.
#[derive(Default)]
struct Verification {
    row_corners: CornerColumns,
    other_corners: CornerColumns,
}

impl Verification {
    /// Adds the duplicates of a row to `pairs`. A pair that is known from both of its rows is verified only once.
    fn add_duplicates(
        &mut self,
        row: u32,
        (keypoints, graph): (&RowLists<u8>, &NeighborGraph),
        candidates: &[u32],
        pairs: &mut Vec<DuplicatePair>,
    ) {
        self.row_corners.fill(decode_keypoints(&keypoints[row as usize]));
        let unknown = |&row: &u32| Neighbor { row, distance: f32::INFINITY };
        let candidates = candidates.iter().map(unknown);
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

    /// Returns the similarity of the row and a duplicate, or `None` if `other` is not a duplicate. An unknown distance
    /// is infinite.
    fn similarity(&mut self, encoded: &[u8], other: Neighbor, is_lower: bool) -> Option<f32> {
        let distance = other.distance;
        let corners = || decode_keypoints(encoded);
        self.other_corners.fill(corners());
        let counts = [self.row_corners.len(), self.other_corners.len()];
        let [fewest, most] = [counts[0].min(counts[1]), counts[0].max(counts[1])];
        let is_same = distance <= SAME_DISTANCE && self.row_corners == self.other_corners;
        if is_same {
            // Without corners, a picture cannot be distinguished from its mirror image.
            let limit = if fewest == 0 { MAX_EDITED_SIMILARITY } else { 1.0 };
            return Some(limit.min(1.0 - distance));
        }
        let mut comparison = self.compare(is_lower);
        if comparison == Comparison::Unproven && distance <= MAX_MIRRORED_DISTANCE {
            self.other_corners.fill(corners().map(Keypoint::mirrored));
            comparison = self.compare(is_lower);
        }
        let has_corners = most >= MIN_CORNERS;
        let limit = if has_corners { MAX_EDITED_SIMILARITY } else { MAX_PLAIN_SIMILARITY };
        let is_close = fewest < MIN_CORNERS && distance <= PLAIN_EQUAL_DISTANCE;
        let similarity = match comparison {
            Comparison::Copy(score) => copy_similarity(score).max(1.0 - distance).min(limit),
            Comparison::Unproven if has_corners && distance <= EQUAL_DISTANCE => {
                limit.min(1.0 - distance)
            }
            Comparison::Unproven if is_close => MAX_PLAIN_SIMILARITY.min(1.0 - distance),
            Comparison::Unproven | Comparison::OtherColors => return None,
        };
        Some(similarity)
    }

    /// Compares the corners of the two rows, with those of the lower row first.
    fn compare(&self, is_lower: bool) -> Comparison {
        if is_lower {
            compare_corners(&self.row_corners, &self.other_corners)
        } else {
            compare_corners(&self.other_corners, &self.row_corners)
        }
    }
}

// Groups near-duplicates for every similarity at once. The groups of a similarity are the connected components of the
// pairs that are at least as similar, so a group of a higher similarity is always within one of a lower similarity.
//
// All rows are put into one order in which the members of each group are next to each other (the order of the leaves
// of a single-linkage dendrogram). Two numbers per row are therefore enough to find the groups of any similarity: the
// position in the order, and the similarity from which the row is in the group of the row before.

/// A row with near-duplicates, at its position in the order of groups.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupedRow {
    pub row: u32,
    /// The maximum similarity at which the row is in the same group as the previous row of the order, or 0.0 if the two
    /// are never in the same group.
    pub link: f32,
}

/// Returns the rows that have near-duplicates, so that each group is contiguous: the largest groups first. The first
/// row of a group is its lowest one.
pub fn order_by_group(pairs: &[DuplicatePair], rows: usize) -> Vec<GroupedRow> {
    let mut lists = GroupLists::new(rows);
    let mut pairs: Vec<&DuplicatePair> = pairs.iter().collect();
    pairs.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then(a.rows.cmp(&b.rows)));
    for DuplicatePair { rows: (one, other), similarity } in pairs {
        lists.join(*one, *other, *similarity);
    }
    lists.order()
}

/// A list of the rows of each group. Groups that are joined have their lists appended to each other.
struct GroupLists {
    /// Leads from a row to the first row of its group.
    parents: Vec<u32>,
    /// The row that follows each row in its list, or the row itself at the end.
    next: Vec<u32>,
    links: Vec<f32>,
    /// The last row and the number of rows, by the first row of a list.
    ends: Vec<(u32, u32)>,
}

impl GroupLists {
    fn new(rows: usize) -> Self {
        let each: Vec<u32> = (0..).take(rows).collect();
        let ends = each.iter().map(|&row| (row, 1)).collect();
        Self { parents: each.clone(), next: each, links: vec![0.0; rows], ends }
    }

    fn first(&mut self, mut row: u32) -> u32 {
        while self.parents[row as usize] != row {
            let above = self.parents[self.parents[row as usize] as usize];
            self.parents[row as usize] = above;
            row = above;
        }
        row
    }

    fn join(&mut self, one: u32, other: u32, similarity: f32) {
        let (one, other) = (self.first(one), self.first(other));
        let (first, appended) = (one.min(other), one.max(other));
        if first == appended {
            return;
        }
        let ((last, count), (new_last, added)) =
            (self.ends[first as usize], self.ends[appended as usize]);
        self.next[last as usize] = appended;
        self.links[appended as usize] = similarity;
        self.parents[appended as usize] = first;
        self.ends[first as usize] = (new_last, count + added);
    }

    fn order(&self) -> Vec<GroupedRow> {
        let of_group =
            |&row: &u32| self.parents[row as usize] == row && self.ends[row as usize].1 > 1;
        let mut firsts: Vec<u32> = (0..).take(self.parents.len()).filter(of_group).collect();
        firsts.sort_by_key(|&row| Reverse(self.ends[row as usize].1));
        let following = |&row: &u32| Some(self.next[row as usize]).filter(|next| *next != row);
        let members = |first: u32| std::iter::successors(Some(first), following);
        let rows = firsts.into_iter().flat_map(members);
        rows.map(|row| GroupedRow { row, link: self.links[row as usize] }).collect()
    }
}

//! Near-duplicates: pairs of rows that show the same picture, as it was or edited.
//!
//! Easy edits (size, compression, mirror, light, a trimmed border) leave the descriptor where it
//! was. Hard ones (turned, cropped, bleached, blurred, written on) leave the corners; rows that may
//! be such copies are found by their words and by the neighbour graph, and every pair is checked.

use rayon::prelude::*;

use super::{
    Neighbour,
    agreement::agreement,
    progress::Steps,
    words::{Votes, Words},
};
use crate::local::index::{Keypoint, Keypoints};

/// Cosine distance of descriptors up to which pictures are equal whatever their corners say.
const EQUAL: f32 = 0.01;
/// The same for a picture of fewer than [`TELLING`] corners, which can tell little.
const PLAIN: f32 = 0.04;
/// Corners from which on they decide.
const TELLING: usize = 24;
/// Cosine distance up to which the same picture counts as easily edited.
const SAME: f32 = 0.1;
/// Similarity of a pair recognised by its corners alone: when few and when all of them agree.
const EDITED: (f32, f32) = (0.6, 0.9);
/// Most rows checked for each row beside its neighbours.
const CHECKED: usize = 128;
/// Rows of one step.
const ROWS_A_STEP: usize = 32;

/// Two rows that show the same picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The lower row and the higher one.
    pub rows: (u32, u32),
    /// 1.0 the same look; 0.9 and more an easy edit; 0.6 to 0.9 recognised by corners, more the
    /// more of them agree.
    pub similarity: f32,
}

/// All pairs of near-duplicates, each once, in the order of their rows. Nothing if `progress`
/// stopped it: it hears the share done, 0.0 to 1.0, from any thread, and answers whether to go on.
///
/// `keypoints` are those of the rows, `graph` their nearest neighbours. While it runs, the words of
/// 100,000 rows take 130 MiB.
#[must_use]
pub fn near_duplicates(
    keypoints: &[Keypoints],
    graph: &[Vec<Neighbour>],
    progress: impl Fn(f32) -> bool + Sync,
) -> Option<Vec<Pair>> {
    let words = Words::new(keypoints);
    let rows: Vec<u32> = (0..).take(keypoints.len()).collect();
    let steps = Steps::new(rows.len().div_ceil(ROWS_A_STEP), &progress);
    let found: Option<Vec<Vec<Pair>>> = rows
        .par_chunks(ROWS_A_STEP)
        .map_init(Votes::default, |votes, rows| {
            let pairs = rows.iter().flat_map(|&row| {
                let mut others = graph[row as usize].clone();
                words.before(row, &keypoints[row as usize], CHECKED, votes, &mut others);
                pairs(row, &others, keypoints)
            });
            let pairs = pairs.collect();
            steps.step().then_some(pairs)
        })
        .collect();
    let mut pairs = found?.concat();
    // Two rows may each be a neighbour of the other.
    pairs.par_sort_unstable_by_key(|pair| pair.rows);
    pairs.dedup_by_key(|pair| pair.rows);
    Some(pairs)
}

/// The pairs of a row with any of `others`, of which some may come twice.
fn pairs(row: u32, others: &[Neighbour], keypoints: &[Keypoints]) -> Vec<Pair> {
    let corners = |row: u32| keypoints[row as usize].iter().collect::<Vec<Keypoint>>();
    let own = corners(row);
    let pair = |other: &Neighbour| {
        let theirs = corners(other.row);
        let (lower, higher) = if row < other.row { (&own, &theirs) } else { (&theirs, &own) };
        Some(Pair {
            rows: (row.min(other.row), row.max(other.row)),
            similarity: similarity(lower, higher, other.distance)?,
        })
    };
    others.iter().filter_map(pair).collect()
}

/// How similar two pictures are, if they are the same, by their corners and their distance, which
/// is infinite if unknown.
fn similarity(lower: &[Keypoint], higher: &[Keypoint], distance: f32) -> Option<f32> {
    let plain = lower.len().min(higher.len()) < TELLING;
    let close = if plain { PLAIN } else { EQUAL };
    if distance <= close {
        return Some(1.0 - distance);
    }
    let mirrored = || {
        let higher: Vec<Keypoint> = higher.iter().map(|corner| corner.mirrored()).collect();
        agreement(lower, &higher)
    };
    // A mirror image looks alike, so only a neighbour may be one.
    let share =
        agreement(lower, higher).or_else(|| distance.is_finite().then(mirrored).flatten())?;
    let alike = distance <= SAME;
    Some(if alike { 1.0 - distance } else { EDITED.0 + (EDITED.1 - EDITED.0) * share })
}

//! Finds the copies of one picture. Candidates have a similar descriptor or, if the copy was rotated by quarter turns,
//! a similar perceptual hash. A candidate is a copy if it has similar corners at consistent positions, mirrored or not.

use rayon::prelude::*;

use super::{
    geometric_verification::{
        Comparison, CornerColumns, MIN_INLIERS, compare_corners, copy_similarity,
    },
    neighbor_graph::nearest_rows,
};
use crate::index::{Keypoint, Keypoints, TurnedView, turned_views};

/// Maximum number of candidates for a picture, and for each of its rotated views. With this limit, 98 % of the heavily
/// edited copies of 200 photographs among 2,000 media items are in the first five results (bench `quality`).
pub const MAX_COPY_CANDIDATES: usize = 100;
/// Number of bits in which the perceptual hash of a rotated copy may differ from that of the rotated picture. Fewer
/// than ten of 800,000 pairs of different pictures are as close, and their corners show that they are not copies.
const MAX_HASH_DISTANCE: u32 = 10;

/// A picture whose copies are searched for.
pub struct CopySearch {
    upright: CornerColumns,
    turned: Option<[TurnedView; 3]>,
}

/// A row to compare with the picture, or with a rotated view of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyCandidate {
    pub row: u32,
    /// The number of quarter turns. 0 is the picture itself.
    turns: usize,
}

impl CopyCandidate {
    /// Creates a candidate to compare with the picture itself.
    pub fn upright(row: u32) -> Self {
        Self { row, turns: 0 }
    }
}

impl CopySearch {
    /// Prepares a search. Returns `None` if the picture has too few corners to recognize copies. Without a thumbnail,
    /// rotated copies are not found.
    pub fn new(keypoints: &Keypoints, thumbnail: &[u8]) -> Option<Self> {
        (keypoints.len() >= MIN_INLIERS).then(|| Self {
            upright: columns(keypoints.iter()),
            turned: turned_views(thumbnail).ok(),
        })
    }

    /// Returns the rows with the smallest distances, and the rows whose hash is close to the hash of a rotated view or
    /// of its mirror image.
    pub fn candidates(&self, distances: &[f32], hashes: &[u64]) -> Vec<CopyCandidate> {
        let nearest = nearest_rows(distances, MAX_COPY_CANDIDATES).into_iter();
        let mut candidates: Vec<CopyCandidate> =
            nearest.map(|near| CopyCandidate::upright(near.row)).collect();
        for (turns, view) in (1..).zip(self.turned.iter().flatten()) {
            let close = rows_with_hash(hashes, view.hashes);
            candidates.extend(close.into_iter().map(|row| CopyCandidate { row, turns }));
        }
        candidates
    }

    /// Returns the candidates that are copies, with their distances (0 to 0.16). Only an unchanged picture has 0. `keypoints` must
    /// return `None` for a row that no longer exists.
    pub fn copies<'k>(
        &self,
        candidates: &[CopyCandidate],
        keypoints: impl Fn(u32) -> Option<&'k Keypoints> + Sync,
    ) -> Vec<(u32, f32)> {
        let turned = self.turned.iter().flatten().zip(1..);
        let turned: Vec<CornerColumns> = turned
            .map(|(view, turns)| {
                // Detecting corners takes longer than comparing them, so corners are detected only in views that have
                // candidates.
                let is_needed = candidates.iter().any(|candidate| candidate.turns == turns);
                let corners = if is_needed { view.keypoints() } else { Keypoints::default() };
                columns(corners.iter())
            })
            .collect();
        let views: Vec<&CornerColumns> = std::iter::once(&self.upright).chain(&turned).collect();
        let verify = |&CopyCandidate { row, turns }: &CopyCandidate| {
            Some((row, copy_distance(views[turns], keypoints(row)?)?))
        };
        candidates.par_iter().filter_map(verify).collect()
    }
}

fn copy_distance(view: &CornerColumns, candidate: &Keypoints) -> Option<f32> {
    let upright = columns(candidate.iter());
    if *view == upright {
        return Some(0.0);
    }
    let mut comparison = compare_corners(view, &upright);
    if comparison == Comparison::Unproven {
        let mirrored = columns(candidate.iter().map(Keypoint::mirrored));
        comparison = compare_corners(view, &mirrored);
    }
    let Comparison::Copy(score) = comparison else { return None };
    Some(1.0 - copy_similarity(score))
}

fn columns(corners: impl Iterator<Item = Keypoint>) -> CornerColumns {
    let mut columns = CornerColumns::default();
    columns.fill(corners);
    columns
}

/// Returns the rows whose hash is close to one of the two hashes of a view: the closest rows, at most
/// [`MAX_COPY_CANDIDATES`].
fn rows_with_hash(hashes: &[u64], of_view: [u64; 2]) -> Vec<u32> {
    let distance = |hash: u64| {
        let [upright, mirrored] = of_view.map(|of_view| (of_view ^ hash).count_ones());
        upright.min(mirrored)
    };
    let mut close: Vec<(u32, u32)> = (0..)
        .zip(hashes)
        .map(|(row, hash)| (distance(*hash), row))
        .filter(|&(bits, _)| bits <= MAX_HASH_DISTANCE)
        .collect();
    if close.len() > MAX_COPY_CANDIDATES {
        close.select_nth_unstable(MAX_COPY_CANDIDATES);
        close.truncate(MAX_COPY_CANDIDATES);
    }
    close.into_iter().map(|(_, row)| row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_hash_differ_in_few_bits_from_the_view_or_its_mirror_image() {
        let hashes = [0b111, u64::MAX, 0xffff, u64::MAX ^ 1];
        assert_eq!(rows_with_hash(&hashes, [0, 0]), [0]);
        assert_eq!(rows_with_hash(&hashes, [0, u64::MAX]), [0, 1, 3]);
        let same = vec![7; MAX_COPY_CANDIDATES + 50];
        assert_eq!(rows_with_hash(&same, [7, 0]).len(), MAX_COPY_CANDIDATES);
    }

    #[test]
    fn a_picture_with_few_corners_has_no_search() {
        assert!(CopySearch::new(&Keypoints::default(), &[]).is_none());
    }
}

//! Nearest neighbors by exact scan, and near-duplicates.
//!
//! Results do not depend on the number of threads: equal distances are ordered by row.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "counts of corners and steps are small; parts of words are cut out on purpose"
)]

mod duplicates;
mod geometric_verification;
mod graph;
mod kernel;
mod keypoint_index;
mod step_counter;
mod transform;
mod vectors;

use std::cmp::Ordering;

pub use duplicates::{DuplicatePair, near_duplicates};
pub use graph::neighbor_graph;
pub use vectors::Vectors;

/// A row and its cosine distance (0 same to 2 opposite).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbor {
    pub row: u32,
    pub distance: f32,
}

impl Neighbor {
    /// Nearest first, ties by row.
    pub fn order(&self, other: &Self) -> Ordering {
        let rows = || self.row.cmp(&other.row);
        self.distance.total_cmp(&other.distance).then_with(rows)
    }
}

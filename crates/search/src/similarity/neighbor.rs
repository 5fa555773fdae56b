//! A neighbor and the order of neighbors.

use std::cmp::Ordering;

/// A row and its cosine distance (0 same to 2 opposite).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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

//! A neighbor and the order of neighbors.

use std::cmp::Ordering;

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

/// The `k` rows with the smallest finite distances, nearest first.
pub fn nearest_rows(distances: &[f32], k: usize) -> Vec<Neighbor> {
    let mut nearest = Vec::with_capacity(k + 1);
    for (row, &distance) in (0..).zip(distances) {
        if distance.is_finite() {
            insert_nearest(&mut nearest, Neighbor { row, distance }, k);
        }
    }
    nearest
}

/// Inserts a neighbor among the `k` nearest, which are in order, unless it is one of them or farther away.
pub fn insert_nearest(nearest: &mut Vec<Neighbor>, newcomer: Neighbor, k: usize) {
    if nearest.len() >= k && nearest.last().is_none_or(|last| last.order(&newcomer).is_le()) {
        return;
    }
    let position = nearest.partition_point(|known| known.order(&newcomer).is_lt());
    if nearest.get(position).is_some_and(|known| known.order(&newcomer).is_eq()) {
        return;
    }
    nearest.truncate(k - 1);
    nearest.insert(position, newcomer);
}

//! The uniqueness of an image among its neighbors.

use crate::similarity::Neighbor;

/// Number of neighbors that are considered.
const NEIGHBOR_COUNT: usize = 8;
/// Distance at which the uniqueness is 0.5.
const HALF_UNIQUE_DISTANCE: f32 = 0.35;

/// Returns 0.0 (has duplicates) to 1.0 (unlike anything else). Neighbors are ordered nearest first.
pub fn uniqueness(nearest: &[Neighbor]) -> f32 {
    let Some(first) = nearest.first() else {
        return 1.0;
    };
    let company = &nearest[..nearest.len().min(NEIGHBOR_COUNT)];
    let mean = company.iter().map(|n| n.distance).sum::<f32>() / company.len() as f32;
    // A single duplicate makes an image redundant, so the nearest distance is a factor.
    let apart = (first.distance * mean).sqrt();
    let ratio = (apart / HALF_UNIQUE_DISTANCE).powi(3);
    ratio / (1.0 + ratio)
}

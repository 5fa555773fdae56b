//! How unique a picture is among its neighbours.

use crate::similarity::Neighbor;

/// Neighbours that count beside the nearest.
const NEIGHBOR_COUNT: usize = 8;
/// Distance at which a picture counts as half unique.
const HALF_UNIQUE_DISTANCE: f32 = 0.35;

/// 0.0 (has twins) to 1.0 (nothing like it), from its neighbours, nearest first.
pub fn uniqueness(nearest: &[Neighbor]) -> f32 {
    let Some(first) = nearest.first() else {
        return 1.0;
    };
    let company = &nearest[..nearest.len().min(NEIGHBOR_COUNT)];
    let mean = company.iter().map(|n| n.distance).sum::<f32>() / company.len() as f32;
    // A twin alone makes a picture redundant, so the nearest counts as a factor.
    let apart = (first.distance * mean).sqrt();
    let ratio = (apart / HALF_UNIQUE_DISTANCE).powi(3);
    ratio / (1.0 + ratio)
}

//! How unique a picture is among its neighbours.

use crate::search::Neighbour;

/// Neighbours that count beside the nearest.
const COMPANY: usize = 8;
/// Distance at which a picture counts as half unique.
const HALF: f32 = 0.35;

/// 0.0 (has twins) to 1.0 (nothing like it), from its neighbours, nearest first.
pub fn of(nearest: &[Neighbour]) -> f32 {
    let Some(first) = nearest.first() else {
        return 1.0;
    };
    let company = &nearest[..nearest.len().min(COMPANY)];
    let mean = company.iter().map(|n| n.distance).sum::<f32>() / company.len() as f32;
    // A twin alone makes a picture redundant, so the nearest counts as a factor.
    let apart = (first.distance * mean).sqrt();
    let ratio = (apart / HALF).powi(3);
    ratio / (1.0 + ratio)
}

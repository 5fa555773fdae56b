//! Outlier scores: items far from what is usual in their dataset, by similarity, aspect ratio or
//! size.
//!
//! Each score is a confidence: 0.0 for usual, 0.5 at the threshold, towards 1.0 beyond. Usual is
//! the median; the threshold is three robust standard deviations, with a minimum that is visible to
//! the eye.

use super::median::median;
use crate::similarity::{Neighbor, NeighborGraph};

/// Number of neighbors whose mean distance is compared.
const NEIGHBOR_COUNT: usize = 8;
/// Distance at which the uniqueness is 0.5.
const HALF_UNIQUE_DISTANCE: f32 = 0.35;
/// Robust standard deviations to the threshold.
const MAX_DEVIATIONS: f32 = 3.0;
/// Ratio of standard deviation and median absolute deviation of a normal distribution.
const MAD_TO_SIGMA: f32 = 1.4826;
/// Minimum threshold for the mean distance to the neighbors.
const MIN_DISTANCE_THRESHOLD: f32 = 0.15;
/// Minimum threshold for the aspect ratio. A panorama among photographs exceeds it, a portrait
/// photograph among landscape ones does not, because orientation is ignored.
const MIN_ASPECT_THRESHOLD: f32 = 1.6;
/// Minimum threshold for the ratio of pixel counts.
const MIN_SIZE_THRESHOLD: f32 = 8.0;

/// Confidence that a row is an outlier, that is, farther from its neighbors than other rows from
/// theirs. `graph` contains the neighbors of every row, nearest first. A row without neighbors is
/// not an outlier.
pub fn outlier_scores(graph: &NeighborGraph) -> Vec<f32> {
    let mean_distances = graph.iter().map(mean_distance).collect();
    deviation_scores(mean_distances, MIN_DISTANCE_THRESHOLD, |away| away.max(0.0))
}

/// Returns 0.0 (has duplicates) to 1.0 (unlike anything else). Neighbors are ordered nearest first.
pub fn uniqueness(nearest: &[Neighbor]) -> f32 {
    let Some(first) = nearest.first() else {
        return 1.0;
    };
    // A single duplicate makes an image redundant, so the nearest distance is a factor.
    let apart = (first.distance * mean_distance(nearest)).sqrt();
    let ratio = (apart / HALF_UNIQUE_DISTANCE).powi(3);
    ratio / (1.0 + ratio)
}

/// Mean distance of the nearest neighbors; 0.0 without any.
fn mean_distance(nearest: &[Neighbor]) -> f32 {
    let nearest = &nearest[..nearest.len().min(NEIGHBOR_COUNT)];
    nearest.iter().map(|n| n.distance).sum::<f32>() / nearest.len().max(1) as f32
}

pub fn aspect_ratio_scores(sizes: &[(u32, u32)]) -> Vec<f32> {
    let ratios = sizes.iter().map(|&(width, height)| {
        (width.max(height).max(1) as f32 / width.min(height).max(1) as f32).ln()
    });
    deviation_scores(ratios.collect(), MIN_ASPECT_THRESHOLD.ln(), f32::abs)
}

pub fn size_scores(sizes: &[(u32, u32)]) -> Vec<f32> {
    let pixels =
        sizes.iter().map(|&(width, height)| (width.max(1) as f32 * height.max(1) as f32).ln());
    deviation_scores(pixels.collect(), MIN_SIZE_THRESHOLD.ln(), f32::abs)
}

fn deviation_scores(values: Vec<f32>, nearest: f32, away: fn(f32) -> f32) -> Vec<f32> {
    let Some(usual) = median(values.clone()) else {
        return Vec::new();
    };
    let deviations = values.iter().map(|value| (value - usual).abs()).collect();
    let spread =
        median(deviations).map_or(0.0, |deviation| MAX_DEVIATIONS * MAD_TO_SIGMA * deviation);
    let border = spread.max(nearest);
    let confidence = |value| {
        let ratio = (away(value - usual) / border).powi(2);
        ratio / (1.0 + ratio)
    };
    values.into_iter().map(confidence).collect()
}

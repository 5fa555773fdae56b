//! Scores rows by how unusual they are in their dataset: by similarity, by aspect ratio or size, or by a label that
//! does not fit their neighbors. Visual similarity does not imply equal meaning, so each score is a confidence and not
//! a decision: 0.0 for usual rows, 0.5 at the threshold, and towards 1.0 beyond it.
//!
//! The usual value is the median, which outliers do not move. The threshold is three robust standard deviations, but at
//! least a minimum that is visible to the eye.

use std::collections::{BTreeMap, HashMap};

use crate::similarity::{Neighbor, NeighborGraph};

/// Number of neighbors whose mean distance is compared.
const NEIGHBOR_COUNT: usize = 8;
/// Distance at which the uniqueness is 0.5.
const HALF_UNIQUE_DISTANCE: f32 = 0.35;
/// Number of robust standard deviations from the median to the threshold.
const MAX_DEVIATIONS: f32 = 3.0;
/// Ratio of standard deviation and median absolute deviation of a normal distribution.
const MAD_TO_SIGMA: f32 = 1.4826;
/// Minimum threshold for the mean distance to the neighbors.
const MIN_DISTANCE_THRESHOLD: f32 = 0.15;
/// Minimum threshold for the aspect ratio. A panorama among photographs exceeds this threshold. A portrait photograph
/// among landscape ones does not, because orientation is ignored.
const MIN_ASPECT_THRESHOLD: f32 = 1.6;
/// Minimum threshold for the ratio of pixel counts.
const MIN_SIZE_THRESHOLD: f32 = 8.0;

/// Returns the confidence that each row is an outlier, that is, farther from its neighbors than other rows from theirs.
/// `graph` contains the neighbors of every row, nearest first. A row without neighbors is not an outlier.
pub fn outlier_scores(graph: &NeighborGraph) -> Vec<f32> {
    let mean_distances = graph.iter().map(mean_distance).collect();
    deviation_scores(mean_distances, MIN_DISTANCE_THRESHOLD, |away| away.max(0.0))
}

/// Returns the uniqueness of a row, from 0.0 (has duplicates) to 1.0 (unlike anything else). Neighbors are ordered
/// nearest first.
pub fn uniqueness(nearest: &[Neighbor]) -> f32 {
    let Some(first) = nearest.first() else {
        return 1.0;
    };
    // A single duplicate makes an image redundant, so the nearest distance is a factor.
    let apart = (first.distance * mean_distance(nearest)).sqrt();
    let ratio = (apart / HALF_UNIQUE_DISTANCE).powi(3);
    ratio / (1.0 + ratio)
}

/// Returns the mean distance of the nearest neighbors, or 0.0 if there are none.
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

/// Minimum number of items with a label for which a usual distance is computed.
const MIN_CLASS_SIZE: usize = 5;

/// Returns for every row the confidence (0.0-1.0) that it should have another label. The confidence is the lead of the
/// most frequent label among its neighbors over its own label, weighted by similarity.
pub fn mislabel_scores<L: Ord>(labels: &[&[L]], graph: &NeighborGraph) -> Vec<f32> {
    let of = |row: usize| -> f32 {
        let mut votes: BTreeMap<&L, f32> = BTreeMap::new();
        let mut all = 0.0;
        for neighbor in &graph[row] {
            let neighbor_labels = labels[neighbor.row as usize];
            let weight = (1.0 - neighbor.distance).max(0.0);
            if !neighbor_labels.is_empty() {
                all += weight;
            }
            for label in neighbor_labels {
                *votes.entry(label).or_default() += weight;
            }
        }
        let label_votes =
            labels[row].iter().filter_map(|label| votes.get(label)).fold(0.0, |a, &b| b.max(a));
        let best = votes.values().fold(0.0, |a, &b| b.max(a));
        if all > 0.0 { (best - label_votes) / all } else { 0.0 }
    };
    (0..labels.len()).map(|row| if labels[row].is_empty() { 0.0 } else { of(row) }).collect()
}

/// Returns for every row the confidence (0.0-1.0) that it is unlike the rest of the rows with its label. The confidence
/// is 0.5 if the nearest neighbor with the same label is twice as far away as usual for the label, or if no neighbor
/// has the label.
pub fn class_outlier_scores<L: Ord + std::hash::Hash>(
    labels: &[&[L]],
    graph: &NeighborGraph,
) -> Vec<f32> {
    let nearest: Vec<Option<f32>> = (0..labels.len())
        .map(|row| {
            let shares = |other: &&Neighbor| {
                labels[other.row as usize].iter().any(|label| labels[row].contains(label))
            };
            graph[row].iter().find(shares).map(|neighbor| neighbor.distance)
        })
        .collect();
    let mut usual: HashMap<&L, Vec<f32>> = HashMap::new();
    for (row, distance) in nearest.iter().enumerate() {
        for label in labels[row] {
            // A row without a neighbor of its label has the maximum distance.
            usual.entry(label).or_default().push(distance.unwrap_or(1.0));
        }
    }
    let medians: HashMap<&L, f32> = usual
        .into_iter()
        .filter(|(_, distances)| distances.len() >= MIN_CLASS_SIZE)
        .filter_map(|(label, distances)| Some((label, median(distances)?.max(f32::EPSILON))))
        .collect();
    let of = |row: usize| -> f32 {
        let distance = nearest[row].unwrap_or(1.0);
        // If a row has several labels, the label that fits best counts.
        let fits = labels[row].iter().filter_map(|label| medians.get(label));
        let ratio = fits.map(|median| distance / (2.0 * median)).fold(f32::INFINITY, f32::min);
        if ratio.is_finite() { ratio.powi(3) / (1.0 + ratio.powi(3)) } else { 0.0 }
    };
    (0..labels.len()).map(of).collect()
}

/// Returns the upper median, which outliers do not move, or `None` if there are no values.
pub(super) fn median(mut values: Vec<f32>) -> Option<f32> {
    let middle = values.len() / 2;
    (!values.is_empty()).then(|| *values.select_nth_unstable_by(middle, f32::total_cmp).1)
}

//! Possibly wrong labels: items whose neighbors agree on another label, and items far from the
//! others of their label. Visual similarity is not meaning, so both are scores, not decisions.

use std::collections::{BTreeMap, HashMap};

use super::median::median;
use crate::similarity::{Neighbor, NeighborGraph};

/// Minimum number of items of a label for a usual distance.
const MIN_CLASS_SIZE: usize = 5;

/// For every row, the confidence (0.0-1.0) that it should have another label: the lead of the most
/// frequent label among its neighbors over its own, weighted by similarity.
pub fn mislabel_scores<L: Ord>(labels: &[&[L]], graph: &NeighborGraph) -> Vec<f32> {
    let of = |row: usize| -> f32 {
        let mut votes: BTreeMap<&L, f32> = BTreeMap::new();
        let mut all = 0.0;
        for neighbor in &graph[row] {
            let theirs = labels[neighbor.row as usize];
            let weight = (1.0 - neighbor.distance).max(0.0);
            if !theirs.is_empty() {
                all += weight;
            }
            for label in theirs {
                *votes.entry(label).or_default() += weight;
            }
        }
        let own =
            labels[row].iter().filter_map(|label| votes.get(label)).fold(0.0, |a, &b| b.max(a));
        let best = votes.values().fold(0.0, |a, &b| b.max(a));
        if all > 0.0 { (best - own) / all } else { 0.0 }
    };
    (0..labels.len()).map(|row| if labels[row].is_empty() { 0.0 } else { of(row) }).collect()
}

/// For every row, the confidence (0.0-1.0) that it is unlike the others of its label: 0.5 if its
/// nearest neighbor with the same label is twice as far away as usual for the label, or is not
/// among its neighbors.
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
        // Of several labels, the best fitting one counts.
        let fits = labels[row].iter().filter_map(|label| medians.get(label));
        let ratio = fits.map(|median| distance / (2.0 * median)).fold(f32::INFINITY, f32::min);
        if ratio.is_finite() { ratio.powi(3) / (1.0 + ratio.powi(3)) } else { 0.0 }
    };
    (0..labels.len()).map(of).collect()
}

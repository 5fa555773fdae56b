//! Hierarchical clustering in five nested granularities, from one neighbor graph.
//!
//! Edges of the graph are processed by increasing distance and join groups (union-find). The groups
//! at each of five thresholds are the clusters of a level, so the levels nest. Groups are only
//! joined if their mean distance is within the threshold too (average linkage), which prevents
//! chaining.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "means over at most a few million members, kept to the precision of the vectors"
)]

mod group_forest;
pub mod mislabels;
mod outliers;
mod uniqueness;

use crate::similarity::{self, DuplicatePair, Neighbor, Vectors};
use tessera_model::Granularity;

use group_forest::GroupForest;
pub use outliers::{aspect_ratio_scores, outlier_scores, size_scores};

/// Mean distance within which images look the same; joins groups at the finest level, in addition
/// to near-duplicates.
const FINEST_THRESHOLD: f32 = 0.04;
/// Rank of the neighbor whose distance measures how homogeneous a dataset is.
const MEDIAN_NEIGHBOR_RANK: usize = 8;
/// Bounds for the median of that distance, from renderings of a few scenes to diverse photographs.
const MEDIAN_RANGE: (f32, f32) = (0.2, 0.5);
/// Thresholds of the coarser levels, relative to that median: variants of one image; similar images
/// (the default level); related images; broad categories.
const LEVEL_OFFSETS: [f32; Granularity::LEVELS - 1] = [-0.05, 0.06, 0.15, 0.25];
/// Number of neighbors when whole groups are compared.
const GROUP_NEIGHBORS: usize = 8;

/// The clusters of a dataset at every level, and the uniqueness of each row.
#[derive(Clone, Debug, Default)]
pub struct Clustering {
    /// For each level, finest first: the group of every row, identified by its lowest row.
    pub levels: [Vec<u32>; Granularity::LEVELS],
    /// For each level, the distance threshold.
    pub thresholds: [f32; Granularity::LEVELS],
    /// 0.0 (has duplicates) to 1.0 (unlike anything else).
    pub uniqueness: Vec<f32>,
}

/// Clusters the rows of `vectors` using their nearest-neighbor `graph` and near-duplicates (see
/// [`search`]). Near-duplicates are together at every level, regardless of their distance.
///
/// Deterministic. Needs a few numbers per edge and one vector per group in addition to `vectors`.
#[must_use]
pub fn cluster(
    vectors: &Vectors,
    graph: &[Vec<Neighbor>],
    duplicates: &[DuplicatePair],
) -> Clustering {
    let edges = sorted_edges(graph);
    let degree = graph.iter().map(Vec::len).max().unwrap_or_default();
    let mut groups = GroupForest::new(vectors);
    groups.join_pairs(duplicates.iter().map(|pair| pair.rows));
    let thresholds = level_thresholds(graph);
    let levels = thresholds.map(|threshold| {
        let tight = edges.partition_point(|edge| edge.distance <= threshold);
        groups.join_within(&edges[..tight], threshold);
        join_closed_groups(&mut groups, degree, threshold);
        groups.group_of_each_row()
    });
    Clustering {
        levels,
        thresholds,
        uniqueness: graph.iter().map(|nearest| uniqueness::uniqueness(nearest)).collect(),
    }
}

/// The thresholds of all levels: small in a homogeneous dataset, larger in a diverse one.
fn level_thresholds(graph: &[Vec<Neighbor>]) -> [f32; Granularity::LEVELS] {
    let eighth =
        |nearest: &Vec<Neighbor>| nearest.get(MEDIAN_NEIGHBOR_RANK - 1).or(nearest.last()).copied();
    let mut distances: Vec<f32> = graph.iter().filter_map(eighth).map(|n| n.distance).collect();
    distances.sort_unstable_by(f32::total_cmp);
    let median = distances.get(distances.len() / 2).copied().unwrap_or_default();
    let median = median.clamp(MEDIAN_RANGE.0, MEDIAN_RANGE.1);
    std::array::from_fn(|level| {
        if level == 0 { FINEST_THRESHOLD } else { median + LEVEL_OFFSETS[level - 1] }
    })
}

/// Sorts the rows of a group by increasing mean distance to the others; the first is the medoid.
#[must_use]
pub fn by_centrality(vectors: &Vectors, members: &[u32]) -> Vec<u32> {
    let mut sum = vec![0.0; vectors.dimension()];
    for &member in members {
        group_forest::add(&mut sum, vectors.row(member as usize));
    }
    let mut ranked: Vec<(f32, u32)> = members
        .iter()
        .map(|&member| (group_forest::dot(vectors.row(member as usize), &sum), member))
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    ranked.into_iter().map(|(_, member)| member).collect()
}

/// Two neighboring rows.
#[derive(Clone, Copy, Debug, PartialEq)]
struct NeighborEdge {
    distance: f32,
    rows: (u32, u32),
}

/// Every edge of the graph once, by increasing distance.
fn sorted_edges(graph: &[Vec<Neighbor>]) -> Vec<NeighborEdge> {
    let mut edges: Vec<NeighborEdge> = (0_u32..)
        .zip(graph)
        .flat_map(|(row, nearest)| {
            nearest.iter().map(move |other| NeighborEdge {
                distance: other.distance,
                rows: (row.min(other.row), row.max(other.row)),
            })
        })
        .collect();
    edges.sort_unstable_by(|a, b| a.distance.total_cmp(&b.distance).then(a.rows.cmp(&b.rows)));
    edges.dedup_by_key(|edge| edge.rows);
    edges
}

/// Joins groups without outgoing edges through their means: in a group with more members than
/// neighbors per row, all neighbors of its members may be members.
fn join_closed_groups(groups: &mut GroupForest, degree: usize, threshold: f32) {
    let (roots, means) = groups.means_of_groups_larger_than(degree);
    if roots.len() < 2 {
        return;
    }
    let graph = similarity::neighbor_graph(&means, GROUP_NEIGHBORS, |_| true);
    let mut edges = sorted_edges(&graph.unwrap_or_default());
    for edge in &mut edges {
        edge.rows = (roots[edge.rows.0 as usize], roots[edge.rows.1 as usize]);
    }
    groups.join_within(&edges, threshold);
}

#[cfg(test)]
mod tests {
    use half::f16;
    use proptest::prelude::*;

    use super::*;

    /// Points on a circle in the first two of sixteen dimensions, by angle in degrees.
    fn circle(angles: &[f32]) -> Vectors {
        let mut vectors = Vectors::new(16);
        for angle in angles {
            let mut row = [f16::ZERO; 16];
            row[0] = f16::from_f32(angle.to_radians().cos());
            row[1] = f16::from_f32(angle.to_radians().sin());
            vectors.push(&row);
        }
        vectors
    }

    fn clustered(vectors: &Vectors) -> Clustering {
        cluster(vectors, &similarity::neighbor_graph(vectors, 16, |_| true).unwrap(), &[])
    }

    fn groups(labels: &[u32]) -> usize {
        labels.iter().collect::<std::collections::BTreeSet<_>>().len()
    }

    #[test]
    fn a_chain_of_small_steps_is_not_one_group() {
        let angles: Vec<f32> = (0_u8..180).map(f32::from).collect();
        let vectors = circle(&angles);
        let clustering = clustered(&vectors);
        for (labels, threshold) in clustering.levels.iter().zip(clustering.thresholds).take(4) {
            assert!(groups(labels) > 1);
            for root in labels {
                let of_root = |row: &u32| labels[*row as usize] == *root;
                let members: Vec<u32> = (0..180).filter(of_root).collect();
                let widest = members.iter().map(|&a| {
                    let away = vectors.distances(vectors.row(a as usize));
                    let sum: f32 = members.iter().map(|&b| away[b as usize]).sum();
                    sum / members.len() as f32
                });
                assert!(widest.fold(0.0, f32::max) < 2.0 * threshold);
            }
        }
    }

    #[test]
    fn tight_families_larger_than_the_graph_is_wide_still_meet() {
        let near = |centre: f32| (0_u8..40).map(move |step| centre + f32::from(step) * 0.1);
        let angles: Vec<f32> = near(0.0).chain(near(40.0)).chain(near(170.0)).collect();
        let clustering = clustered(&circle(&angles));
        assert_eq!(groups(&clustering.levels[0]), 3);
        assert_eq!(groups(&clustering.levels[4]), 2);
    }

    #[test]
    fn twins_are_not_unique_and_a_stranger_is() {
        let uniqueness = clustered(&circle(&[0.0, 0.0, 1.0, 2.0, 150.0])).uniqueness;
        assert!(uniqueness[0] < 0.05 && uniqueness[1] < 0.05);
        assert!(uniqueness[4] > 0.9);
    }

    #[test]
    fn near_duplicates_are_together_however_far_apart_they_look() {
        let vectors = circle(&[0.0, 90.0, 180.0, 40.0]);
        let graph = similarity::neighbor_graph(&vectors, 3, |_| true).unwrap();
        let pairs = [(0, 2), (2, 3)].map(|rows| DuplicatePair { rows, similarity: 0.7 });
        let clustering = cluster(&vectors, &graph, &pairs);
        assert_eq!(clustering.levels[0], [0, 1, 0, 0]);
    }

    #[test]
    fn members_are_ordered_from_the_centre() {
        let vectors = circle(&[0.0, 30.0, 20.0, 70.0]);
        assert_eq!(by_centrality(&vectors, &[0, 1, 2, 3]), [1, 2, 0, 3]);
        assert_eq!(by_centrality(&vectors, &[3]), [3]);
        assert!(by_centrality(&vectors, &[]).is_empty());
    }

    #[test]
    fn a_few_rows_are_no_special_case() {
        assert!(clustered(&circle(&[])).uniqueness.is_empty());
        assert_eq!(clustered(&circle(&[5.0])).levels, [const { [0] }; 5].map(Vec::from));
        assert_eq!(clustered(&circle(&[5.0; 2])).levels, [const { [0, 0] }; 5].map(Vec::from));
        let same = clustered(&circle(&[7.0; 100]));
        assert!(same.levels.iter().all(|labels| labels.iter().all(|&label| label == 0)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn levels_nest_and_are_named_by_their_lowest_row(
            angles in proptest::collection::vec(0.0_f32..360.0, 0..120),
        ) {
            let vectors = circle(&angles);
            let clustering = clustered(&vectors);
            prop_assert!(clustering.thresholds.is_sorted());
            prop_assert!(clustering.uniqueness.iter().all(|u| (0.0..=1.0).contains(u)));
            for labels in &clustering.levels {
                for (row, &label) in (0..).zip(labels) {
                    prop_assert!(label <= row && labels[label as usize] == label);
                }
            }
            for pair in clustering.levels.windows(2) {
                for (row, &fine) in pair[0].iter().enumerate() {
                    prop_assert_eq!(pair[1][row], pair[1][fine as usize]);
                }
            }
            prop_assert_eq!(clustering.levels, clustered(&vectors).levels);
        }
    }
}

//! Nested levels of clusters by average linkage along the edges of the neighbor graph.

use super::{
    group_forest::{self, GroupForest, NeighborEdge},
    median::median,
    outliers::uniqueness,
};
use crate::similarity::{self, DuplicatePair, Neighbor, NeighborGraph, Vectors};
use tessera_model::Granularity;

/// Mean distance within which images look the same; near-duplicates join regardless of it.
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

#[derive(Clone, Debug, Default)]
pub struct Clustering {
    /// For each level, finest first: the group of every row, identified by its lowest row.
    pub levels: [Vec<u32>; Granularity::LEVELS],
    pub thresholds: [f32; Granularity::LEVELS],
    /// 0.0 (has duplicates) to 1.0 (unlike anything else).
    pub uniqueness: Vec<f32>,
}

/// Clusters the rows of `vectors` using their nearest-neighbor `graph` and near-duplicates (see
/// `similarity`). Near-duplicates are together at every level, regardless of their distance.
///
/// Deterministic. Needs a few numbers per edge and one vector per group in addition to `vectors`.
pub fn cluster(
    vectors: &Vectors,
    graph: &NeighborGraph,
    duplicates: &[DuplicatePair],
) -> Clustering {
    let edges = sorted_edges(graph);
    let degree = graph.iter().map(<[Neighbor]>::len).max().unwrap_or_default();
    let mut groups = GroupForest::new(vectors);
    groups.join_pairs(duplicates.iter().map(|pair| pair.rows));
    let thresholds = level_thresholds(graph);
    let levels = thresholds.map(|threshold| {
        let tight = edges.partition_point(|edge| edge.distance <= threshold);
        groups.join_within(&edges[..tight], threshold);
        join_closed_groups(&mut groups, degree, threshold);
        groups.group_of_each_row()
    });
    Clustering { levels, thresholds, uniqueness: graph.iter().map(uniqueness).collect() }
}

/// The thresholds of all levels: small in a homogeneous dataset, larger in a diverse one.
fn level_thresholds(graph: &NeighborGraph) -> [f32; Granularity::LEVELS] {
    let eighth = |nearest: &[Neighbor]| {
        nearest.get(MEDIAN_NEIGHBOR_RANK - 1).or(nearest.last()).map(|neighbor| neighbor.distance)
    };
    let median = median(graph.iter().filter_map(eighth).collect()).unwrap_or_default();
    let median = median.clamp(MEDIAN_RANGE.0, MEDIAN_RANGE.1);
    std::array::from_fn(|level| {
        if level == 0 { FINEST_THRESHOLD } else { median + LEVEL_OFFSETS[level - 1] }
    })
}

/// Sorts the rows of a group by increasing mean distance to the others; the first is the medoid.
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

/// Every edge of the graph once, by increasing distance.
fn sorted_edges(graph: &NeighborGraph) -> Vec<NeighborEdge> {
    let mut edges: Vec<NeighborEdge> = (0_u32..)
        .zip(graph.iter())
        .flat_map(|(row, nearest)| {
            nearest.iter().map(move |other| NeighborEdge {
                distance: other.distance,
                endpoints: (row.min(other.row), row.max(other.row)),
            })
        })
        .collect();
    edges.sort_unstable_by(|a, b| {
        a.distance.total_cmp(&b.distance).then(a.endpoints.cmp(&b.endpoints))
    });
    edges.dedup_by_key(|edge| edge.endpoints);
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
        edge.endpoints = (roots[edge.endpoints.0 as usize], roots[edge.endpoints.1 as usize]);
    }
    groups.join_within(&edges, threshold);
}

//! Hierarchical clustering in five nested granularities, from one neighbor graph. Come here for the thresholds of the
//! granularities.
//!
//! The edges of the graph are processed by increasing distance, and each edge joins two groups (union-find). The groups
//! at each of five thresholds are the clusters of a level, so the levels nest. Groups are only joined if their mean
//! distance is within the threshold too (average linkage), which prevents chaining.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "means over at most a few million members, kept to the precision of the vectors"
)]

pub mod issue_scores;

use half::f16;
use rayon::prelude::*;
use tessera_model::Granularity;

use crate::similarity::{self, DuplicatePair, Neighbor, NeighborGraph, Vectors};

use issue_scores::{median, uniqueness};

pub use issue_scores::{aspect_ratio_scores, outlier_scores, size_scores};

/// Mean distance within which images look the same. Near-duplicates join whatever their distance is.
const FINEST_THRESHOLD: f32 = 0.04;
/// Rank of the neighbor whose distance measures how homogeneous a dataset is.
const MEDIAN_NEIGHBOR_RANK: usize = 8;
/// Bounds for the median of that distance. The low bound fits renderings of a few scenes, the high bound fits diverse
/// photographs.
const MEDIAN_RANGE: (f32, f32) = (0.2, 0.5);
/// Thresholds of the coarser levels, relative to that median: variants of one image, similar images (the default
/// level), related images, and broad categories.
const LEVEL_OFFSETS: [f32; Granularity::LEVELS - 1] = [-0.05, 0.06, 0.15, 0.25];
/// Number of neighbors when whole groups are compared.
const GROUP_NEIGHBORS: usize = 8;

#[derive(Clone, Debug, Default)]
pub struct Clustering {
    /// For each level, finest first: the group of every row, identified by its lowest row.
    pub levels: [Vec<u32>; Granularity::LEVELS],
    pub thresholds: [f32; Granularity::LEVELS],
    /// The uniqueness of every row: 0.0 (has duplicates) to 1.0 (unlike anything else).
    pub uniqueness: Vec<f32>,
}

/// Clusters the rows of `vectors` using their nearest-neighbor `graph` and near-duplicates (see
/// `similarity`). Near-duplicates are together at every level, regardless of their distance.
///
/// The result is deterministic. The memory is a few numbers per edge and one vector per group in addition to `vectors`.
pub fn cluster(
    vectors: &Vectors,
    graph: &NeighborGraph,
    duplicates: &[DuplicatePair],
) -> Clustering {
    let thresholds = level_thresholds(graph);
    let edges = sorted_edges(graph, thresholds[Granularity::LEVELS - 1]);
    let degree = graph.iter().map(<[Neighbor]>::len).max().unwrap_or_default();
    let mut groups = GroupForest::new(vectors);
    groups.join_pairs(duplicates.iter().map(|pair| pair.rows));
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

/// Sorts the rows of a group by increasing mean distance to the rest of the group. The first row is the medoid.
pub fn by_centrality(vectors: &Vectors, members: &[u32]) -> Vec<u32> {
    let mut sum = vec![0.0; vectors.dimension()];
    for &member in members {
        add_row(&mut sum, vectors.row(member as usize));
    }
    let mut ranked: Vec<(f32, u32)> = members
        .iter()
        .map(|&member| (dot_product(vectors.row(member as usize), &sum), member))
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    ranked.into_iter().map(|(_, member)| member).collect()
}

/// Returns every edge of the graph within a distance once, by increasing distance.
fn sorted_edges(graph: &NeighborGraph, distance: f32) -> Vec<NeighborEdge> {
    let mut edges = Vec::new();
    for (row, nearest) in (0_u32..).zip(graph.iter()) {
        for other in nearest.iter().take_while(|other| other.distance <= distance) {
            let is_known_there = || graph[other.row as usize].iter().any(|back| back.row == row);
            if row < other.row || !is_known_there() {
                let endpoints = (row.min(other.row), row.max(other.row));
                edges.push(NeighborEdge { distance: other.distance, endpoints });
            }
        }
    }
    edges.par_sort_unstable_by(|a, b| {
        a.distance.total_cmp(&b.distance).then(a.endpoints.cmp(&b.endpoints))
    });
    edges
}

/// Joins groups that have no outgoing edges, by the distance of their means. A group may have no outgoing edges if it
/// has more members than a row has neighbors, because all neighbors of its members may then be members.
fn join_closed_groups(groups: &mut GroupForest, degree: usize, threshold: f32) {
    let (roots, means) = groups.means_of_groups_larger_than(degree);
    if roots.len() < 2 {
        return;
    }
    let graph = similarity::neighbor_graph(&means, GROUP_NEIGHBORS, |_| true);
    let mut edges = sorted_edges(&graph.unwrap_or_default(), threshold);
    for edge in &mut edges {
        edge.endpoints = (roots[edge.endpoints.0 as usize], roots[edge.endpoints.1 as usize]);
    }
    groups.join_within(&edges, threshold);
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct NeighborEdge {
    distance: f32,
    endpoints: (u32, u32),
}

/// A partition of the rows of `vectors` (union-find), with vector sums that give the exact mean distance of two groups.
struct GroupForest<'a> {
    vectors: &'a Vectors,
    /// The parent of each row in the tree of its group; a root is its own parent.
    parents: Vec<u32>,
    /// Number of members, valid at roots.
    sizes: Vec<u32>,
    /// Sum of the members' vectors, at roots with more than one member. Empty elsewhere.
    sums: Vec<Vec<f32>>,
}

impl<'a> GroupForest<'a> {
    /// Creates a group for every row.
    fn new(vectors: &'a Vectors) -> Self {
        Self {
            vectors,
            parents: (0..).take(vectors.len()).collect(),
            sizes: vec![1; vectors.len()],
            sums: vec![Vec::new(); vectors.len()],
        }
    }

    fn join_pairs(&mut self, pairs: impl Iterator<Item = (u32, u32)>) {
        for (one, other) in pairs {
            let (a, b) = (self.root(one), self.root(other));
            if a != b {
                self.join(a.min(b), a.max(b));
            }
        }
    }

    /// Joins the groups along `edges`, in their order, if the mean distance of the groups is within `threshold`.
    fn join_within(&mut self, edges: &[NeighborEdge], threshold: f32) {
        for edge in edges {
            let (a, b) = (self.root(edge.endpoints.0), self.root(edge.endpoints.1));
            if a != b && self.mean_distance(a, b) <= threshold {
                self.join(a.min(b), a.max(b));
            }
        }
    }

    /// Returns the lowest row of the group of every row.
    fn group_of_each_row(&mut self) -> Vec<u32> {
        (0..).take(self.parents.len()).map(|row| self.root(row)).collect()
    }

    /// Returns the roots of all groups with more than `members` members, and the directions of their means.
    fn means_of_groups_larger_than(&self, members: usize) -> (Vec<u32>, Vectors) {
        let mut means = Vectors::new(self.vectors.dimension());
        let mut roots = Vec::new();
        for (row, sum) in (0..).zip(&self.sums) {
            if !sum.is_empty() && self.sizes[row as usize] as usize > members {
                let length = sum.iter().map(|v| v * v).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
                let mean: Vec<f16> = sum.iter().map(|v| f16::from_f32(v / length)).collect();
                means.push(&mean);
                roots.push(row);
            }
        }
        (roots, means)
    }

    /// Finds the root of a row, with path halving.
    fn root(&mut self, mut row: u32) -> u32 {
        while self.parents[row as usize] != row {
            let above = self.parents[row as usize];
            self.parents[row as usize] = self.parents[above as usize];
            row = above;
        }
        row
    }

    /// Returns the mean cosine distance of two groups. For unit vectors, it follows from one product of the sums.
    fn mean_distance(&self, a: u32, b: u32) -> f32 {
        let (a, b) = (a as usize, b as usize);
        let pairs = f64::from(self.sizes[a]) * f64::from(self.sizes[b]);
        let product = match (self.sums[a].as_slice(), self.sums[b].as_slice()) {
            ([], []) => dot_product(self.vectors.row(a), &to_f32(self.vectors.row(b))),
            ([], sum) => dot_product(self.vectors.row(a), sum),
            (sum, []) => dot_product(self.vectors.row(b), sum),
            (one, other) => one.iter().zip(other).map(|(x, y)| x * y).sum(),
        };
        (1.0 - f64::from(product) / pairs) as f32
    }

    /// Joins the group of the root `other` to the group of the lower root `root`.
    fn join(&mut self, root: u32, other: u32) {
        let (at, from) = (root as usize, other as usize);
        if self.sums[at].is_empty() {
            self.sums[at] = to_f32(self.vectors.row(at));
        }
        let sum = std::mem::take(&mut self.sums[from]);
        if sum.is_empty() {
            add_row(&mut self.sums[at], self.vectors.row(from));
        } else {
            self.sums[at].iter_mut().zip(sum).for_each(|(total, value)| *total += value);
        }
        self.sizes[at] += self.sizes[from];
        self.parents[from] = root;
    }
}

fn to_f32(row: &[f16]) -> Vec<f32> {
    row.iter().map(|value| value.to_f32()).collect()
}

fn add_row(sum: &mut [f32], row: &[f16]) {
    sum.iter_mut().zip(row).for_each(|(total, value)| *total += value.to_f32());
}

fn dot_product(row: &[f16], sum: &[f32]) -> f32 {
    row.iter().zip(sum).map(|(a, b)| a.to_f32() * b).sum()
}

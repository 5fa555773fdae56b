//! The neighbor graph of many rows in n log n: a few neighbors are missed, the same ones each time.
//!
//! Rows in the same leaf of any of several projection trees are compared, then each row with the neighbors of its
//! neighbors (NN-descent: Dong, Charikar, Li, 2011).

use rayon::prelude::*;

use super::{
    Neighbor, NeighborGraph, Vectors, kernel,
    neighbor_graph::GraphPart,
    neighbor_links::NeighborLinks,
    projection_tree::{LEAF_ROWS, rows_by_leaf},
    step_counter::StepCounter,
};

/// With 16, a neighbor in a thousand fewer is found among photographs, and each costs as much as two comparisons
/// with all of 1,000 rows.
const TREES: u64 = 24;
/// The third one finds a neighbor in a thousand.
const ROUNDS: usize = 3;
/// Leaves whose results are kept in addition to the graph.
const LEAVES_PER_BATCH: usize = 256;
const ROWS_PER_STEP: usize = 256;

/// Finds the `k` nearest other rows of every row, nearest first, but for a few. The same rows have the same graph,
/// whatever the number of threads. For `progress`, see [`neighbor_graph`](super::neighbor_graph()).
pub fn approximate_neighbor_graph(
    vectors: &Vectors,
    k: usize,
    progress: impl Fn(f32) -> bool + Sync,
) -> Option<NeighborGraph> {
    let leaves = vectors.len().div_ceil(LEAF_ROWS) * TREES as usize;
    let rounds = vectors.len().div_ceil(ROWS_PER_STEP) * ROUNDS;
    let steps = StepCounter::new(leaves + rounds, &progress);
    let mut graph = NeighborGraph::new(vectors.len(), k);
    for tree in 0..TREES {
        let rows = rows_by_leaf(vectors, tree);
        for batch in rows.chunks(LEAVES_PER_BATCH * LEAF_ROWS) {
            let compare = |leaf: &[u32]| {
                let lists = compare_leaf(vectors, leaf, &graph, k);
                steps.advance().then_some(lists)
            };
            let lists: Option<Vec<NeighborGraph>> =
                batch.par_chunks(LEAF_ROWS).map(compare).collect();
            let lists = lists?;
            for (row, nearest) in batch.iter().zip(lists.iter().flat_map(NeighborGraph::iter)) {
                graph.replace(*row as usize, nearest);
            }
        }
    }
    let mut links = NeighborLinks::of(&graph, k);
    for _ in 0..ROUNDS {
        let next = compare_linked(vectors, &graph, &links, || steps.advance())?;
        drop(links);
        let former = std::mem::replace(&mut graph, next);
        links = NeighborLinks::since(&former, &graph, k);
    }
    Some(graph)
}

/// The nearest rows of those of a leaf, among those of `graph` and of the leaf.
fn compare_leaf(vectors: &Vectors, leaf: &[u32], graph: &NeighborGraph, k: usize) -> NeighborGraph {
    let mut lists = NeighborGraph::new(leaf.len(), k);
    leaf.iter().enumerate().for_each(|(at, &row)| lists.replace(at, &graph[row as usize]));
    let dimension = vectors.dimension();
    let mut rows = Vec::with_capacity(leaf.len() * dimension);
    for &row in leaf {
        rows.extend_from_slice(vectors.row(row as usize));
    }
    let mut distances = vec![0.0; leaf.len()];
    for one in 0..leaf.len() {
        let (compared, others) = rows.split_at((one + 1) * dimension);
        let query = kernel::prescaled(&compared[one * dimension..]);
        kernel::scan(others, &query, &mut distances[one + 1..]);
        for other in one + 1..leaf.len() {
            let distance = distances[other];
            lists.insert(one, Neighbor { row: leaf[other], distance });
            lists.insert(other, Neighbor { row: leaf[one], distance });
        }
    }
    lists
}

/// Compares every row with those that are two links away. `None` if `advance` returned false.
fn compare_linked(
    vectors: &Vectors,
    graph: &NeighborGraph,
    links: &NeighborLinks,
    advance: impl Fn() -> bool + Sync,
) -> Option<NeighborGraph> {
    let mut next = graph.clone();
    next.par_parts_mut(ROWS_PER_STEP).try_for_each_init(Vec::new, |candidates, mut part| {
        for row in part.rows() {
            links.two_links_away(row, candidates);
            add_candidates(&mut part, row, vectors, &graph[row], candidates);
        }
        advance().then_some(())
    })?;
    Some(next)
}

/// Adds the nearest of other rows to the `known` neighbors of a row.
fn add_candidates(
    part: &mut GraphPart,
    row: usize,
    vectors: &Vectors,
    known: &[Neighbor],
    candidates: &[u32],
) {
    let query = kernel::prescaled(vectors.row(row));
    for &other in candidates {
        if other as usize == row || known.iter().any(|neighbor| neighbor.row == other) {
            continue;
        }
        let distance = kernel::distance(vectors.row(other as usize), &query);
        // Of many equal rows, the first ones found stay.
        if part.accepts(row, distance) {
            part.insert(row, Neighbor { row: other, distance });
        }
    }
}

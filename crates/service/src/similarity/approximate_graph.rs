//! The neighbor graph of many rows in n log n: a few neighbors are missed, the same ones each time.
//!
//! Rows in the same leaf of any of several projection trees are compared, then each row with the neighbors of its
//! neighbors (NN-descent: Dong, Charikar, Li, 2011).

use rayon::prelude::*;

use super::{
    Neighbor, Vectors, kernel,
    neighbor::insert_nearest,
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
const LEAVES_PER_BATCH: usize = 1024;
const ROWS_PER_STEP: usize = 256;

/// Finds the `k` nearest other rows of every row, nearest first, but for a few. The same rows have the same graph,
/// whatever the number of threads. For `progress`, see [`neighbor_graph`](super::neighbor_graph).
pub fn approximate_neighbor_graph(
    vectors: &Vectors,
    k: usize,
    progress: impl Fn(f32) -> bool + Sync,
) -> Option<Vec<Vec<Neighbor>>> {
    let leaves = vectors.len().div_ceil(LEAF_ROWS) * TREES as usize;
    let rounds = vectors.len().div_ceil(ROWS_PER_STEP) * ROUNDS;
    let steps = StepCounter::new(leaves + rounds, &progress);
    let mut graph = vec![Vec::new(); vectors.len()];
    for tree in 0..TREES {
        let rows = rows_by_leaf(vectors, tree);
        for batch in rows.chunks(LEAVES_PER_BATCH * LEAF_ROWS) {
            let compare = |leaf: &[u32]| {
                let lists = compare_leaf(vectors, leaf, &graph, k);
                steps.advance().then_some(lists)
            };
            let lists: Option<Vec<Vec<Vec<Neighbor>>>> =
                batch.par_chunks(LEAF_ROWS).map(compare).collect();
            for (row, nearest) in batch.iter().zip(lists?.into_iter().flatten()) {
                graph[*row as usize] = nearest;
            }
        }
    }
    let mut links = NeighborLinks::of(&graph, k);
    for _ in 0..ROUNDS {
        let next = compare_linked(vectors, &graph, &links, k, || steps.advance())?;
        let former = std::mem::replace(&mut graph, next);
        links = NeighborLinks::since(&former, &graph, k);
    }
    Some(graph)
}

/// The nearest rows of those of a leaf, among those of `graph` and of the leaf.
fn compare_leaf(
    vectors: &Vectors,
    leaf: &[u32],
    graph: &[Vec<Neighbor>],
    k: usize,
) -> Vec<Vec<Neighbor>> {
    let mut lists: Vec<Vec<Neighbor>> =
        leaf.iter().map(|&row| graph[row as usize].clone()).collect();
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
            insert_nearest(&mut lists[one], Neighbor { row: leaf[other], distance }, k);
            insert_nearest(&mut lists[other], Neighbor { row: leaf[one], distance }, k);
        }
    }
    lists
}

/// Compares every row with those that are two links away. `None` if `advance` returned false.
fn compare_linked(
    vectors: &Vectors,
    graph: &[Vec<Neighbor>],
    links: &NeighborLinks,
    k: usize,
    advance: impl Fn() -> bool + Sync,
) -> Option<Vec<Vec<Neighbor>>> {
    let rows: Vec<u32> = (0..).take(graph.len()).collect();
    let compare = |rows: &[u32]| {
        let mut candidates = Vec::new();
        let lists = rows.iter().map(|&row| {
            links.two_links_away(row, &mut candidates);
            with_candidates(vectors, row, &graph[row as usize], &candidates, k)
        });
        let lists: Vec<Vec<Neighbor>> = lists.collect();
        advance().then_some(lists)
    };
    let lists: Option<Vec<_>> = rows.par_chunks(ROWS_PER_STEP).map(compare).collect();
    Some(lists?.into_iter().flatten().collect())
}

/// The nearest of the `known` neighbors of a row and of other rows.
fn with_candidates(
    vectors: &Vectors,
    row: u32,
    known: &[Neighbor],
    candidates: &[u32],
    k: usize,
) -> Vec<Neighbor> {
    let mut nearest = known.to_vec();
    let query = kernel::prescaled(vectors.row(row as usize));
    for &other in candidates {
        if other == row || known.iter().any(|neighbor| neighbor.row == other) {
            continue;
        }
        let distance = kernel::distance(vectors.row(other as usize), &query);
        // Of many equal rows, the first ones found stay.
        if nearest.len() < k || nearest.last().is_some_and(|last| distance < last.distance) {
            insert_nearest(&mut nearest, Neighbor { row: other, distance }, k);
        }
    }
    nearest
}

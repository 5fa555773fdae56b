//! The neighbor graph of many rows in n log n: a few neighbors are missed, the same ones each time.
//!
//! Rows in the same leaf of any of several projection trees are compared, then each row with the neighbors of its
//! neighbors (NN-descent: Dong, Charikar, Li, 2011).

use std::ops::Range;

use rayon::prelude::*;

use super::{
    Neighbor, NeighborGraph, Vectors, kernel,
    neighbor_graph::GraphPart,
    neighbor_links::NeighborLinks,
    projection_tree::{LEAF_ROWS, rows_by_leaf},
    range_step::{
        LINK_ROUNDS, RangeExecutor, RangeStep, StepInput, Stoppable, row_ranges, rows_of_range,
    },
    step_counter::StepCounter,
};

/// With 16, a neighbor in a thousand fewer is found among photographs, and each costs as much as two comparisons
/// with all of 1,000 rows.
const TREES: usize = 24;
/// The neighbors that a range finds are kept for all rows.
const TREES_PER_RANGE: usize = 3;
/// Leaves whose results are kept in addition to the graph.
const LEAVES_PER_BATCH: usize = 256;
const ROWS_PER_STEP: usize = 256;

/// Finds the `k` nearest other rows of every row, nearest first, but for a few. The same rows have the same graph,
/// whatever the number of threads and workers. For `progress`, see [`neighbor_graph`](super::neighbor_graph()).
pub fn approximate_neighbor_graph<E, X: RangeExecutor<E>>(
    vectors: &Vectors,
    k: usize,
    executor: &X,
    progress: impl Fn(f32) -> bool + Sync,
) -> Stoppable<NeighborGraph, E> {
    let rows = vectors.len();
    let steps_of_trees = rows.div_ceil(LEAF_ROWS) * TREES_PER_RANGE;
    let steps_of_rows = |range| rows_of_range(rows, range).len().div_ceil(ROWS_PER_STEP);
    let links: usize = (0..row_ranges(rows)).map(steps_of_rows).sum();
    let tree_ranges = TREES / TREES_PER_RANGE;
    let steps = StepCounter::new(tree_ranges * steps_of_trees + LINK_ROUNDS * links, &progress);

    let mut graph = NeighborGraph::new(rows, k);
    let compare = |range| Ok(compare_trees(vectors, k, range, || steps.advance()));
    let trees = executor.run(RangeStep::Trees, tree_ranges, compare, |_, found| {
        let is_complete = graph.merge(&found);
        steps.end_range(steps_of_trees);
        is_complete
    })?;
    if trees.is_none() {
        return Ok(None);
    }
    let mut links = NeighborLinks::of(&graph, k);
    for round in 0..LINK_ROUNDS {
        executor.publish(StepInput::Graph { round, graph: &graph })?;
        let mut next = NeighborGraph::new(rows, k);
        let compare = |range| {
            let rows = rows_of_range(rows, range);
            Ok(compare_linked(vectors, &graph, &links, rows, || steps.advance()))
        };
        let step = RangeStep::Links { round };
        let compared = executor.run(step, row_ranges(rows), compare, |range, found| {
            let rows = rows_of_range(rows, range);
            let is_complete = found.len() == rows.len();
            rows.zip(found.iter()).for_each(|(row, nearest)| next.replace(row, nearest));
            steps.end_range(steps_of_rows(range));
            is_complete
        })?;
        if compared.is_none() {
            return Ok(None);
        }
        drop(links);
        let former = std::mem::replace(&mut graph, next);
        links = NeighborLinks::since(&former, &graph, k);
    }
    Ok(Some(graph))
}

/// The nearest rows of every row among those in its leaves of the trees of a range. `None` if `advance` returned false.
pub fn compare_trees(
    vectors: &Vectors,
    k: usize,
    range: usize,
    advance: impl Fn() -> bool + Sync,
) -> Option<NeighborGraph> {
    let mut graph = NeighborGraph::new(vectors.len(), k);
    for tree in range * TREES_PER_RANGE..(range + 1) * TREES_PER_RANGE {
        let rows = rows_by_leaf(vectors, tree as u64);
        for batch in rows.chunks(LEAVES_PER_BATCH * LEAF_ROWS) {
            let compare = |leaf: &[u32]| {
                let lists = compare_leaf(vectors, leaf, &graph, k);
                advance().then_some(lists)
            };
            let lists: Option<Vec<NeighborGraph>> =
                batch.par_chunks(LEAF_ROWS).map(compare).collect();
            let lists = lists?;
            for (row, nearest) in batch.iter().zip(lists.iter().flat_map(NeighborGraph::iter)) {
                graph.replace(*row as usize, nearest);
            }
        }
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

/// The nearest rows of those in a range, among their neighbors and what is two links away. `None` if `advance` returned
/// false.
pub fn compare_linked(
    vectors: &Vectors,
    graph: &NeighborGraph,
    links: &NeighborLinks,
    rows: Range<usize>,
    advance: impl Fn() -> bool + Sync,
) -> Option<NeighborGraph> {
    let first = rows.start;
    let mut nearest = graph.rows(rows);
    nearest.par_parts_mut(ROWS_PER_STEP).try_for_each_init(Vec::new, |candidates, mut part| {
        for position in part.rows() {
            let row = first + position;
            links.two_links_away(row, candidates);
            add_candidates(&mut part, position, vectors, (row, &graph[row]), candidates);
        }
        advance().then_some(())
    })?;
    Some(nearest)
}

/// Adds the nearest of other rows to the `known` neighbors of a row, which is at a position of a graph.
fn add_candidates(
    part: &mut GraphPart,
    position: usize,
    vectors: &Vectors,
    (row, known): (usize, &[Neighbor]),
    candidates: &[u32],
) {
    let query = kernel::prescaled(vectors.row(row));
    for &other in candidates {
        if other as usize == row || known.iter().any(|neighbor| neighbor.row == other) {
            continue;
        }
        let distance = kernel::distance(vectors.row(other as usize), &query);
        // Of many equal rows, the first ones found stay.
        if part.accepts(position, distance) {
            part.insert(position, Neighbor { row: other, distance });
        }
    }
}

//! Computes the neighbor graph of many rows in n log n. A few neighbors are missed, but the same ones each time.
//!
//! Rows in the same leaf of any of several projection trees are compared first. Then each row is compared with the
//! neighbors of its neighbors (NN-descent: Dong, Charikar, Li, 2011).

use std::{cmp::Ordering, ops::Range};

use rayon::prelude::*;
use tessera_model::pseudorandom::splitmix64;

use super::{
    Neighbor, NeighborGraph, Vectors, kernel, neighbor_graph::GraphPart, progress::StepCounter,
    row_lists::RowLists,
};

/// Number of trees. With 16 trees, one more neighbor in a thousand is missed among photographs. A tree costs as much as
/// comparing every row with 2,000 rows.
pub const TREES: usize = 24;
/// Number of rounds in which rows are compared with the neighbors of their neighbors. The third round finds one more
/// neighbor in a thousand.
pub const LINK_ROUNDS: usize = 3;
/// Number of leaves whose results are in memory in addition to the graph.
const LEAVES_PER_BATCH: usize = 256;
pub const LINKED_ROWS_PER_STEP: usize = 256;

/// Finds the `k` nearest other rows of every row, nearest first. A few are missed. The result does not depend on the
/// number of threads. For `progress`, see [`neighbor_graph`](super::neighbor_graph()).
pub fn approximate_neighbor_graph(
    vectors: &Vectors,
    k: usize,
    progress: impl Fn(f32) -> bool + Sync,
) -> Option<NeighborGraph> {
    let rows = vectors.len();
    let steps_of_trees = TREES * rows.div_ceil(LEAF_ROWS);
    let steps_of_links = LINK_ROUNDS * rows.div_ceil(LINKED_ROWS_PER_STEP);
    let steps = StepCounter::new(steps_of_trees + steps_of_links, &progress);
    let advance = || steps.advance();
    let mut graph = neighbors_in_leaves(vectors, k, 0..TREES, advance)?;
    let mut new = None;
    for _ in 0..LINK_ROUNDS {
        let links = NeighborLinks::new(&graph, new.as_ref());
        new = Some(compare_linked(vectors, &links, 0, &mut graph, advance)?);
    }
    Some(graph)
}

/// Returns the nearest rows of every row among the rows in the same leaves of some trees. Returns `None` if `advance`
/// returned false.
pub fn neighbors_in_leaves(
    vectors: &Vectors,
    k: usize,
    trees: Range<usize>,
    advance: impl Fn() -> bool + Sync,
) -> Option<NeighborGraph> {
    let mut graph = NeighborGraph::new(vectors.len(), k);
    for tree in trees {
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

/// Returns the nearest rows of each row of a leaf, among its neighbors in `graph` and the rows of the leaf.
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

/// Adds the nearest of the rows two links away to the neighbors of the rows from `first` on, which are in `nearest`.
/// Returns the new neighbors of each row, or `None` if `advance` returned false.
pub fn compare_linked(
    vectors: &Vectors,
    links: &NeighborLinks,
    first: usize,
    nearest: &mut NeighborGraph,
    advance: impl Fn() -> bool + Sync,
) -> Option<RowLists<u32>> {
    let parts = nearest.par_parts_mut(LINKED_ROWS_PER_STEP);
    let compare = |(known, candidates): &mut (Vec<u32>, Vec<u32>), mut part: GraphPart| {
        let mut new = RowLists::default();
        for position in part.rows() {
            let row = first + position;
            known.clear();
            known.extend(part.nearest(position).iter().map(|neighbor| neighbor.row));
            links.two_links_away(row, candidates);
            candidates.retain(|other| *other as usize != row && !known.contains(other));
            add_candidates(&mut part, position, vectors, row, candidates);
            let nearest = part.nearest(position).iter().map(|neighbor| neighbor.row);
            new.push(nearest.filter(|other| !known.contains(other)));
        }
        advance().then_some(new)
    };
    let parts: Option<Vec<RowLists<u32>>> = parts.map_init(Default::default, compare).collect();
    let mut new = RowLists::default();
    parts?.into_iter().for_each(|part| new.append(part));
    Some(new)
}

/// Adds the nearest of the `candidates` to the neighbors of a row, which is at a position of a graph.
fn add_candidates(
    part: &mut GraphPart,
    position: usize,
    vectors: &Vectors,
    row: usize,
    candidates: &[u32],
) {
    let query = kernel::prescaled(vectors.row(row));
    for &other in candidates {
        let distance = kernel::distance(vectors.row(other as usize), &query);
        // If many rows are equally near, the rows that were found first stay.
        if part.accepts(position, distance) {
            part.insert(position, Neighbor { row: other, distance });
        }
    }
}

/// The rows that are linked by a neighbor graph, in either direction.
pub struct NeighborLinks {
    /// The neighbors of each row, and the nearest rows that have it as a neighbor.
    all: RowLists<u32>,
    /// The links that the graph did not have before, or `None` if all are new.
    new: Option<RowLists<u32>>,
}

impl NeighborLinks {
    /// Returns the links of a graph. `new` has the neighbors of each row that were not in the graph before, or is
    /// `None` if all are new.
    pub fn new(graph: &NeighborGraph, new: Option<&RowLists<u32>>) -> Self {
        let of_new = |new: &RowLists<u32>| {
            both_directions(graph, |row, neighbor| new[row].contains(&neighbor.row))
        };
        Self { new: new.map(of_new), all: both_directions(graph, |_, _| true) }
    }

    /// Finds the rows that are two links away from `row`, with at least one new link. Some rows with a direct link are
    /// found too.
    pub fn two_links_away(&self, row: usize, found: &mut Vec<u32>) {
        found.clear();
        let all_new = self.new.as_ref().unwrap_or(&self.all);
        let (all, new) = (&self.all[row], &all_new[row]);
        found.extend(new);
        found.extend(new.iter().flat_map(|&other| &self.all[other as usize]));
        found.extend(all.iter().flat_map(|&other| &all_new[other as usize]));
        found.sort_unstable();
        found.dedup();
    }
}

/// Lists for every row its `included` neighbors, and the nearest rows that have it as such a neighbor. The latter are
/// limited to half as many as a row has neighbors, because a row can be the neighbor of any number of rows.
fn both_directions(
    graph: &NeighborGraph,
    included: impl Fn(usize, &Neighbor) -> bool,
) -> RowLists<u32> {
    let mut backward = NeighborGraph::new(graph.len(), graph.k().div_ceil(2));
    let mut links = 0;
    for (row, nearest) in graph.iter().enumerate() {
        for neighbor in nearest.iter().filter(|neighbor| included(row, neighbor)) {
            let link = Neighbor { row: row as u32, distance: neighbor.distance };
            backward.insert(neighbor.row as usize, link);
            links += 1;
        }
    }
    links += backward.iter().map(<[Neighbor]>::len).sum::<usize>();
    let mut lists = RowLists::with_capacity(graph.len(), links);
    for (row, (nearest, backward)) in graph.iter().zip(backward.iter()).enumerate() {
        let forward = nearest.iter().filter(|neighbor| included(row, neighbor));
        lists.set(row, forward.chain(backward).map(|neighbor| neighbor.row));
    }
    lists
}

/// Number of rows in a leaf. A leaf of 256-number rows fits the second-level cache.
pub const LEAF_ROWS: usize = 256;
/// Number of rows from which another thread is worth its cost.
const ROWS_PER_TASK: usize = 4096;

/// Returns the rows in an order in which each [`LEAF_ROWS`] of them are a leaf of the tree with this `seed`.
pub fn rows_by_leaf(vectors: &Vectors, seed: u64) -> Vec<u32> {
    let mut rows: Vec<u32> = (0..).take(vectors.len()).collect();
    divide(vectors, &mut rows, splitmix64(seed));
    rows
}

/// Divides rows by a random hyperplane into two halves of whole leaves, recursively, so that near rows are often in the
/// same leaf. The depth is log n, whatever the rows are.
fn divide(vectors: &Vectors, rows: &mut [u32], seed: u64) {
    if rows.len() <= LEAF_ROWS {
        return;
    }
    let normal = random_normal(vectors, rows, seed);
    let position = |&row: &u32| RowPosition {
        side: kernel::product(vectors.row(row as usize), &normal),
        tie_breaker: splitmix64(seed ^ u64::from(row)),
        row,
    };
    let mut positions: Vec<RowPosition> =
        rows.par_iter().with_min_len(ROWS_PER_TASK).map(position).collect();
    let middle = rows.len().div_ceil(LEAF_ROWS).div_ceil(2) * LEAF_ROWS;
    positions.select_nth_unstable_by(middle, RowPosition::order);
    rows.iter_mut().zip(positions).for_each(|(row, position)| *row = position.row);
    let (lower, upper) = rows.split_at_mut(middle);
    rayon::join(
        || divide(vectors, lower, splitmix64(seed.wrapping_add(1))),
        || divide(vectors, upper, splitmix64(seed.wrapping_add(2))),
    );
}

/// The position of a row relative to a hyperplane.
struct RowPosition {
    side: f32,
    /// A pseudorandom number that breaks ties, so that each tree divides many equal rows in a different way.
    tie_breaker: u64,
    row: u32,
}

impl RowPosition {
    fn order(&self, other: &Self) -> Ordering {
        let ties = || (self.tie_breaker, self.row).cmp(&(other.tie_breaker, other.row));
        self.side.total_cmp(&other.side).then_with(ties)
    }
}

/// Returns the direction from one pseudorandom row to another.
fn random_normal(vectors: &Vectors, rows: &[u32], seed: u64) -> Vec<f32> {
    let choose = |number: u64| {
        let position = splitmix64(seed ^ number) % rows.len() as u64;
        kernel::prescaled(vectors.row(rows[position as usize] as usize))
    };
    choose(1).iter().zip(choose(2)).map(|(from, to)| from - to).collect()
}

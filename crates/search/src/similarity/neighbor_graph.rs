//! Keeps the neighbor graph in memory, and computes the exact one. The neighbors of all rows are in one allocation,
//! because a vector for each row would take half as much again. `approximate_graph` computes the graph of many rows, and
//! the parent module chooses between the two.

use std::{
    cmp::Ordering,
    ops::{Index, Range},
};

use parking_lot::Mutex;
use rayon::prelude::*;

use super::{
    Vectors,
    kernel::{self, BLOCK},
    progress::StepCounter,
};

/// A row and its cosine distance, from 0 (same) to 2 (opposite).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Neighbor {
    pub row: u32,
    pub distance: f32,
}

impl Neighbor {
    /// Orders neighbors by distance, and equally near ones by row.
    pub fn order(&self, other: &Self) -> Ordering {
        let rows = || self.row.cmp(&other.row);
        self.distance.total_cmp(&other.distance).then_with(rows)
    }
}

/// Number of rows from which another thread is worth its cost.
const ROWS_PER_TASK: usize = 4096;

/// The nearest neighbors of every row, nearest first. Equally near ones are ordered by row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NeighborGraph {
    /// Maximum number of neighbors of a row.
    k: usize,
    /// The `k` places of each row, of which the first ones are used.
    places: Vec<Neighbor>,
    /// The number of neighbors of each row.
    lengths: Vec<u32>,
}

impl NeighborGraph {
    /// Creates rows without neighbors, with places for `k` each.
    pub fn new(rows: usize, k: usize) -> Self {
        Self { k, places: vec![Neighbor::default(); rows * k], lengths: vec![0; rows] }
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// Iterates over the neighbors of each row.
    pub fn iter(&self) -> impl Iterator<Item = &[Neighbor]> + Clone {
        (0..self.len()).map(|row| &self[row])
    }

    /// Inserts a neighbor of a row among its nearest ones, unless it is one of them already, or all `k` places are used
    /// by nearer ones.
    pub fn insert(&mut self, row: usize, newcomer: Neighbor) {
        let places = &mut self.places[row * self.k..][..self.k];
        insert_nearest(places, &mut self.lengths[row], newcomer);
    }

    /// Replaces the neighbors of a row. There must be at least as many new neighbors.
    ///
    /// # Panics
    /// Panics if there are more than `k` neighbors.
    pub fn replace(&mut self, row: usize, nearest: &[Neighbor]) {
        self.places[row * self.k..][..nearest.len()].copy_from_slice(nearest);
        self.lengths[row] = nearest.len() as u32;
    }

    /// Returns the maximum number of neighbors of a row.
    pub(super) fn k(&self) -> usize {
        self.k
    }

    /// Appends a row with its neighbors, nearest first. Only the first `k` are kept.
    pub(super) fn push(&mut self, nearest: impl Iterator<Item = Neighbor>) {
        let start = self.places.len();
        self.places.extend(nearest.take(self.k));
        self.lengths.push((self.places.len() - start) as u32);
        self.places.resize(start + self.k, Neighbor::default());
    }

    /// Returns the rows of a range.
    pub(super) fn rows(&self, rows: Range<usize>) -> Self {
        let places = self.places[rows.start * self.k..rows.end * self.k].to_vec();
        Self { k: self.k, places, lengths: self.lengths[rows].to_vec() }
    }

    /// Merges another graph: each row keeps the nearest of its neighbors in both graphs. Returns `false` if the numbers
    /// of rows differ.
    pub(super) fn merge(&mut self, other: &Self) -> bool {
        if other.len() != self.len() {
            return false;
        }
        self.par_parts_mut(ROWS_PER_TASK).for_each(|mut part| {
            for row in part.rows() {
                other[row].iter().for_each(|neighbor| part.insert(row, *neighbor));
            }
        });
        true
    }

    /// Appends the rows of another graph with the same `k`.
    pub fn append(&mut self, other: &Self) {
        self.places.extend_from_slice(&other.places);
        self.lengths.extend_from_slice(&other.lengths);
    }

    /// Divides the graph into disjoint parts of `rows` rows each. The last part may be smaller.
    pub fn par_parts_mut(
        &mut self,
        rows: usize,
    ) -> impl IndexedParallelIterator<Item = GraphPart<'_>> {
        let k = self.k;
        let places = self.places.par_chunks_mut((rows * k).max(1));
        places.zip(self.lengths.par_chunks_mut(rows)).enumerate().map(
            move |(part, (places, lengths))| GraphPart { first: part * rows, k, places, lengths },
        )
    }
}

/// Returns the `k` rows with the smallest finite distances, nearest first.
pub fn nearest_rows(distances: &[f32], k: usize) -> Vec<Neighbor> {
    let mut nearest = NeighborGraph::new(1, k);
    for (row, &distance) in (0..).zip(distances) {
        if distance.is_finite() {
            nearest.insert(0, Neighbor { row, distance });
        }
    }
    nearest[0].to_vec()
}

impl Index<usize> for NeighborGraph {
    type Output = [Neighbor];

    fn index(&self, row: usize) -> &[Neighbor] {
        &self.places[row * self.k..][..self.lengths[row] as usize]
    }
}

impl FromIterator<Vec<Neighbor>> for NeighborGraph {
    fn from_iter<I: IntoIterator<Item = Vec<Neighbor>>>(rows: I) -> Self {
        let rows: Vec<Vec<Neighbor>> = rows.into_iter().collect();
        let mut graph = Self::new(rows.len(), rows.iter().map(Vec::len).max().unwrap_or_default());
        rows.iter().enumerate().for_each(|(row, nearest)| graph.replace(row, nearest));
        graph
    }
}

/// Consecutive rows of a graph.
pub struct GraphPart<'a> {
    first: usize,
    k: usize,
    places: &'a mut [Neighbor],
    lengths: &'a mut [u32],
}

impl GraphPart<'_> {
    pub fn rows(&self) -> Range<usize> {
        self.first..self.first + self.lengths.len()
    }

    /// Returns the neighbors of a row.
    pub fn nearest(&self, row: usize) -> &[Neighbor] {
        let row = row - self.first;
        &self.places[row * self.k..][..self.lengths[row] as usize]
    }

    /// Whether a row has fewer than `k` neighbors, or a neighbor that is farther away than `distance`.
    pub fn accepts(&self, row: usize, distance: f32) -> bool {
        let nearest = self.nearest(row);
        nearest.len() < self.k || nearest.last().is_some_and(|last| distance < last.distance)
    }

    /// Inserts a neighbor like [`NeighborGraph::insert`].
    pub fn insert(&mut self, row: usize, newcomer: Neighbor) {
        let row = row - self.first;
        let places = &mut self.places[row * self.k..][..self.k];
        insert_nearest(places, &mut self.lengths[row], newcomer);
    }
}

/// Inserts a neighbor in order among the first `length` places. If all places are used, the last neighbor is dropped.
fn insert_nearest(places: &mut [Neighbor], length: &mut u32, newcomer: Neighbor) {
    let used = *length as usize;
    let nearest = &places[..used];
    let is_full = used == places.len();
    if is_full && nearest.last().is_none_or(|last| last.order(&newcomer).is_le()) {
        return;
    }
    let position = nearest.partition_point(|known| known.order(&newcomer).is_lt());
    if nearest.get(position).is_some_and(|known| known.order(&newcomer).is_eq()) {
        return;
    }
    let kept = if is_full { used - 1 } else { used };
    places.copy_within(position..kept, position + 1);
    places[position] = newcomer;
    *length = kept as u32 + 1;
}

// Computes the exact neighbor graph in square tiles, so that each pair of rows is compared once.

/// Computes the `k` nearest other rows of every row from all pairs of rows. Returns `None` if `progress` returns false.
pub fn exact_neighbor_graph(
    vectors: &Vectors,
    k: usize,
    progress: impl Fn(f32) -> bool + Sync,
) -> Option<NeighborGraph> {
    let blocks: Vec<Mutex<Block>> = (0..vectors.len())
        .step_by(BLOCK)
        .map(|first| Mutex::new(Block::new(first, BLOCK.min(vectors.len() - first), k)))
        .collect();
    let tiles: Vec<(usize, usize)> = (0..blocks.len())
        .flat_map(|left| (left..blocks.len()).map(move |right| (left, right)))
        .collect();
    let steps = StepCounter::new(tiles.len(), &progress);
    tiles.into_par_iter().try_for_each_init(
        || vec![0.0; BLOCK * BLOCK],
        |tile, (left, right)| {
            compare(vectors, left * BLOCK, right * BLOCK, tile);
            let count = |block: usize| BLOCK.min(vectors.len() - block * BLOCK);
            blocks[left].lock().add_rows(tile, right * BLOCK, count(right));
            if left != right {
                blocks[right].lock().add_columns(tile, left * BLOCK, count(left));
            }
            steps.advance().then_some(())
        },
    )?;
    let mut graph = NeighborGraph::new(0, k);
    for block in blocks {
        graph.append(&block.into_inner().nearest);
    }
    Some(graph)
}

/// Fills `distances` with the tile of the blocks that begin at rows `left` and `right`.
fn compare(vectors: &Vectors, left: usize, right: usize, distances: &mut [f32]) {
    let dimension = vectors.dimension();
    let wide = |first| kernel::widen(vectors.block(first, BLOCK), dimension);
    let panels = kernel::panels(&wide(right), dimension);
    kernel::tile(&wide(left), &panels, dimension, distances);
}

/// The nearest rows that were found so far for up to [`BLOCK`] rows.
struct Block {
    first: usize,
    k: usize,
    nearest: NeighborGraph,
    /// The distance per row that a new neighbor must not exceed.
    bounds: Vec<f32>,
}

impl Block {
    fn new(first: usize, rows: usize, k: usize) -> Self {
        Self {
            first,
            k,
            nearest: NeighborGraph::new(rows, k),
            bounds: vec![if k == 0 { f32::NEG_INFINITY } else { f32::INFINITY }; rows],
        }
    }

    /// Adds neighbors from a tile. The rows of the tile are those of this block, and its columns are the `count` rows
    /// from `first` on.
    fn add_rows(&mut self, tile: &[f32], first: usize, count: usize) {
        for (row, line) in tile.chunks_exact(BLOCK).take(self.nearest.len()).enumerate() {
            for (other, distance) in line[..count].iter().enumerate() {
                self.offer(row, first + other, *distance);
            }
        }
    }

    /// Adds neighbors like [`Self::add_rows`], but with rows and columns exchanged.
    fn add_columns(&mut self, tile: &[f32], first: usize, count: usize) {
        for (other, line) in tile.chunks_exact(BLOCK).take(count).enumerate() {
            for (row, distance) in line[..self.nearest.len()].iter().enumerate() {
                self.offer(row, first + other, *distance);
            }
        }
    }

    #[inline]
    fn offer(&mut self, row: usize, other: usize, distance: f32) {
        if distance <= self.bounds[row] && other != self.first + row {
            self.insert(row, other, distance);
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "2^32 descriptors fit no machine this runs on"
    )]
    fn insert(&mut self, row: usize, other: usize, distance: f32) {
        self.nearest.insert(row, Neighbor { row: other as u32, distance });
        let nearest = &self.nearest[row];
        if nearest.len() == self.k {
            self.bounds[row] = nearest[self.k - 1].distance;
        }
    }
}

//! Computes the exact neighbor graph in square tiles, so that each pair of rows is compared once.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

use super::{
    Neighbor, NeighborGraph, Vectors,
    kernel::{self, BLOCK},
    progress::StepCounter,
};

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
            lock(&blocks[left]).add_rows(tile, right * BLOCK, count(right));
            if left != right {
                lock(&blocks[right]).add_columns(tile, left * BLOCK, count(left));
            }
            steps.advance().then_some(())
        },
    )?;
    let mut graph = NeighborGraph::new(0, k);
    for block in blocks {
        graph.append(&block.into_inner().unwrap_or_else(PoisonError::into_inner).nearest);
    }
    Some(graph)
}

/// Locks a block. A block stays valid even if another thread panicked.
fn lock(block: &Mutex<Block>) -> MutexGuard<'_, Block> {
    block.lock().unwrap_or_else(PoisonError::into_inner)
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

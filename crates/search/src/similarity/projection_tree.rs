//! Trees that divide rows by random hyperplanes, so that near rows are often in the same leaf.

use std::cmp::Ordering;

use rayon::prelude::*;
use tessera_model::pseudorandom::splitmix64;

use super::{Vectors, kernel};

/// Rows of a leaf. Those of 256 numbers fit the second-level cache.
pub const LEAF_ROWS: usize = 256;
/// Rows that are worth another thread.
const ROWS_PER_TASK: usize = 4096;

/// Returns the rows in an order in which each [`LEAF_ROWS`] of them are a leaf of the tree with this `seed`.
pub fn rows_by_leaf(vectors: &Vectors, seed: u64) -> Vec<u32> {
    let mut rows: Vec<u32> = (0..).take(vectors.len()).collect();
    divide(vectors, &mut rows, splitmix64(seed));
    rows
}

/// Divides rows in halves of whole leaves, recursively: log n times, whatever the rows.
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

/// Where a row is, seen from a hyperplane.
struct RowPosition {
    side: f32,
    /// Each tree separates other rows of many equal ones.
    tie_breaker: u64,
    row: u32,
}

impl RowPosition {
    fn order(&self, other: &Self) -> Ordering {
        let ties = || (self.tie_breaker, self.row).cmp(&(other.tie_breaker, other.row));
        self.side.total_cmp(&other.side).then_with(ties)
    }
}

/// The direction from one of the rows to another.
fn random_normal(vectors: &Vectors, rows: &[u32], seed: u64) -> Vec<f32> {
    let choose = |number: u64| {
        let position = splitmix64(seed ^ number) % rows.len() as u64;
        kernel::prescaled(vectors.row(rows[position as usize] as usize))
    };
    choose(1).iter().zip(choose(2)).map(|(from, to)| from - to).collect()
}

//! Finds nearest neighbors, near-duplicates and copies, and places rows on a map. [`neighbor_graph()`] chooses between
//! the exact and the approximate method.
//!
//! Results do not depend on the number of threads, because equal distances are ordered by row.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "counts of corners and steps are small; parts of words are cut out on purpose"
)]

mod approximate_graph;
mod copy_search;
mod diverse_rows;
mod duplicates;
mod geometric_verification;
mod kernel;
mod keypoint_index;
mod map_layout;
mod neighbor_graph;
mod progress;
mod row_lists;
pub mod several_processes;
mod vectors;

pub use approximate_graph::approximate_neighbor_graph;
pub use copy_search::{CopyCandidate, CopySearch, MAX_COPY_CANDIDATES};
pub use diverse_rows::diverse_rows;
pub use duplicates::{DuplicatePair, GroupedRow, near_duplicates, order_by_group};
pub use keypoint_index::KeypointSource;
pub use map_layout::{MapPosition, map_positions};
pub use neighbor_graph::{Neighbor, NeighborGraph};
pub use progress::Stoppable;
pub use row_lists::{RowCandidates, RowLists};
pub use vectors::{VectorFile, VectorMemory, Vectors};

use neighbor_graph::exact_neighbor_graph;

/// Number of rows up to which all pairs are compared. At this number, both methods take the same time.
pub const MAX_EXACT_ROWS: usize = 65_536;

/// Finds the `k` nearest other rows of every row, nearest first. Up to [`MAX_EXACT_ROWS`], the result is exact; among
/// more rows, a few neighbors are missed. `progress` is called with the share done (0.0 to 1.0) from any thread, and
/// returns whether to continue. If it returns false, the result is `None`.
pub fn neighbor_graph(
    vectors: &Vectors,
    k: usize,
    progress: impl Fn(f32) -> bool + Sync,
) -> Option<NeighborGraph> {
    if vectors.len() <= MAX_EXACT_ROWS {
        return exact_neighbor_graph(vectors, k, progress);
    }
    approximate_neighbor_graph(vectors, k, progress)
}

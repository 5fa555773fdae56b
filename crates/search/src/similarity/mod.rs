//! Finds nearest neighbors, near-duplicates and copies. `exact_graph` is the entry to the neighbor graph, and chooses
//! between the exact and the approximate method.
//!
//! Results do not depend on the number of threads, because equal distances are ordered by row.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "counts of corners and steps are small; parts of words are cut out on purpose"
)]

mod approximate_graph;
mod copy_search;
mod duplicates;
mod exact_graph;
mod geometric_verification;
mod kernel;
mod keypoint_index;
mod neighbor_graph;
mod progress;
mod row_lists;
pub mod several_processes;
mod vectors;

pub use approximate_graph::approximate_neighbor_graph;
pub use copy_search::{CopyCandidate, CopySearch, MAX_COPY_CANDIDATES};
pub use duplicates::{DuplicatePair, near_duplicates};
pub use exact_graph::{MAX_EXACT_ROWS, neighbor_graph};
pub use keypoint_index::KeypointSource;
pub use neighbor_graph::{Neighbor, NeighborGraph};
pub use progress::Stoppable;
pub use row_lists::{RowCandidates, RowLists};
pub use vectors::{VectorFile, VectorMemory, Vectors};

//! Nearest neighbors, by exact scan up to some ten thousand rows, and near-duplicates.
//!
//! Results do not depend on the number of threads: equal distances are ordered by row.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "counts of corners and steps are small; parts of words are cut out on purpose"
)]

mod approximate_graph;
mod copy_search;
mod duplicates;
mod geometric_verification;
mod graph;
mod kernel;
mod keypoint_index;
mod keypoint_source;
mod neighbor;
mod neighbor_graph;
mod neighbor_links;
mod projection_tree;
mod row_lists;
mod step_counter;
mod transform;
mod vector_file;
mod vector_memory;
mod vectors;

pub use approximate_graph::approximate_neighbor_graph;
pub use copy_search::{CopyCandidate, CopySearch, MAX_COPY_CANDIDATES};
pub use duplicates::{DuplicatePair, near_duplicates};
pub use graph::neighbor_graph;
pub use keypoint_source::KeypointSource;
pub use neighbor::Neighbor;
pub use neighbor_graph::NeighborGraph;
pub use row_lists::RowLists;
pub use vector_file::VectorFile;
pub use vector_memory::VectorMemory;
pub use vectors::Vectors;

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
mod duplicate_pair;
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
mod range_result;
mod range_step;
mod row_candidates;
mod row_lists;
mod step_counter;
mod step_worker;
mod transform;
mod vector_file;
mod vector_memory;
mod vectors;

pub use approximate_graph::approximate_neighbor_graph;
pub use copy_search::{CopyCandidate, CopySearch, MAX_COPY_CANDIDATES};
pub use duplicate_pair::DuplicatePair;
pub use duplicates::near_duplicates;
pub use graph::{MAX_EXACT_ROWS, neighbor_graph};
pub use keypoint_source::KeypointSource;
pub use neighbor::Neighbor;
pub use neighbor_graph::NeighborGraph;
pub use range_result::RangeResult;
pub use range_step::{InProcess, LINK_ROUNDS, RangeExecutor, RangeStep, StepInput, Stoppable};
pub use row_candidates::RowCandidates;
pub use row_lists::RowLists;
pub use step_worker::StepWorker;
pub use vector_file::VectorFile;
pub use vector_memory::VectorMemory;
pub use vectors::Vectors;

//! Computes the neighbor graph and the near-duplicates of the members of a scope in one process.
//! `several_processes/shared_similar_members` computes the same for many members together with other workers.

use super::{progress::ProgressRange, stored_keypoints::StoredKeypoints};
use crate::task_error::TaskError;
use tessera_search::similarity::{
    DuplicatePair, NeighborGraph, Vectors, near_duplicates, neighbor_graph,
};

pub(super) const GRAPH_NEIGHBORS: usize = 24;

/// The share of the progress for the neighbor graph. The rest is for near-duplicates.
const GRAPH_SHARE: f64 = 0.6;

pub(super) struct SimilarMembers {
    pub graph: NeighborGraph,
    pub duplicates: Vec<DuplicatePair>,
}

/// The parts of the progress for the neighbor graph and for the near-duplicates.
pub(super) fn progress_parts<'a>(progress: &ProgressRange<'a>) -> [ProgressRange<'a>; 2] {
    [progress.subrange(0.0, GRAPH_SHARE), progress.subrange(GRAPH_SHARE, 1.0)]
}

/// Computes the graph and the near-duplicates. The vectors are dropped before near-duplicates are searched, which take
/// as much memory.
pub fn similar_members(
    vectors: Vectors,
    keypoints: &StoredKeypoints,
    progress: &ProgressRange,
) -> Result<SimilarMembers, TaskError> {
    let parts = progress_parts(progress);
    let [graph_progress, duplicate_progress] =
        parts.each_ref().map(|part| |share: f32| part.report(f64::from(share)));
    let graph = neighbor_graph(&vectors, GRAPH_NEIGHBORS, graph_progress);
    let graph = graph.ok_or(TaskError::Stopped)?;
    drop(vectors);
    let duplicates = near_duplicates(keypoints, &graph, duplicate_progress)?;
    Ok(SimilarMembers { graph, duplicates: duplicates.ok_or(TaskError::Stopped)? })
}

//! Computes the neighbor graph and the near-duplicates of the members of a scope in one process.
//! `several_processes/shared_similar_members` computes the same for many members together with other workers.

use super::stored_keypoints::StoredKeypoints;
use crate::task_error::TaskError;
use tessera_search::similarity::{
    DuplicatePair, NeighborGraph, Vectors, near_duplicates, neighbor_graph,
};

pub(super) const GRAPH_NEIGHBORS: usize = 24;

pub(super) struct SimilarMembers {
    pub graph: NeighborGraph,
    pub duplicates: Vec<DuplicatePair>,
}

/// Computes the graph and the near-duplicates. The vectors are dropped before near-duplicates are searched, which take
/// as much memory.
pub fn similar_members(
    vectors: Vectors,
    keypoints: &StoredKeypoints,
    graph_progress: impl Fn(f32) -> bool + Sync,
    duplicate_progress: impl Fn(f32) -> bool + Sync,
) -> Result<SimilarMembers, TaskError> {
    let graph = neighbor_graph(&vectors, GRAPH_NEIGHBORS, graph_progress);
    let graph = graph.ok_or(TaskError::Stopped)?;
    drop(vectors);
    let duplicates = near_duplicates(keypoints, &graph, duplicate_progress)?;
    Ok(SimilarMembers { graph, duplicates: duplicates.ok_or(TaskError::Stopped)? })
}

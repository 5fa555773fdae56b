//! Computes the neighbor graph and the near-duplicates of many members together with other workers.

use super::{
    super::{
        TaskContext,
        similar_members::{GRAPH_NEIGHBORS, SimilarMembers},
        stored_keypoints::StoredKeypoints,
    },
    shared_ranges::SharedRanges,
};
use crate::task_error::TaskError;
use tessera_search::similarity::{
    Vectors,
    several_processes::{shared_near_duplicates, shared_neighbor_graph},
};
use tessera_store::similarity_range::ClusteredMembers;

/// Whether other workers take part: they reach the same store, and there are enough members.
pub fn is_shared(context: &TaskContext, members: usize) -> bool {
    context.store.is_on_server() && members > context.settings.unshared_members
}

/// Computes what [`similar_members`](super::super::similar_members::similar_members) does, and removes what other workers
/// sent. The result does not depend on the number of workers.
pub fn shared_similar_members(
    indexing_task: i64,
    vectors: Vectors,
    keypoints: &StoredKeypoints,
    graph_progress: impl Fn(f32) -> bool + Sync,
    duplicate_progress: impl Fn(f32) -> bool + Sync,
) -> Result<SimilarMembers, TaskError> {
    let StoredKeypoints { context, entity, source, .. } = *keypoints;
    let members = ClusteredMembers { indexing_task, fence: context.fence(), entity, source };
    let shared = SharedRanges::begin(context, members)?;
    let graph = shared_neighbor_graph(&vectors, GRAPH_NEIGHBORS, &shared, graph_progress)?;
    let graph = graph.ok_or(TaskError::Stopped)?;
    drop(vectors);
    let duplicates = shared_near_duplicates(keypoints, &graph, &shared, duplicate_progress)?;
    let duplicates = duplicates.ok_or(TaskError::Stopped)?;
    shared.end()?;
    Ok(SimilarMembers { graph, duplicates })
}

//! Computes the neighbor graph and the near-duplicates of the members of a scope.

use super::{
    progress::ProgressRange, several_processes::shared_similar_members,
    stored_keypoints::StoredKeypoints,
};
use crate::task_error::TaskError;
use tessera_search::similarity::{
    DuplicatePair, NeighborGraph, Vectors, near_duplicates, neighbor_graph,
};

pub(super) const GRAPH_NEIGHBORS: usize = 24;

/// The share of the progress for the neighbor graph. The rest is for near-duplicates.
const GRAPH_SHARE: f64 = 0.6;

pub(super) type SimilarMembers = (NeighborGraph, Vec<DuplicatePair>);

/// Computes the graph and the near-duplicates. The result does not depend on the number of workers. The vectors are
/// dropped before near-duplicates are searched, which take as much memory.
pub fn similar_members(
    indexing_task: i64,
    vectors: Vectors,
    keypoints: &StoredKeypoints,
    progress: &ProgressRange,
) -> Result<SimilarMembers, TaskError> {
    let context = keypoints.context;
    let progress = [progress.subrange(0.0, GRAPH_SHARE), progress.subrange(GRAPH_SHARE, 1.0)];
    let [graph_progress, duplicate_progress] =
        progress.each_ref().map(|part| |share: f32| part.report(f64::from(share)));
    if context.store.is_on_server() && vectors.len() > context.settings.unshared_members {
        return shared_similar_members(
            indexing_task,
            vectors,
            keypoints,
            graph_progress,
            duplicate_progress,
        );
    }
    let graph = neighbor_graph(&vectors, GRAPH_NEIGHBORS, graph_progress);
    let graph = graph.ok_or(TaskError::Stopped)?;
    drop(vectors);
    let duplicates = near_duplicates(keypoints, &graph, duplicate_progress)?;
    Ok((graph, duplicates.ok_or(TaskError::Stopped)?))
}

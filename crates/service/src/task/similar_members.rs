//! Computes the neighbor graph and near-duplicates of a scope's members. Large scopes are shared among workers.

use super::{
    progress::ProgressRange, shared_ranges::SharedRanges, stored_keypoints::StoredKeypoints,
};
use crate::task_error::TaskError;
use tessera_search::similarity::{
    DuplicatePair, InProcess, NeighborGraph, RangeExecutor, Vectors, approximate_neighbor_graph,
    near_duplicates, neighbor_graph,
};
use tessera_store::similarity_range::MembersOfRun;

pub(super) const GRAPH_NEIGHBORS: usize = 24;

/// The share of the progress for the neighbor graph. The rest is for near-duplicates.
const GRAPH_SHARE: f64 = 0.6;

type SimilarMembers = (NeighborGraph, Vec<DuplicatePair>);

/// Computes the graph and the near-duplicates. The result does not depend on the number of workers.
pub fn similar_members(
    indexing_task: i64,
    vectors: &Vectors,
    keypoints: &StoredKeypoints,
    progress: &ProgressRange,
) -> Result<SimilarMembers, TaskError> {
    let context = keypoints.context;
    let graph_progress = progress.subrange(0.0, GRAPH_SHARE);
    let report = |share: f32| graph_progress.report(f64::from(share));
    if vectors.len() <= context.settings.unshared_members {
        let graph = neighbor_graph(vectors, GRAPH_NEIGHBORS, report).ok_or(TaskError::Stopped)?;
        return duplicates_of(graph, keypoints, &InProcess, progress);
    }
    let (fence, entity, source) = (context.fence(), keypoints.entity, keypoints.source);
    let shared =
        SharedRanges::begin(context, MembersOfRun { indexing_task, fence, entity, source })?;
    let graph = approximate_neighbor_graph(vectors, GRAPH_NEIGHBORS, &shared, report)?;
    let graph = graph.ok_or(TaskError::Stopped)?;
    let found = duplicates_of(graph, keypoints, &shared, progress)?;
    shared.end()?;
    Ok(found)
}

fn duplicates_of<X: RangeExecutor<TaskError>>(
    graph: NeighborGraph,
    keypoints: &StoredKeypoints,
    executor: &X,
    progress: &ProgressRange,
) -> Result<SimilarMembers, TaskError> {
    let progress = progress.subrange(GRAPH_SHARE, 1.0);
    let report = |share: f32| progress.report(f64::from(share));
    let duplicates = near_duplicates(keypoints, &graph, executor, report)?;
    Ok((graph, duplicates.ok_or(TaskError::Stopped)?))
}

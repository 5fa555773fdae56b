//! Reads the media that are clustered, with their features and keypoints, and computes their neighbor graph and
//! near-duplicates in one process. `several_processes/shared_ranges` computes the same together with other workers.

use std::ops::Range;

use super::{
    TaskContext,
    clustered_media::{ClusteredMedia, MediaCollector},
};
use crate::task_error::TaskError;
use tessera_model::{DatasetId, EntityType};
use tessera_search::{
    index::{DIMENSION, Keypoints},
    similarity::{
        DuplicatePair, KeypointSource, NeighborGraph, Vectors, near_duplicates, neighbor_graph,
    },
};
use tessera_store::{QueryError, media, picture_features};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The whole dataset, whose clusters are replaced.
    Everything,
    /// The new media of one source, whose clusters are appended to the existing ones.
    Batch(i64),
}

impl Scope {
    pub fn source_row(self) -> Option<i64> {
        match self {
            Self::Everything => None,
            Self::Batch(source) => Some(source),
        }
    }

    /// Whether a media item belongs to the scope. Media of a source that are clustered already stay as they are when
    /// more media are added to the same folder.
    fn includes(self, is_clustered: bool) -> bool {
        self == Self::Everything || !is_clustered
    }
}

/// Reads the members of a scope, ordered by path.
pub fn read_members(
    context: &TaskContext,
    dataset: DatasetId,
    scope: Scope,
    entity: EntityType,
) -> Result<ClusteredMedia, TaskError> {
    let mut members = MediaCollector::default();
    context.store.read(|c| {
        media::for_each_by_path(c, dataset, entity, scope.source_row(), |media, is_clustered| {
            if scope.includes(is_clustered) {
                members.push(media);
            }
        })
    })?;
    Ok(members.finish())
}

/// What the members of a scope look like.
pub struct MemberVectors {
    pub vectors: Vectors,
    /// The number of keypoints of all members.
    pub corners: usize,
}

impl MemberVectors {
    pub fn read(
        context: &TaskContext,
        dataset: DatasetId,
        scope: Scope,
        entity: EntityType,
        members: &ClusteredMedia,
    ) -> Result<Self, TaskError> {
        let mut vectors = Vectors::zeros(DIMENSION, members.len());
        let mut corners = 0;
        let (source, all) = (scope.source_row(), i64::MIN..=i64::MAX);
        context.store.read(|c| {
            picture_features::for_each_look(c, dataset, entity, source, all, |look| {
                if let Some(position) = members.position(look.media) {
                    vectors.set(position as usize, &look.descriptor());
                    corners += look.keypoints.len() / Keypoints::ENCODED_SIZE;
                }
                Ok::<_, QueryError>(())
            })
        })?;
        Ok(Self { vectors, corners })
    }
}

pub(super) struct StoredKeypoints<'a> {
    pub(super) context: &'a TaskContext,
    pub(super) dataset: DatasetId,
    pub(super) entity: EntityType,
    pub(super) source: Option<i64>,
    pub(super) members: &'a ClusteredMedia,
    pub(super) corners: usize,
}

impl KeypointSource for StoredKeypoints<'_> {
    type Error = TaskError;

    fn rows(&self) -> usize {
        self.members.len()
    }

    fn corners(&self) -> usize {
        self.corners
    }

    fn for_each(
        &self,
        positions: Range<usize>,
        mut each: impl FnMut(u32, &[u8]),
    ) -> Result<(), TaskError> {
        let Some(rows) = self.members.rows_in_order(positions) else { return Ok(()) };
        let read = self.context.store.read(|c| {
            picture_features::for_each_look(
                c,
                self.dataset,
                self.entity,
                self.source,
                rows.clone(),
                |look| {
                    self.context.check_cancelled().map_err(|_| QueryError::Stopped)?;
                    if let Some(position) = self.members.position(look.media) {
                        each(position, look.keypoints);
                    }
                    Ok::<_, QueryError>(())
                },
            )
        });
        Ok(read?)
    }
}

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

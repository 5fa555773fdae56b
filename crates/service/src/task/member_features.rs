//! Reads the media that are clustered, with their features and keypoints, and computes their neighbor graph and
//! near-duplicates in one process. `several_processes/shared_ranges` computes the same together with other workers.

use std::ops::Range;

use half::f16;

use super::{
    TaskContext,
    clustered_media::{ClusteredMedia, MediaCollector},
};
use crate::task_error::TaskError;
use tessera_model::{DatasetId, EntityType};
use tessera_search::{
    index::{DIMENSION, Keypoints},
    member_search::MODEL_SHARE,
    similarity::{
        DuplicatePair, KeypointSource, NeighborGraph, Vectors, near_duplicates, neighbor_graph,
    },
};
use tessera_store::{
    QueryError, Store, StoreError, applied_model, media, picture_features, vectors,
};

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
            picture_features::for_each(c, dataset, entity, source, all, |features| {
                if let Some(position) = members.position(features.media) {
                    vectors.set(position as usize, &features.descriptor());
                    corners += features.keypoints.len() / Keypoints::ENCODED_SIZE;
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
            picture_features::for_each(
                c,
                self.dataset,
                self.entity,
                self.source,
                rows.clone(),
                |features| {
                    self.context.check_cancelled().map_err(|_| QueryError::Stopped)?;
                    if let Some(position) = self.members.position(features.media) {
                        each(position, features.keypoints);
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

// Joins our descriptors with imported embeddings, so that clusters and diverse media follow the distance by which
// look-alikes are ranked.

/// The mean of fewer embeddings says more about these media than about their model.
const MIN_FOR_MEAN: usize = 100;

/// Returns a vector for each member whose cosine distance is the weighted one of its embedding and its descriptor.
/// Returns `None` if no member has an imported embedding. A member without one has only its descriptor, so it is near
/// other members without one.
///
/// The vectors of many models all point in a similar direction, so that all pictures would be near each other. The mean
/// is subtracted to undo this.
pub(crate) fn with_embeddings(
    store: &Store,
    dataset: DatasetId,
    descriptors: &Vectors,
    position: impl Fn(i64) -> Option<usize>,
) -> Result<Option<Vectors>, StoreError> {
    let embeddings = read_embeddings(store, dataset, position)?;
    let Some((_, first)) = embeddings.first() else { return Ok(None) };
    let dimension = first.len();
    let mean = mean(&embeddings, dimension);
    let mut weighted = Vectors::zeros(dimension + descriptors.dimension(), descriptors.len());
    for position in 0..descriptors.len() {
        let row = [&vec![f16::ZERO; dimension], descriptors.row(position)].concat();
        weighted.set(position, &row);
    }
    for (position, embedding) in embeddings {
        let numbers = embedding.iter().zip(&mean);
        let centered: Vec<f32> = numbers.map(|(number, mean)| number.to_f32() - mean).collect();
        let descriptor = descriptors.row(position).iter().map(|number| number.to_f32());
        let descriptor: Vec<f32> = descriptor.collect();
        let row = scaled(&centered, MODEL_SHARE).chain(scaled(&descriptor, 1.0 - MODEL_SHARE));
        weighted.set(position, &row.collect::<Vec<_>>());
    }
    Ok(Some(weighted))
}

/// Returns the imported embeddings of members, by position.
fn read_embeddings(
    store: &Store,
    dataset: DatasetId,
    position: impl Fn(i64) -> Option<usize>,
) -> Result<Vec<(usize, Vec<f16>)>, StoreError> {
    let mut embeddings = Vec::new();
    store.read(|c| {
        if !applied_model::is_imported(c, dataset)? {
            return Ok(());
        }
        vectors::for_each_model_vector(c, dataset, |media, vector| {
            embeddings.extend(position(media).map(|position| (position, vector.to_vec())));
        })
    })?;
    Ok(embeddings)
}

/// Returns the mean of many embeddings, or zeros.
#[expect(clippy::cast_precision_loss, reason = "a few million embeddings")]
fn mean(embeddings: &[(usize, Vec<f16>)], dimension: usize) -> Vec<f32> {
    let mut sums = vec![0.0; dimension];
    if embeddings.len() < MIN_FOR_MEAN {
        return sums;
    }
    for (_, embedding) in embeddings {
        for (sum, number) in sums.iter_mut().zip(embedding) {
            *sum += number.to_f32();
        }
    }
    sums.into_iter().map(|sum| sum / embeddings.len() as f32).collect()
}

/// Scales a vector so that its product with itself is `share`.
fn scaled(vector: &[f32], share: f32) -> impl Iterator<Item = f16> {
    let squares: f32 = vector.iter().map(|number| number * number).sum();
    let factor = (share / squares.max(f32::MIN_POSITIVE)).sqrt();
    vector.iter().map(move |number| f16::from_f32(number * factor))
}

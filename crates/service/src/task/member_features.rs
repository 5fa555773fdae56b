//! Reads the media that are clustered, with their features.

use super::{
    TaskContext,
    clustered_media::{ClusteredMedia, MediaCollector},
};
use crate::task_error::TaskError;
use tessera_model::{DatasetId, EntityType};
use tessera_search::{
    index::{DIMENSION, Keypoints},
    similarity::Vectors,
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

//! The media items of one dataset and entity type in memory, with what rankings and filters need.

use std::{collections::HashMap, path::PathBuf, sync::OnceLock};

use half::f16;

use super::{
    cluster_members::ClusterMembers,
    member_columns::{MemberColumns, NO_VIDEO},
    picture_members::PictureMembers,
};
use crate::{
    index::DIMENSION,
    similarity::Vectors,
    store::{
        Store, StoreError,
        dataset::DatasetRecord,
        media::{self, MediaFeatures},
    },
};
use tessera_model::{DatasetId, EntityType, Granularity, TagId};

pub struct DatasetIndex {
    pub(super) generation: i64,
    pub members: MemberColumns,
    descriptors: Vectors,
    embeddings: Vectors,
    /// The members with an embedding, in the order of `embeddings`.
    embedded_members: Vec<u32>,
    names: NameTable,
    /// By level, each once it is needed.
    clusters: [OnceLock<ClusterMembers>; Granularity::LEVELS],
    pictures: OnceLock<PictureMembers>,
}

/// Labels and tags as numbers: most media items share a few.
#[derive(Default)]
struct NameTable(HashMap<String, u32>);

impl NameTable {
    fn ids_of(&mut self, names: Vec<String>) -> impl Iterator<Item = u32> {
        names.into_iter().map(|name| {
            let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
            *self.0.entry(name).or_insert(next)
        })
    }
}

/// Source and path of each video.
type Videos = HashMap<(i64, PathBuf), u32>;

impl DatasetIndex {
    pub(super) fn load(
        store: &Store,
        dataset: &DatasetRecord,
        entity: EntityType,
    ) -> Result<Self, StoreError> {
        let mut index = Self::new(dataset.generation);
        let mut videos = Videos::new();
        store.read(|c| {
            media::for_each_with_features(c, dataset.id, entity, |features| {
                index.push(features, &mut videos);
            })
        })?;
        Ok(index)
    }

    pub(super) fn new(generation: i64) -> Self {
        Self {
            generation,
            members: MemberColumns::default(),
            descriptors: Vectors::new(DIMENSION),
            embeddings: Vectors::default(),
            embedded_members: Vec::new(),
            names: NameTable::default(),
            clusters: [const { OnceLock::new() }; Granularity::LEVELS],
            pictures: OnceLock::new(),
        }
    }

    /// A media item without an assignment was added after the last clustering.
    fn push(&mut self, features: MediaFeatures, videos: &mut Videos) {
        let Some(assignment) = features.assignment else { return };
        let media = features.media;
        let Ok(index) = u32::try_from(self.members.len()) else { return };
        if let Some(embedding) = features.embedding {
            if self.embeddings.is_empty() {
                self.embeddings = Vectors::new(embedding.len());
            }
            // Another dimension belongs to a text space that is about to be replaced.
            if embedding.len() == self.embeddings.dimension() {
                self.embeddings.push(&embedding);
                self.embedded_members.push(index);
            }
        }
        self.descriptors.push(&features.descriptor);
        let video = media.video_file().map(|(source, path)| {
            let next = u32::try_from(videos.len()).unwrap_or(NO_VIDEO);
            *videos.entry((source, path.to_owned())).or_insert(next)
        });
        self.members.push(&media, &assignment, video.unwrap_or(NO_VIDEO));
        self.members.labels.push(self.names.ids_of(media.labels));
        self.members.tags.push(self.names.ids_of(media.tags));
    }

    /// The members of the clusters at a level.
    pub fn clusters(&self, level: usize) -> &ClusterMembers {
        self.clusters[level].get_or_init(|| ClusterMembers::new(&self.members.cluster_ranks[level]))
    }

    pub fn pictures(&self) -> &PictureMembers {
        self.pictures.get_or_init(|| PictureMembers::new(&self.members.picture_rows))
    }

    pub(super) fn name_id(&self, name: &str) -> Option<u32> {
        self.names.0.get(name).copied()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = (&str, u32)> {
        self.names.0.iter().map(|(name, &id)| (name.as_str(), id))
    }

    pub(super) fn descriptor_distances(&self, descriptor: &[f16]) -> Vec<f32> {
        self.descriptors.distances(descriptor)
    }

    /// The distance of every member from an embedding; infinite for members without one.
    pub(super) fn embedding_distances(&self, embedding: &[f16]) -> Vec<f32> {
        if embedding.len() != self.embeddings.dimension() {
            return vec![f32::INFINITY; self.members.len()];
        }
        let found = self.embeddings.distances(embedding);
        if found.len() == self.members.len() {
            return found;
        }
        let mut distances = vec![f32::INFINITY; self.members.len()];
        for (&member, distance) in self.embedded_members.iter().zip(found) {
            distances[member as usize] = distance;
        }
        distances
    }
}

/// The identifier of a user tag of a dataset: the same for the same name.
pub fn tag_id(dataset: DatasetId, name: &str) -> TagId {
    TagId(uuid::Uuid::new_v5(&dataset.0, format!("tag {name}").as_bytes()))
}

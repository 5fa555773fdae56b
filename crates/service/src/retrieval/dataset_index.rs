//! The media items of one dataset and entity type in memory, with what rankings and filters need.

use std::{collections::HashMap, path::PathBuf};

use half::f16;

use crate::{
    index::DIMENSION,
    similarity::Vectors,
    store::{
        Store, StoreError,
        assignment::ClusterAssignment,
        dataset::DatasetRecord,
        media::{self, MediaFeatures},
    },
};
use tessera_model::{DatasetId, EntityType, MediaId, TagId};

pub struct DatasetIndex {
    pub(super) generation: i64,
    /// Ordered by path.
    pub members: Vec<IndexedMedia>,
    descriptors: Vectors,
    embeddings: Vectors,
    /// The members with an embedding, in the order of `embeddings`.
    embedded_members: Vec<u32>,
    by_id: HashMap<MediaId, u32>,
    by_picture: HashMap<i64, Vec<u32>>,
    /// Source and path of each video.
    videos: HashMap<(i64, PathBuf), u32>,
    names: NameTable,
}

pub struct IndexedMedia {
    pub row: i64,
    /// The row of the picture that it is, or is in.
    pub picture_row: i64,
    /// The video that it is a frame of, as a number.
    pub video: Option<u32>,
    pub assignment: ClusterAssignment,
    /// Variance of the Laplacian.
    pub sharpness: f32,
    /// Mean luma, 0.0-1.0.
    pub brightness: f32,
    pub labels: Box<[u32]>,
    pub tags: Box<[u32]>,
}

/// Labels and tags as numbers: most media items share a few.
#[derive(Default)]
struct NameTable(HashMap<String, u32>);

impl NameTable {
    fn ids_of(&mut self, names: Vec<String>) -> Box<[u32]> {
        let mut id_of = |name| {
            let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
            *self.0.entry(name).or_insert(next)
        };
        names.into_iter().map(&mut id_of).collect()
    }
}

impl DatasetIndex {
    pub(super) fn load(
        store: &Store,
        dataset: &DatasetRecord,
        entity: EntityType,
    ) -> Result<Self, StoreError> {
        let mut index = Self {
            generation: dataset.generation,
            members: Vec::new(),
            descriptors: Vectors::new(DIMENSION),
            embeddings: Vectors::default(),
            embedded_members: Vec::new(),
            by_id: HashMap::new(),
            by_picture: HashMap::new(),
            videos: HashMap::new(),
            names: NameTable::default(),
        };
        store.read(|c| {
            media::for_each_with_features(c, dataset.id, entity, |features| index.push(features))
        })?;
        Ok(index)
    }

    /// A media item without an assignment was added after the last clustering.
    fn push(&mut self, features: MediaFeatures) {
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
        self.by_id.insert(media.id, index);
        self.by_picture.entry(media.picture_row()).or_default().push(index);
        let video = media.video_file().map(|(source, path)| {
            let next = u32::try_from(self.videos.len()).unwrap_or(u32::MAX);
            *self.videos.entry((source, path.to_owned())).or_insert(next)
        });
        self.members.push(IndexedMedia {
            row: media.row,
            picture_row: media.picture_row(),
            video,
            assignment,
            sharpness: media.sharpness,
            brightness: media.brightness,
            labels: self.names.ids_of(media.labels),
            tags: self.names.ids_of(media.tags),
        });
    }

    pub(super) fn descriptor(&self, media: MediaId) -> Option<&[f16]> {
        self.by_id.get(&media).map(|&index| self.descriptors.row(index as usize))
    }

    pub(super) fn members_of_picture(&self, row: i64) -> &[u32] {
        self.by_picture.get(&row).map_or(&[], Vec::as_slice)
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
        let mut distances = vec![f32::INFINITY; self.members.len()];
        if embedding.len() == self.embeddings.dimension() {
            for (&member, distance) in
                self.embedded_members.iter().zip(self.embeddings.distances(embedding))
            {
                distances[member as usize] = distance;
            }
        }
        distances
    }
}

/// The identifier of a user tag of a dataset: the same for the same name.
pub fn tag_id(dataset: DatasetId, name: &str) -> TagId {
    TagId(uuid::Uuid::new_v5(&dataset.0, format!("tag {name}").as_bytes()))
}

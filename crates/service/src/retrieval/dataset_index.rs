//! The media items of one dataset and entity type, with what rankings and filters need.

use std::{io, sync::OnceLock};

use half::f16;

use super::{
    cluster_members::ClusterMembers, member_columns::MemberColumns, name_table::NameTable,
    picture_members::PictureMembers, vector_source::VectorSource,
};
use tessera_model::{DatasetId, Granularity, TagId};

pub struct DatasetIndex {
    pub(super) generation: i64,
    pub members: MemberColumns,
    pub names: NameTable,
    pub vectors: IndexVectors,
    /// By level, each once it is needed.
    clusters: [OnceLock<ClusterMembers>; Granularity::LEVELS],
    pictures: OnceLock<PictureMembers>,
}

pub struct IndexVectors {
    /// One per member.
    pub descriptors: VectorSource,
    pub embeddings: VectorSource,
    /// The members with an embedding, in the order of `embeddings`.
    pub embedded_members: Vec<u32>,
}

impl DatasetIndex {
    pub fn new(
        generation: i64,
        members: MemberColumns,
        names: NameTable,
        vectors: IndexVectors,
    ) -> Self {
        Self {
            generation,
            members,
            names,
            vectors,
            clusters: [const { OnceLock::new() }; Granularity::LEVELS],
            pictures: OnceLock::new(),
        }
    }

    /// The members of the clusters at a level.
    pub fn clusters(&self, level: usize) -> &ClusterMembers {
        self.clusters[level].get_or_init(|| ClusterMembers::new(&self.members.cluster_ranks[level]))
    }

    pub fn pictures(&self) -> &PictureMembers {
        self.pictures.get_or_init(|| PictureMembers::new(&self.members.picture_rows))
    }

    pub(super) fn descriptor_distances(&self, descriptor: &[f16]) -> io::Result<Vec<f32>> {
        self.vectors.descriptors.distances(descriptor)
    }

    /// The distance of every member from an embedding; infinite for members without one.
    pub(super) fn embedding_distances(&self, embedding: &[f16]) -> io::Result<Vec<f32>> {
        let IndexVectors { embeddings, embedded_members, .. } = &self.vectors;
        let mut distances = vec![f32::INFINITY; self.members.len()];
        if embedding.len() != embeddings.dimension() {
            return Ok(distances);
        }
        let found = embeddings.distances(embedding)?;
        if found.len() == distances.len() {
            return Ok(found);
        }
        for (&member, distance) in embedded_members.iter().zip(found) {
            distances[member as usize] = distance;
        }
        Ok(distances)
    }
}

/// The identifier of a user tag of a dataset: the same for the same name.
pub fn tag_id(dataset: DatasetId, name: &str) -> TagId {
    TagId(uuid::Uuid::new_v5(&dataset.0, format!("tag {name}").as_bytes()))
}

//! The media items of one dataset and entity type, with what rankings and filters need.

use std::{io, sync::OnceLock};

use super::{
    caption_index::CaptionIndex,
    cluster_members::ClusterMembers,
    member_columns::MemberColumns,
    name_table::NameTable,
    picture_members::PictureMembers,
    vector_source::{PartialVectors, VectorSource},
};
use tessera_model::{DatasetId, Granularity, TagId};
use tessera_search::member_search::{DistanceQuery, MemberVector, VectorQuery};

pub struct DatasetIndex {
    pub(super) generation: i64,
    pub members: MemberColumns,
    pub names: NameTable,
    /// Of the pictures that the members are, or are in.
    pub captions: CaptionIndex,
    pub vectors: IndexVectors,
    /// By level, each once it is needed.
    clusters: [OnceLock<ClusterMembers>; Granularity::LEVELS],
    pictures: OnceLock<PictureMembers>,
}

pub struct IndexVectors {
    /// One per member.
    pub descriptors: VectorSource,
    /// Of captions and labels.
    pub embeddings: PartialVectors,
    /// Of the user's own model.
    pub model: PartialVectors,
}

impl DatasetIndex {
    pub fn new(
        generation: i64,
        members: MemberColumns,
        names: NameTable,
        captions: CaptionIndex,
        vectors: IndexVectors,
    ) -> Self {
        Self {
            generation,
            members,
            names,
            captions,
            vectors,
            clusters: [const { OnceLock::new() }; Granularity::LEVELS],
            pictures: OnceLock::new(),
        }
    }

    /// What filters read, except what they compute first.
    pub fn memory_bytes(&self) -> usize {
        self.members.memory_bytes() + self.captions.memory_bytes()
    }

    /// The members of the clusters at a level.
    pub fn clusters(&self, level: usize) -> &ClusterMembers {
        self.clusters[level].get_or_init(|| ClusterMembers::new(&self.members.cluster_ranks[level]))
    }

    pub fn pictures(&self) -> &PictureMembers {
        self.pictures.get_or_init(|| PictureMembers::new(&self.members.picture_rows))
    }

    /// The score of every member; infinite for members without a vector of the query.
    pub(super) fn distances(&self, query: &DistanceQuery) -> io::Result<Vec<f32>> {
        match query {
            DistanceQuery::Single(query) => self.single_distances(query),
            DistanceQuery::Merged { own, model, rule } => {
                let mut scores = self.single_distances(own)?;
                for (score, model) in scores.iter_mut().zip(self.single_distances(model)?) {
                    *score = rule.score(*score, model);
                }
                Ok(scores)
            }
        }
    }

    fn single_distances(&self, query: &VectorQuery) -> io::Result<Vec<f32>> {
        match query.of {
            MemberVector::Descriptor => self.vectors.descriptors.distances(&query.vector),
            MemberVector::Embedding => self.partial_distances(&self.vectors.embeddings, query),
            MemberVector::Model => self.partial_distances(&self.vectors.model, query),
        }
    }

    fn partial_distances(
        &self,
        partial: &PartialVectors,
        query: &VectorQuery,
    ) -> io::Result<Vec<f32>> {
        let mut distances = vec![f32::INFINITY; self.members.len()];
        if query.vector.len() != partial.vectors.dimension() {
            return Ok(distances);
        }
        let found = partial.vectors.distances(&query.vector)?;
        if found.len() == distances.len() {
            return Ok(found);
        }
        for (&member, distance) in partial.members.iter().zip(found) {
            distances[member as usize] = distance;
        }
        Ok(distances)
    }
}

/// The identifier of a user tag of a dataset: the same for the same name.
pub fn tag_id(dataset: DatasetId, name: &str) -> TagId {
    TagId(uuid::Uuid::new_v5(&dataset.0, format!("tag {name}").as_bytes()))
}

//! Reads the index of a dataset from the store.

use std::{
    collections::HashMap,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use half::f16;

use super::{
    dataset_index::{DatasetIndex, IndexVectors, PartialVectors},
    index_limits::IndexLimits,
    member_columns::{MemberColumns, NO_VIDEO},
    name_table::NameTable,
    vector_source::VectorSink,
};
use crate::store::{
    QueryError, Store, StoreError,
    dataset::DatasetRecord,
    media::{self, MediaFeatures},
};
use tessera_model::EntityType;

pub const DESCRIPTORS_FILE: &str = "descriptors";
pub const EMBEDDINGS_FILE: &str = "embeddings";
pub const MODEL_VECTORS_FILE: &str = "model_vectors";

/// Why the store is read no further.
enum BuildError {
    Store(QueryError),
    File(io::Error),
}

impl From<QueryError> for BuildError {
    fn from(cause: QueryError) -> Self {
        Self::Store(cause)
    }
}

pub struct IndexBuilder {
    members: MemberColumns,
    names: NameTable,
    /// Source and path of each video.
    videos: HashMap<(i64, PathBuf), u32>,
    descriptors: VectorSink,
    embeddings: PartialSink,
    model: PartialSink,
}

/// Takes vectors that not every member has.
struct PartialSink {
    vectors: VectorSink,
    members: Vec<u32>,
}

impl PartialSink {
    fn new(vectors: VectorSink) -> Self {
        Self { vectors, members: Vec::new() }
    }

    /// Another dimension belongs to a text space or a model that is about to be replaced.
    fn push(&mut self, member: u32, vector: Option<&[f16]>) -> io::Result<()> {
        let Some(vector) = vector.filter(|found| self.vectors.accepts(found)) else {
            return Ok(());
        };
        self.members.push(member);
        self.vectors.push(vector)
    }

    fn finish(self) -> io::Result<PartialVectors> {
        Ok(PartialVectors { vectors: self.vectors.finish()?, members: self.members })
    }
}

impl IndexBuilder {
    pub fn in_memory() -> Self {
        Self::new([(); 3].map(|()| VectorSink::in_memory()))
    }

    /// Writes the vectors to files of a folder.
    pub fn on_disk(folder: &Path, limits: &IndexLimits) -> io::Result<Self> {
        let sink = |name| VectorSink::on_disk(&folder.join(name), limits);
        Ok(Self::new([sink(DESCRIPTORS_FILE)?, sink(EMBEDDINGS_FILE)?, sink(MODEL_VECTORS_FILE)?]))
    }

    fn new([descriptors, embeddings, model]: [VectorSink; 3]) -> Self {
        Self {
            members: MemberColumns::default(),
            names: NameTable::default(),
            videos: HashMap::new(),
            descriptors,
            embeddings: PartialSink::new(embeddings),
            model: PartialSink::new(model),
        }
    }

    /// Fails with the inner error if a file cannot be written, or `is_stopped` becomes true.
    pub fn build(
        mut self,
        store: &Store,
        dataset: &DatasetRecord,
        entity: EntityType,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<io::Result<DatasetIndex>, StoreError> {
        let read = store.read(|c| {
            let each = |features: MediaFeatures| {
                if is_stopped() {
                    return Err(BuildError::File(ErrorKind::Interrupted.into()));
                }
                self.push(features).map_err(BuildError::File)
            };
            match media::for_each_with_features(c, dataset.id, entity, None, each) {
                Ok(()) => Ok(Ok(())),
                Err(BuildError::File(cause)) => Ok(Err(cause)),
                Err(BuildError::Store(cause)) => Err(cause),
            }
        })?;
        Ok(read.and_then(|()| self.finish(dataset.generation)))
    }

    /// A media item without an assignment was added after the last clustering.
    fn push(&mut self, features: MediaFeatures) -> io::Result<()> {
        let Some(assignment) = features.assignment else { return Ok(()) };
        let media = features.media;
        let Ok(index) = u32::try_from(self.members.len()) else { return Ok(()) };
        self.embeddings.push(index, features.embedding.as_deref())?;
        self.model.push(index, features.model_vector.as_deref())?;
        self.descriptors.push(&features.descriptor)?;
        let video = media.video_file().map(|(source, path)| {
            let next = u32::try_from(self.videos.len()).unwrap_or(NO_VIDEO);
            *self.videos.entry((source, path.to_owned())).or_insert(next)
        });
        self.members.push(&media, &assignment, video.unwrap_or(NO_VIDEO));
        self.members.perceptual_hashes.push(features.perceptual_hash);
        self.members.labels.push(self.names.add(media.all_labels().cloned()));
        self.members.tags.push(self.names.add(media.tags));
        Ok(())
    }

    fn finish(self, generation: i64) -> io::Result<DatasetIndex> {
        let vectors = IndexVectors {
            descriptors: self.descriptors.finish()?,
            embeddings: self.embeddings.finish()?,
            model: self.model.finish()?,
        };
        Ok(DatasetIndex::new(generation, self.members, self.names, vectors))
    }
}

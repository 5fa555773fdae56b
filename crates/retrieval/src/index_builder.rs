//! Reads the index of a dataset from the store.

use std::{
    collections::HashMap,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use super::{
    caption_index::CaptionIndexBuilder,
    dataset_index::{DatasetIndex, IndexVectors},
    first_uses::FirstUses,
    index_limits::IndexLimits,
    member_columns::{MemberColumns, NO_VIDEO},
    name_table::NameTable,
    path_order::PathOrder,
    vector_source::VectorSink,
};
use tessera_model::EntityType;
use tessera_search::text::language::Language;
use tessera_store::{
    QueryError, Store, StoreError, caption_language,
    dataset::DatasetRecord,
    media::{self, MediaFeatures},
};

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

/// Takes members in any order.
pub struct IndexBuilder {
    order: PathOrder,
    /// The positions of the members that have arrived.
    positions: Vec<u32>,
    members: MemberColumns,
    names: NameTable,
    captions: CaptionIndexBuilder,
    /// Source and path of each video.
    videos: HashMap<(i64, PathBuf), u32>,
    descriptors: VectorSink,
    embeddings: VectorSink,
    model: VectorSink,
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
            order: PathOrder::default(),
            positions: Vec::new(),
            members: MemberColumns::default(),
            names: NameTable::default(),
            captions: CaptionIndexBuilder::new(Language::default()),
            videos: HashMap::new(),
            descriptors,
            embeddings,
            model,
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
            self.order = PathOrder::read(c, dataset.id, entity)?;
            self.captions = CaptionIndexBuilder::new(dataset.language.indexed);
            if entity == EntityType::Objects && self.order.len() > 0 {
                // Objects are found by the captions of their pictures.
                let each = |row, caption: &str| {
                    self.captions.push(row, caption);
                    Ok(())
                };
                caption_language::for_each_caption(c, dataset.id, each)?;
            }
            let each = |features: MediaFeatures| {
                if is_stopped() {
                    return Err(BuildError::File(ErrorKind::Interrupted.into()));
                }
                if let (EntityType::Images, Some(caption)) = (entity, &features.media.caption) {
                    self.captions.push(features.media.row, caption);
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

    fn push(&mut self, features: MediaFeatures) -> io::Result<()> {
        let media = features.media;
        let position = self.order.position(media.row);
        let Some((position, assignment)) = position.zip(features.assignment) else { return Ok(()) };
        self.positions.push(position);
        self.descriptors.put(position, &features.descriptor)?;
        for (sink, vector) in
            [(&mut self.embeddings, &features.embedding), (&mut self.model, &features.model_vector)]
        {
            vector.iter().try_for_each(|vector| sink.put(position, vector))?;
        }
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

    fn finish(mut self, generation: i64) -> io::Result<DatasetIndex> {
        if self.positions.len() != self.order.len() {
            return Err(io::Error::other("a clustered media item has no descriptor"));
        }
        self.sort_members();
        let vectors = IndexVectors {
            descriptors: self.descriptors.finish()?.vectors,
            embeddings: self.embeddings.finish()?,
            model: self.model.finish()?,
        };
        let captions = self.captions.finish();
        Ok(DatasetIndex::new(generation, self.members, self.names, captions, vectors))
    }

    /// Puts the members into their order, in which videos and names get their numbers, too: equal media items have
    /// equal files.
    fn sort_members(&mut self) {
        let mut order = vec![0; self.positions.len()];
        for (arrival, position) in (0..).zip(std::mem::take(&mut self.positions)) {
            order[position as usize] = arrival;
        }
        let members = &mut self.members;
        members.reorder(&order);
        let mut videos = FirstUses::default();
        for video in members.videos.iter_mut().filter(|video| **video != NO_VIDEO) {
            *video = videos.number(*video);
        }
        let mut names = FirstUses::default();
        for member in 0..members.len() {
            for lists in [&mut members.labels, &mut members.tags] {
                lists.of_mut(member).iter_mut().for_each(|name| *name = names.number(*name));
            }
        }
        self.names.renumber(|name| names.number(name));
    }
}

#[cfg(test)]
mod tests;

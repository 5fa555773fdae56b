//! Reads the index of a dataset from the store. Members are sorted by path here, because a database would sort whole
//! rows, including their vectors, on disk.

use std::{
    collections::HashMap,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use crate::{
    caption_index::{CaptionIndexBuilder, FileNames},
    columns::Lists,
    dataset_index::DatasetIndex,
    member_columns::{MemberColumns, NO_VIDEO, NameTable},
    vector_source::{IndexLimits, VectorSink},
};
use tessera_model::{DatasetId, EntityType};
use tessera_search::text::language::Language;
use tessera_store::{
    Connection, QueryError, Store, StoreError, captions,
    dataset::DatasetRecord,
    media::{self, MediaFeatures},
};

/// The files of the vectors, in the order of [`MemberVector`](tessera_search::member_search::MemberVector).
pub const VECTOR_FILES: [&str; 3] = ["descriptors", "text_vectors", "model_vectors"];

/// Why building an index stopped.
enum BuildError {
    Store(QueryError),
    File(io::Error),
}

impl From<QueryError> for BuildError {
    fn from(cause: QueryError) -> Self {
        Self::Store(cause)
    }
}

/// Builds an index from members that arrive in any order.
pub struct IndexBuilder {
    order: PathOrder,
    /// The positions of the members that have arrived.
    positions: Vec<u32>,
    members: MemberColumns,
    names: NameTable,
    captions: CaptionIndexBuilder,
    /// The number of each video, by source and path.
    videos: HashMap<(i64, PathBuf), u32>,
    /// The vectors, in the order of [`VECTOR_FILES`].
    vectors: [VectorSink; 3],
}

impl IndexBuilder {
    pub fn in_memory() -> Self {
        Self::new([(); 3].map(|()| VectorSink::in_memory()))
    }

    /// Writes the vectors to files of a folder.
    pub fn on_disk(folder: &Path, limits: &IndexLimits) -> io::Result<Self> {
        let sink = |name| VectorSink::on_disk(&folder.join(name), limits);
        let [descriptors, text_vectors, model] = VECTOR_FILES.map(sink);
        Ok(Self::new([descriptors?, text_vectors?, model?]))
    }

    fn new(vectors: [VectorSink; 3]) -> Self {
        Self {
            order: PathOrder::default(),
            positions: Vec::new(),
            members: MemberColumns::default(),
            names: NameTable::default(),
            captions: CaptionIndexBuilder::new(Language::default()),
            videos: HashMap::new(),
            vectors,
        }
    }

    /// Builds the index. Fails with the inner error if a file cannot be written, or if `is_stopped` becomes true.
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
                captions::for_each_caption(c, dataset.id, each)?;
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
        let vectors = [Some(features.descriptor), features.text_vector, features.model_vector];
        for (sink, vector) in self.vectors.iter_mut().zip(vectors) {
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
        let [descriptors, text_vectors, model] = self.vectors.map(VectorSink::finish);
        let vectors = [descriptors?, text_vectors?, model?];
        let file_names = FileNames::new(&self.members, self.captions.language());
        let captions = self.captions.finish();
        Ok(DatasetIndex::new(generation, self.members, self.names, captions, file_names, vectors))
    }

    /// Sorts the members, and renumbers videos and names in the new order, so that equal datasets give identical files.
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
                lists.get_mut(member).iter_mut().for_each(|name| *name = names.number(*name));
            }
        }
        self.names.renumber(|name| names.number(name));
    }
}

/// The order of members, by path and then by row.
#[derive(Default)]
pub struct PathOrder {
    /// The rows in increasing order.
    rows: Vec<i64>,
    /// The position of the member in each of these rows.
    positions: Vec<u32>,
}

/// Paths of media items, in the order of their rows.
#[derive(Default)]
pub struct MemberPaths {
    rows: Vec<i64>,
    /// All paths are in one allocation, because a million allocations would take as much memory again.
    paths: Lists<u8>,
}

impl PathOrder {
    /// Reads the order. A media item without an assignment was added after the latest clustering, so it is not a
    /// member.
    pub fn read(
        connection: &Connection,
        dataset: DatasetId,
        entity: EntityType,
    ) -> tessera_store::Result<Self> {
        let mut paths = MemberPaths::default();
        media::for_each_clustered_path(connection, dataset, entity, |row, path| {
            paths.push(row, path);
        })?;
        Ok(paths.into_order())
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the position of a member by its row.
    pub fn position(&self, row: i64) -> Option<u32> {
        self.rows.binary_search(&row).ok().map(|found| self.positions[found])
    }
}

impl MemberPaths {
    /// Adds a path. Rows must arrive in increasing order.
    pub fn push(&mut self, row: i64, path: &[u8]) {
        self.rows.push(row);
        self.paths.push(path.iter().copied());
    }

    pub fn into_order(self) -> PathOrder {
        let mut order: Vec<u32> = (0..).take(self.rows.len()).collect();
        // Equal paths keep the order of their rows.
        order.sort_by(|one, other| {
            self.paths.get(*one as usize).cmp(self.paths.get(*other as usize))
        });
        let mut positions = vec![0; order.len()];
        for (position, at) in (0..).zip(order) {
            positions[at as usize] = position;
        }
        PathOrder { rows: self.rows, positions }
    }
}

/// Numbers things in the order of their first use.
#[derive(Default)]
pub struct FirstUses {
    /// The new number of each old number, or `None` if the old number was not used yet.
    new: Vec<Option<u32>>,
    used: u32,
}

impl FirstUses {
    /// Returns the new number of an old number.
    pub fn number(&mut self, old: u32) -> u32 {
        let old = old as usize;
        if self.new.len() <= old {
            self.new.resize(old + 1, None);
        }
        *self.new[old].get_or_insert_with(|| {
            self.used += 1;
            self.used - 1
        })
    }
}

#[cfg(test)]
mod tests;

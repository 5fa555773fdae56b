//! Keeps the indexes and text spaces of the datasets that were searched, and the latest ranking of each index. An index
//! is loaded once per generation.

use std::{
    collections::HashMap,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;
use tessera_media::ingest::disk_quota::DiskQuota;
use tessera_model::{DatasetId, EntityType};
use tessera_search::{similarity::VectorMemory, text::lsa::TextSpace};
use tessera_store::{Store, StoreError, dataset::DatasetRecord, vectors};

use crate::{
    dataset_index::DatasetIndex,
    index_folder,
    ranking::ClusterRanking,
    search_query::{RetrievalError, SearchQuery},
    user_tags::UserTagIndex,
    vector_source::IndexLimits,
};

/// An index, which is locked while it is being loaded, so that it is loaded only once.
type IndexSlot = Arc<Mutex<CachedIndex>>;
type CachedTextSpace = (i64, Option<Arc<TextSpace>>);

#[derive(Default)]
struct CachedIndex {
    index: Option<Arc<DatasetIndex>>,
    /// The latest query of this index with the revision of the tags, and its ranking.
    last_ranking: Option<(SearchQuery, i64, Arc<ClusterRanking>)>,
}

/// The content of the cache, and how often it was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheUsage {
    /// The number of loaded indexes, one for each dataset and entity type.
    pub indexes: usize,
    /// The memory of the columns and captions that filters read, in bytes.
    pub bytes: usize,
    /// The number of rankings that came from memory.
    pub hits: u64,
    /// The number of rankings that were computed.
    pub misses: u64,
    /// The number of indexes that were loaded.
    pub loads: u64,
}

pub struct IndexCache {
    limits: IndexLimits,
    hits: AtomicU64,
    misses: AtomicU64,
    loads: AtomicU64,
    indexes: Mutex<HashMap<(DatasetId, EntityType), IndexSlot>>,
    text_spaces: Mutex<HashMap<DatasetId, CachedTextSpace>>,
    user_tags: Mutex<HashMap<DatasetId, Arc<UserTagIndex>>>,
}

impl IndexCache {
    /// Creates an empty cache. The index folder contains the files of the indexes, whose space is taken from `disk`.
    pub fn new(disk: DiskQuota, index_folder: &Path) -> Self {
        Self {
            limits: IndexLimits { disk, memory: VectorMemory::for_files_in(index_folder) },
            hits: AtomicU64::default(),
            misses: AtomicU64::default(),
            loads: AtomicU64::default(),
            indexes: Mutex::default(),
            text_spaces: Mutex::default(),
            user_tags: Mutex::default(),
        }
    }

    /// Returns the usage. An index that is being loaded does not count.
    pub fn usage(&self) -> CacheUsage {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (hits, misses, loads) = (count(&self.hits), count(&self.misses), count(&self.loads));
        let mut usage = CacheUsage { hits, misses, loads, ..CacheUsage::default() };
        let slots: Vec<_> = self.indexes.lock().values().cloned().collect();
        for slot in slots {
            let loaded = slot.try_lock().and_then(|cached| cached.index.clone());
            if let Some(index) = loaded {
                usage.indexes += 1;
                usage.bytes += index.memory_bytes;
            }
        }
        usage
    }

    /// Returns the text space of the current generation, if any media item has text.
    pub(super) fn text_space(
        &self,
        store: &Store,
        dataset: &DatasetRecord,
    ) -> Result<Option<Arc<TextSpace>>, StoreError> {
        let cached = self.text_spaces.lock().get(&dataset.id).cloned();
        if let Some((_, space)) = cached.filter(|(of, _)| *of == dataset.generation) {
            return Ok(space);
        }
        let bytes = store.read(|c| vectors::text_space(c, dataset.id))?;
        let space = bytes.and_then(|bytes| TextSpace::from_bytes(&bytes)).map(Arc::new);
        self.text_spaces.lock().insert(dataset.id, (dataset.generation, space.clone()));
        Ok(space)
    }

    /// Returns the tags and ratings of users, which are loaded again when they have changed.
    pub fn user_tags(
        &self,
        store: &Store,
        dataset: &DatasetRecord,
    ) -> Result<Arc<UserTagIndex>, StoreError> {
        let cached = self.user_tags.lock().get(&dataset.id).cloned();
        if let Some(tags) = cached.filter(|tags| tags.is_current(dataset)) {
            return Ok(tags);
        }
        let tags = Arc::new(UserTagIndex::load(store, dataset)?);
        self.user_tags.lock().insert(dataset.id, tags.clone());
        Ok(tags)
    }

    /// Writes the files of an index that is not in memory, so that the first search does not need to. Searches of this
    /// index wait meanwhile.
    pub fn prepare(
        &self,
        store: &Store,
        dataset: &DatasetRecord,
        entity: EntityType,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<(), StoreError> {
        let slot = self.indexes.lock().entry((dataset.id, entity)).or_default().clone();
        let cached = slot.lock();
        let is_current = |index: &Arc<DatasetIndex>| index.generation == dataset.generation;
        if cached.index.as_ref().is_some_and(is_current) {
            return Ok(());
        }
        index_folder::prepare(store, &self.limits, dataset, entity, is_stopped)
    }

    /// Drops everything that is loaded of a dataset, because its clusters change or because the memory is needed. The
    /// next search loads it again.
    pub fn release(&self, dataset: DatasetId) {
        self.indexes.lock().retain(|(of, _), _| *of != dataset);
        self.text_spaces.lock().remove(&dataset);
        self.user_tags.lock().remove(&dataset);
    }

    /// Returns the latest ranking of the index if the query is the same. If not, computes it with `rank`.
    pub(super) fn ranking(
        &self,
        store: &Store,
        dataset: &DatasetRecord,
        query: &SearchQuery,
        rank: impl FnOnce(&Arc<DatasetIndex>) -> Result<ClusterRanking, RetrievalError>,
    ) -> Result<Arc<ClusterRanking>, RetrievalError> {
        let key = (dataset.id, query.entity);
        let slot = self.indexes.lock().entry(key).or_default().clone();
        let index = {
            let mut cached = slot.lock();
            let current = cached.index.clone();
            if let Some(index) = current.filter(|index| index.generation == dataset.generation) {
                if let Some((last, revision, ranking)) = &cached.last_ranking
                    && last == query
                    && *revision == dataset.tag_revision
                {
                    self.hits.fetch_add(1, Ordering::Relaxed);
                    return Ok(ranking.clone());
                }
                index
            } else {
                let index = index_folder::open(store, &self.limits, dataset, query.entity)?;
                let index = Arc::new(index);
                self.loads.fetch_add(1, Ordering::Relaxed);
                *cached = CachedIndex { index: Some(index.clone()), last_ranking: None };
                index
            }
        };
        self.misses.fetch_add(1, Ordering::Relaxed);
        let ranking = rank(&index).inspect_err(|cause| {
            // A file of the index can no longer be read, so the next search loads the index again.
            if matches!(cause, RetrievalError::Store(StoreError::Io(..))) {
                *slot.lock() = CachedIndex::default();
            }
        });
        let ranking = Arc::new(ranking?);
        let mut cached = slot.lock();
        // Another request may have loaded the index of another generation meanwhile.
        if cached.index.as_ref().is_some_and(|current| Arc::ptr_eq(current, &index)) {
            cached.last_ranking = Some((query.clone(), dataset.tag_revision, ranking.clone()));
        }
        Ok(ranking)
    }
}

//! The indexes and text spaces of the datasets searched so far, each loaded once per generation.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use half::f16;

use super::{RetrievalError, SearchQuery, dataset_index::DatasetIndex, ranking::ClusterRanking};
use crate::{
    store::{Store, StoreError, dataset::DatasetRecord, embedding, lock},
    text::{encoders::Encoders, lsa::TextSpace},
};
use tessera_model::{DatasetId, EntityType};

type CachedTextSpace = (i64, Option<Arc<TextSpace>>);

#[derive(Clone)]
struct CachedIndex {
    index: Arc<DatasetIndex>,
    last_ranking: Option<(SearchQuery, Arc<ClusterRanking>)>,
}

#[derive(Default)]
pub struct IndexCache {
    indexes: Mutex<HashMap<(DatasetId, EntityType), CachedIndex>>,
    text_spaces: Mutex<HashMap<DatasetId, CachedTextSpace>>,
}

impl IndexCache {
    /// By the user's encoders or else by the text space; `None` if that knows none of the words.
    pub(super) fn embed_text(
        &self,
        store: &Store,
        dataset: &DatasetRecord,
        encoders: Option<&Encoders>,
        text: &str,
    ) -> Result<Option<Vec<f16>>, RetrievalError> {
        if let Some(encoders) = encoders {
            return encoders.embed_text(text).map(Some).map_err(RetrievalError::UnencodableText);
        }
        let space = self.text_space(store, dataset)?;
        Ok(space.ok_or(RetrievalError::NoTextEmbeddings)?.embed(text))
    }

    fn text_space(
        &self,
        store: &Store,
        dataset: &DatasetRecord,
    ) -> Result<Option<Arc<TextSpace>>, StoreError> {
        let cached = lock(&self.text_spaces).get(&dataset.id).cloned();
        if let Some((_, space)) = cached.filter(|(of, _)| *of == dataset.generation) {
            return Ok(space);
        }
        let bytes = store.read(|c| embedding::text_space(c, dataset.id))?;
        let space = bytes.and_then(|bytes| TextSpace::from_bytes(&bytes)).map(Arc::new);
        lock(&self.text_spaces).insert(dataset.id, (dataset.generation, space.clone()));
        Ok(space)
    }

    /// From memory if it was the last one of its index, otherwise from `rank`.
    pub(super) fn ranking(
        &self,
        store: &Store,
        dataset: &DatasetRecord,
        query: &SearchQuery,
        rank: impl FnOnce(&Arc<DatasetIndex>) -> Result<ClusterRanking, RetrievalError>,
    ) -> Result<Arc<ClusterRanking>, RetrievalError> {
        let key = (dataset.id, query.entity);
        let cached = lock(&self.indexes).get(&key).cloned();
        let index = match cached.filter(|cached| cached.index.generation == dataset.generation) {
            Some(CachedIndex { last_ranking: Some((last, ranking)), .. }) if last == *query => {
                return Ok(ranking);
            }
            Some(cached) => cached.index,
            None => {
                let index = Arc::new(DatasetIndex::load(store, dataset, query.entity)?);
                let cached = CachedIndex { index: index.clone(), last_ranking: None };
                lock(&self.indexes).insert(key, cached);
                index
            }
        };
        let ranking = Arc::new(rank(&index)?);
        let last_ranking = Some((query.clone(), ranking.clone()));
        lock(&self.indexes).insert(key, CachedIndex { index, last_ranking });
        Ok(ranking)
    }
}

//! What searching needs in memory: the media of each dataset that was searched, with their vectors,
//! read once per generation, and the last answer, so that the next page of it costs nothing.

mod dataset_index;
mod filter_mask;
mod ranking;
mod search_context;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use crate::{
    store::{Store, StoreError, dataset::DatasetRecord, embedding, lock},
    text::{
        encoders::{EncodeError, Encoders},
        lsa::TextSpace,
    },
};
use tessera_model::{DatasetId, EntityType};

pub use dataset_index::{DatasetIndex, SearchQuery, tag_id};
pub use ranking::{ClusterMatch, ClusterRanking};
pub use search_context::{RetrievalError, SearchContext, TextEmbedding};

/// The text space of a dataset, if it has one, as of a generation.
type CachedTextSpace = (i64, Option<Arc<TextSpace>>);

/// The media of the datasets searched so far.
#[derive(Default)]
pub struct IndexCache {
    indexes: Mutex<HashMap<(DatasetId, EntityType), Arc<DatasetIndex>>>,
    /// The text spaces of the same.
    text_spaces: Mutex<HashMap<DatasetId, CachedTextSpace>>,
}

impl IndexCache {
    /// What a text means to a dataset, by a person's encoders or else by its text space; `None` if
    /// nothing of it has a meaning.
    ///
    /// # Errors
    /// The store failed, or the encoders do.
    pub fn embed_text(
        &self,
        store: &Store,
        dataset: &DatasetRecord,
        encoders: Option<&Encoders>,
        text: &str,
    ) -> Result<Option<TextEmbedding>, RetrievalError> {
        if let Some(encoders) = encoders {
            let vector = encoders.embed_text(text);
            let failed = |cause: EncodeError| RetrievalError::UnencodableText(cause.to_string());
            return vector.map(|vector| Some(TextEmbedding::Vector(vector))).map_err(failed);
        }
        let Some(space) = self.text_space(store, dataset)? else {
            return Ok(None);
        };
        Ok(Some(space.embed(text).map_or(TextEmbedding::Unknown, TextEmbedding::Vector)))
    }

    /// The text space of a dataset.
    fn text_space(
        &self,
        store: &Store,
        dataset: &DatasetRecord,
    ) -> Result<Option<Arc<TextSpace>>, StoreError> {
        let kept = lock(&self.text_spaces).get(&dataset.id).cloned();
        if let Some((_, space)) = kept.filter(|(of, _)| *of == dataset.generation) {
            return Ok(space);
        }
        let bytes = store.read(|c| embedding::text_space(c, dataset.id))?;
        let space = bytes.and_then(|bytes| TextSpace::from_bytes(&bytes)).map(Arc::new);
        lock(&self.text_spaces).insert(dataset.id, (dataset.generation, space.clone()));
        Ok(space)
    }

    /// The media of a dataset, from memory if they are still those of its last change.
    ///
    /// # Errors
    /// The store failed.
    pub fn dataset_index(
        &self,
        store: &Store,
        dataset: &DatasetRecord,
        entity: EntityType,
    ) -> Result<Arc<DatasetIndex>, StoreError> {
        let key = (dataset.id, entity);
        let kept = lock(&self.indexes).get(&key).cloned();
        if let Some(gallery) = kept.filter(|kept| kept.generation == dataset.generation) {
            return Ok(gallery);
        }
        let gallery = Arc::new(DatasetIndex::load(store, dataset, entity)?);
        lock(&self.indexes).insert(key, gallery.clone());
        Ok(gallery)
    }
}

//! The indexes and text spaces of the datasets searched so far, each loaded once per generation.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use half::f16;

use super::{DatasetIndex, RetrievalError};
use crate::{
    store::{Store, StoreError, dataset::DatasetRecord, embedding, lock},
    text::{encoders::Encoders, lsa::TextSpace},
};
use tessera_model::{DatasetId, EntityType};

/// The text space of a dataset, if it has one, as of a generation.
type CachedTextSpace = (i64, Option<Arc<TextSpace>>);

/// The indexes and text spaces of the datasets searched so far.
#[derive(Default)]
pub struct IndexCache {
    indexes: Mutex<HashMap<(DatasetId, EntityType), Arc<DatasetIndex>>>,
    text_spaces: Mutex<HashMap<DatasetId, CachedTextSpace>>,
}

impl IndexCache {
    /// The embedding of a text, by the user's encoders or else by the text space of the dataset;
    /// `None` if the text space knows none of its words.
    pub(super) fn embed_text(
        &self,
        store: &Store,
        dataset: &DatasetRecord,
        encoders: Option<&Encoders>,
        text: &str,
    ) -> Result<Option<Vec<f16>>, RetrievalError> {
        if let Some(encoders) = encoders {
            let vector = encoders.embed_text(text);
            return vector
                .map(Some)
                .map_err(|cause| RetrievalError::UnencodableText(cause.to_string()));
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

    /// The index of a dataset, from memory if it is of the current generation.
    pub(super) fn dataset_index(
        &self,
        store: &Store,
        dataset: &DatasetRecord,
        entity: EntityType,
    ) -> Result<Arc<DatasetIndex>, StoreError> {
        let key = (dataset.id, entity);
        let cached = lock(&self.indexes).get(&key).cloned();
        if let Some(index) = cached.filter(|cached| cached.generation == dataset.generation) {
            return Ok(index);
        }
        let index = Arc::new(DatasetIndex::load(store, dataset, entity)?);
        lock(&self.indexes).insert(key, index.clone());
        Ok(index)
    }
}

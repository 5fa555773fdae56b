//! What searching needs in memory: the media of each dataset that was searched, with their vectors,
//! read once per generation, and the last answer, so that the next page of it costs nothing.

mod answer;
mod filter;
mod gallery;
mod rank;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use crate::{
    local::store::{Store, StoreError, dataset::Record, held},
    model::{DatasetId, EntityType},
};

pub use answer::{Ground, Meaning, Unanswerable};
pub use gallery::{Gallery, Question, tag_id};
pub use rank::{Ranked, Standing};

/// The media of the datasets searched so far.
#[derive(Default)]
pub struct Recall {
    galleries: Mutex<HashMap<(DatasetId, EntityType), Arc<Gallery>>>,
}

impl Recall {
    /// What a text means to a dataset; `None` if nothing of it has a meaning.
    ///
    /// # Errors
    /// The store failed.
    pub fn meaning(
        &self,
        _store: &Store,
        _dataset: &Record,
        _text: &str,
    ) -> Result<Option<Meaning>, StoreError> {
        Ok(None)
    }

    /// The media of a dataset, from memory if they are still those of its last change.
    ///
    /// # Errors
    /// The store failed.
    pub fn gallery(
        &self,
        store: &Store,
        dataset: &Record,
        entity: EntityType,
    ) -> Result<Arc<Gallery>, StoreError> {
        let key = (dataset.id, entity);
        let kept = held(&self.galleries).get(&key).cloned();
        if let Some(gallery) = kept.filter(|kept| kept.generation == dataset.generation) {
            return Ok(gallery);
        }
        let gallery = Arc::new(Gallery::load(store, dataset, entity)?);
        held(&self.galleries).insert(key, gallery.clone());
        Ok(gallery)
    }
}

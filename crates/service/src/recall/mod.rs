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
    store::{Store, StoreError, dataset::Record, held, meaning},
    words::{
        encoder::{EncodeError, Encoders},
        space::Space,
    },
};
use tessera_model::{DatasetId, EntityType};

pub use answer::{Ground, Meaning, Unanswerable};
pub use gallery::{Gallery, Question, tag_id};
pub use rank::{Ranked, Standing};

/// The text space of a dataset, if it has one, as of a generation.
type KeptSpace = (i64, Option<Arc<Space>>);

/// The media of the datasets searched so far.
#[derive(Default)]
pub struct Recall {
    galleries: Mutex<HashMap<(DatasetId, EntityType), Arc<Gallery>>>,
    /// The text spaces of the same.
    spaces: Mutex<HashMap<DatasetId, KeptSpace>>,
}

impl Recall {
    /// What a text means to a dataset, by a person's encoders or else by its text space; `None` if
    /// nothing of it has a meaning.
    ///
    /// # Errors
    /// The store failed, or the encoders do.
    pub fn meaning(
        &self,
        store: &Store,
        dataset: &Record,
        encoders: Option<&Encoders>,
        text: &str,
    ) -> Result<Option<Meaning>, Unanswerable> {
        if let Some(encoders) = encoders {
            let vector = encoders.embed_text(text);
            let failed = |cause: EncodeError| Unanswerable::Unreadable(cause.to_string());
            return vector.map(|vector| Some(Meaning::Vector(vector))).map_err(failed);
        }
        let Some(space) = self.space(store, dataset)? else {
            return Ok(None);
        };
        Ok(Some(space.embed(text).map_or(Meaning::Unknown, Meaning::Vector)))
    }

    /// The text space of a dataset.
    fn space(&self, store: &Store, dataset: &Record) -> Result<Option<Arc<Space>>, StoreError> {
        let kept = held(&self.spaces).get(&dataset.id).cloned();
        if let Some((_, space)) = kept.filter(|(of, _)| *of == dataset.generation) {
            return Ok(space);
        }
        let bytes = store.read(|c| meaning::space(c, dataset.id))?;
        let space = bytes.and_then(|bytes| Space::from_bytes(&bytes)).map(Arc::new);
        held(&self.spaces).insert(dataset.id, (dataset.generation, space.clone()));
        Ok(space)
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

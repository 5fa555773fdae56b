//! The users' own models, which datasets are searched and indexed with. A model is loaded when it is first needed.

use std::{
    collections::{HashMap, hash_map::Entry},
    path::{self, PathBuf},
    sync::{Arc, Mutex},
};

use tessera_encoder::{Encoder, LoadError};
use tessera_store::{dataset::DatasetRecord, lock};

/// The model for the datasets whose folders are opened.
#[derive(Clone, Debug, Default)]
pub enum ModelChoice {
    /// A dataset keeps its model. A new dataset has none.
    #[default]
    Keep,
    None,
    Own(Arc<Encoder>),
}

impl ModelChoice {
    /// Returns the folder of the model that is chosen, as an absolute path.
    pub fn folder(&self) -> Option<PathBuf> {
        let folder = self.encoder()?.folder();
        // Without a current folder, the path stays as it was given.
        Some(path::absolute(folder).unwrap_or_else(|_| folder.to_owned()))
    }

    pub fn encoder(&self) -> Option<&Arc<Encoder>> {
        if let Self::Own(encoder) = self { Some(encoder) } else { None }
    }
}

/// The models of all datasets of a deployment.
pub struct Models {
    /// The model of all datasets, if the store is on a server. If it is in a file, each dataset has a model of its own.
    common: Option<ModelChoice>,
    loaded: Mutex<HashMap<PathBuf, Arc<Encoder>>>,
}

impl Models {
    /// Creates the models of a deployment. The chosen model does not need to be loaded again.
    pub fn new(choice: &ModelChoice, is_common: bool) -> Self {
        let loaded = choice.folder().zip(choice.encoder().cloned());
        Self {
            common: is_common.then(|| choice.clone()),
            loaded: Mutex::new(loaded.into_iter().collect()),
        }
    }

    /// Returns the model of a dataset, if it has one.
    ///
    /// # Errors
    /// The files of the model cannot be read.
    pub fn of(&self, dataset: &DatasetRecord) -> Result<Option<Arc<Encoder>>, LoadError> {
        if let Some(common) = &self.common {
            return Ok(common.encoder().cloned());
        }
        let Some(folder) = &dataset.model else { return Ok(None) };
        match lock(&self.loaded).entry(folder.clone()) {
            Entry::Occupied(loaded) => Ok(Some(loaded.get().clone())),
            Entry::Vacant(missing) => {
                let encoder = Arc::new(Encoder::load(folder)?);
                Ok(Some(missing.insert(encoder).clone()))
            }
        }
    }
}

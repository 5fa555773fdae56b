//! Contains the local deployment: `serve`, `work`, `demo`, `open` and local profiles. Builds without the feature `local` have
//! `cli/unavailable.rs` in its place. This file gives commands and the worker what a local service has on this machine
//! without a request: the originals of its datasets, the archives of its exports, and embeddings.

mod access_log;
mod demo;
mod listening;
mod model;
mod requirements;
mod serve;
mod service;
mod store;

pub use demo::{run_text_tour, start_demo};
pub use model::run_model;
pub use requirements::check_requirements;
pub use serve::{serve, work};
pub use service::{LocalService, LocalSettings, check_storage_folder, local_settings};
pub use store::{check_store, run_store};

pub use crate::usecase::models::model_folder;

use std::{collections::HashMap, sync::Arc};

use tessera_client::OriginalLookup;
use tessera_curation::{FoundOriginals, duplicates::SimilarImages};
use tessera_model::{ExportTaskId, MediaId, SelectionItem};
use tessera_search::text::{full_text_query, language::Language};
use tessera_service::{Deployment, LocalError};

use crate::cli::prelude::*;
use crate::usecase::{file_actions::OriginalFinder, run_blocking};

/// Returns the version of the library that stores local deployments.
pub fn sqlite_version() -> &'static str {
    tessera_store::sqlite::version()
}

/// Returns why the local service refuses a full-text query. The reason is the same in all languages.
pub fn full_text_error(text: &str) -> Option<String> {
    full_text_query::parse(text, Language::default()).err().map(|error| error.to_string())
}

impl OriginalFinder for Deployment {
    fn selected(
        &self,
        dataset: DatasetId,
        items: &[SelectionItem],
    ) -> Result<FoundOriginals, Failure> {
        Ok(self.selected_originals(dataset, items)?)
    }

    fn listed(&self, dataset: DatasetId, files: Vec<PathBuf>) -> Result<FoundOriginals, Failure> {
        Ok(self.listed_originals(dataset, files)?)
    }

    fn similar(&self, dataset: DatasetId, min: f64) -> Result<Vec<SimilarImages>, Failure> {
        Ok(self.similar_images(dataset, min)?)
    }

    fn diverse(&self, search: &Search, count: usize) -> Result<Vec<(MediaId, PathBuf)>, Failure> {
        Ok(self.diverse_media_found(search, count)?)
    }

    fn rest(
        &self,
        search: &Search,
        selected: &[SelectionItem],
    ) -> Result<Vec<(MediaId, PathBuf)>, Failure> {
        Ok(self.rest_of_search(search, selected)?)
    }

    fn missing(&self, dataset: DatasetId, media: &[MediaId]) -> Result<Vec<MediaId>, Failure> {
        Ok(self.missing_media(dataset, media)?)
    }

    fn cluster_size(
        &self,
        dataset: DatasetId,
        cluster: &SelectionItem,
    ) -> Result<Option<usize>, Failure> {
        Ok(self.selected_cluster_size(dataset, cluster)?)
    }

    fn pictures(
        &self,
        dataset: DatasetId,
        media: &[MediaId],
    ) -> Result<HashMap<MediaId, MediaId>, Failure> {
        Ok(self.pictures_of_objects(dataset, media)?)
    }
}

impl LocalService {
    /// Returns what finds the originals of the datasets of this service.
    pub fn original_finder(&self) -> Arc<dyn OriginalFinder> {
        Arc::new(self.deployment.clone())
    }

    /// Returns the file of a finished archive, if it is on this machine.
    pub fn archive_file(&self, export: ExportTaskId) -> Option<PathBuf> {
        self.deployment.archive_file(export)
    }

    /// Returns the function that finds the file of this machine that is or contains an original.
    pub fn original_paths(&self) -> OriginalLookup {
        let deployment = self.deployment.clone();
        Arc::new(move |id| deployment.original_path(id))
    }

    /// Returns the function that finds the original of a media item on this machine.
    pub fn originals(&self) -> OriginalLookup {
        let deployment = self.deployment.clone();
        Arc::new(move |id| deployment.original_file(id))
    }

    /// Lets the deployment do work that blocks the thread.
    pub async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Deployment) -> Result<T, LocalError> + Send + 'static,
    ) -> CliResult<T> {
        let deployment = self.deployment.clone();
        run_blocking(move || Ok(work(&deployment)?)).await
    }
}

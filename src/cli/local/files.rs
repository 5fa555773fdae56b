//! Gives commands and the worker what a local service has on this machine: the originals of its datasets, the archives
//! of its exports, and embeddings. No request is sent.

use std::sync::Arc;

use crate::cli::prelude::*;
use crate::{
    cli::LocalService,
    usecase::{file_actions::OriginalFinder, run_blocking},
};
use tessera_client::OriginalLookup;
use tessera_curation::{FoundOriginals, duplicates::SimilarImages};
use tessera_model::{
    EmbeddingExport, EmbeddingImport, ExportTaskId, MediaId, SelectionItem, TagTarget,
};
use tessera_service::{Deployment, LocalError};

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
}

impl LocalService {
    /// Returns what finds the originals of the datasets of this service.
    pub fn original_finder(&self) -> Arc<dyn OriginalFinder> {
        Arc::new(self.deployment.clone())
    }

    /// Chooses media that look least like each other, among those of a selection or of the whole dataset.
    pub async fn diverse_media(
        &self,
        dataset: DatasetId,
        among: Option<Vec<SelectionItem>>,
        count: usize,
    ) -> CliResult<Vec<(MediaId, PathBuf)>> {
        self.blocking(move |it| it.diverse_media(dataset, among.as_deref(), count)).await
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

    /// Counts the media items whose tags a change would concern, and changes nothing.
    pub async fn count_tagged(&self, dataset: DatasetId, target: TagTarget) -> CliResult<usize> {
        self.blocking(move |it| it.count_tagged(dataset, &target)).await
    }

    /// Writes the vectors of a dataset to a new file.
    pub async fn export_embeddings(
        &self,
        dataset: DatasetId,
        file: PathBuf,
    ) -> CliResult<EmbeddingExport> {
        self.blocking(move |it| it.export_embeddings(dataset, &file)).await
    }

    /// Replaces the vectors of a dataset, which is then clustered in the background. A dry run changes nothing.
    pub async fn import_embeddings(
        &self,
        dataset: DatasetId,
        (file, names): (PathBuf, Option<PathBuf>),
        is_dry_run: bool,
    ) -> CliResult<EmbeddingImport> {
        self.blocking(move |it| it.import_embeddings(dataset, &file, names.as_deref(), is_dry_run))
            .await
    }

    /// Takes imported embeddings away, and returns the name of their file. The dataset is then clustered in the
    /// background.
    pub async fn remove_embeddings(&self, dataset: DatasetId) -> CliResult<String> {
        self.blocking(move |it| it.remove_embeddings(dataset)).await
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Deployment) -> Result<T, LocalError> + Send + 'static,
    ) -> CliResult<T> {
        let deployment = self.deployment.clone();
        run_blocking(move || Ok(work(&deployment)?)).await
    }
}

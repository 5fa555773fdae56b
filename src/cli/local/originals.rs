//! Gives commands and the worker the files of this machine behind local datasets and exports.

use std::{path::PathBuf, sync::Arc};

use crate::{
    cli::LocalService,
    usecase::file_actions::{DiverseFinder, OriginalFinder},
};
use tessera_client::OriginalLookup;
use tessera_curation::{FoundOriginals, duplicates::SimilarImages};
use tessera_model::{DatasetId, ExportTaskId, Failure, SelectionItem};
use tessera_service::{Deployment, LocalError};

impl LocalService {
    /// Returns what finds the originals of the datasets of this service.
    pub fn original_finder(&self) -> Arc<dyn OriginalFinder> {
        Arc::new(DeploymentOriginals(self.deployment.clone()))
    }

    /// Returns the function that chooses media that look least like each other.
    pub fn diverse_finder(&self) -> DiverseFinder {
        let deployment = self.deployment.clone();
        Arc::new(move |dataset, among, count| {
            deployment.diverse_media(dataset, among, count).map_err(failure)
        })
    }
}

struct DeploymentOriginals(Deployment);

impl OriginalFinder for DeploymentOriginals {
    fn selected(
        &self,
        dataset: DatasetId,
        items: &[SelectionItem],
    ) -> Result<FoundOriginals, Failure> {
        self.0.selected_originals(dataset, items).map_err(failure)
    }

    fn listed(&self, dataset: DatasetId, files: Vec<PathBuf>) -> Result<FoundOriginals, Failure> {
        self.0.listed_originals(dataset, files).map_err(failure)
    }

    fn similar(&self, dataset: DatasetId, min: f64) -> Result<Vec<SimilarImages>, Failure> {
        self.0.similar_images(dataset, min).map_err(failure)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the signature of `map_err`")]
fn failure(error: LocalError) -> Failure {
    Failure::local(error.to_string())
}

impl LocalService {
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
}

//! Gives commands and the worker the originals of local datasets.

use std::{path::PathBuf, sync::Arc};

use tessera_curation::{FoundOriginals, duplicates::SimilarImages};
use tessera_model::{DatasetId, Failure, SelectionItem};
use tessera_service::{Deployment, LocalError};

use crate::{
    cli::LocalService,
    usecase::file_actions::{DiverseFinder, OriginalFinder},
};

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

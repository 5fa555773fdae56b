//! Exports and imports the embeddings of the datasets of a local service. The files are on this machine, so no request is
//! sent.

use std::path::PathBuf;

use tessera_model::{DatasetId, EmbeddingExport, EmbeddingImport, Failure};
use tessera_service::{Deployment, LocalError};
use tokio::task::spawn_blocking;

use crate::cli::{CliResult, LocalService};

impl LocalService {
    /// Writes the vectors of a dataset to a new file.
    pub async fn export_embeddings(
        &self,
        dataset: DatasetId,
        file: PathBuf,
    ) -> CliResult<EmbeddingExport> {
        self.blocking(move |deployment| deployment.export_embeddings(dataset, &file)).await
    }

    /// Replaces the vectors of a dataset, which is then clustered in the background. A dry run changes nothing.
    pub async fn import_embeddings(
        &self,
        dataset: DatasetId,
        (file, names): (PathBuf, Option<PathBuf>),
        is_dry_run: bool,
    ) -> CliResult<EmbeddingImport> {
        let import = move |deployment: &Deployment| {
            deployment.import_embeddings(dataset, &file, names.as_deref(), is_dry_run)
        };
        self.blocking(import).await
    }

    /// Takes imported embeddings away, and returns the name of their file. The dataset is then clustered in the
    /// background.
    pub async fn remove_embeddings(&self, dataset: DatasetId) -> CliResult<String> {
        self.blocking(move |deployment| deployment.remove_embeddings(dataset)).await
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Deployment) -> Result<T, LocalError> + Send + 'static,
    ) -> CliResult<T> {
        let deployment = self.deployment.clone();
        let done = spawn_blocking(move || work(&deployment)).await;
        Ok(done.map_err(|_| Failure::internal_error())??)
    }
}

//! What commands are given to export and import the embeddings of datasets whose folders are on this machine.

use std::path::Path;

use tessera_model::{DatasetId, EmbeddingExport, EmbeddingImport, Failure};

/// Exports and imports embeddings. Each function blocks on the disk.
pub trait EmbeddingFiles: Send + Sync {
    /// Writes the vectors of a dataset to a new file.
    fn export(&self, dataset: DatasetId, file: &Path) -> Result<EmbeddingExport, Failure>;

    /// Replaces the vectors of a dataset, which is then clustered in the background. A dry run changes nothing.
    fn import(
        &self,
        dataset: DatasetId,
        file: &Path,
        names: Option<&Path>,
        is_dry_run: bool,
    ) -> Result<EmbeddingImport, Failure>;

    /// Takes imported embeddings away, and returns the name of their file. The dataset is then clustered in the
    /// background.
    fn remove(&self, dataset: DatasetId) -> Result<String, Failure>;
}

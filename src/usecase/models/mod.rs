//! Gets models for commands and the interface: plans what is downloaded, downloads it, and stores models under names.
//! Builds without the feature `local` contain only what the worker is given to do it with.

#[cfg(feature = "local")]
mod download;
#[cfg(feature = "local")]
mod stored;

use std::path::PathBuf;

use futures_util::future::BoxFuture;
use tessera_model::{DatasetId, Failure, FailureKind, ModelPlan, ShellCommand};

#[cfg(feature = "local")]
pub use download::ModelDownload;
#[cfg(feature = "local")]
pub use stored::{
    NO_MODEL, add_model, cached_models, check_name, load_model, model_folder, models_dir,
    require_model, test_model,
};

/// Is called with the bytes that have arrived, and the bytes of all files.
pub type ByteProgress<'a> = &'a (dyn Fn(u64, u64) + Send + Sync);

/// Gets models, and gives them to datasets of this machine.
pub trait ModelProvider: Send + Sync {
    /// Asks the hub what would be downloaded.
    fn plan(&self, name: String) -> BoxFuture<'_, Result<ModelPlan, Failure>>;

    /// Downloads a model, and returns its folder. Dropping the future stops the download, and the next one resumes it.
    fn get<'a>(
        &'a self,
        name: String,
        progress: ByteProgress<'a>,
    ) -> BoxFuture<'a, Result<PathBuf, Failure>>;

    /// Makes the model in a folder the one of a dataset, whose media are then encoded in the background.
    fn give(&self, dataset: DatasetId, folder: PathBuf) -> BoxFuture<'_, Result<(), Failure>>;
}

/// Why a model cannot be used. The sentence says what to do.
#[derive(Debug)]
pub struct ModelError {
    pub message: String,
    /// Whether another name or folder must be given.
    pub is_usage: bool,
    /// Whether the hub failed, and how.
    pub kind: FailureKind,
    pub remedy: Option<ShellCommand>,
}

#[cfg(feature = "local")]
impl ModelError {
    fn usage(message: impl Into<String>) -> Self {
        Self { is_usage: true, ..Self::failed(message) }
    }

    fn failed(message: impl Into<String>) -> Self {
        let kind = FailureKind::Local;
        Self { message: message.into(), is_usage: false, kind, remedy: None }
    }

    fn with_remedy(self, command: impl Into<ShellCommand>) -> Self {
        Self { remedy: Some(command.into()), ..self }
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        // The kinds of failures of a hub are not those of the service, whose outage the interface shows.
        Self::local(error.message)
    }
}

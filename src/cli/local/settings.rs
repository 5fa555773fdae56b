//! The settings of a local deployment.

use std::{env, path::Path, sync::Arc};

use super::model_folder::load_model;
use crate::cli::{CliError, CliResult, messages::write_message};
use tessera_media::object_storage::{ObjectStorage, StorageSettings};
pub use tessera_service::DeploymentSettings as LocalSettings;

/// With the model of a folder, if one is given.
pub fn local_settings(model: Option<&Path>) -> CliResult<LocalSettings> {
    let mut settings = LocalSettings { storage: storage_settings()?, ..LocalSettings::detect() };
    if let Some(folder) = model {
        let model = load_model(folder)?;
        for default in model.defaults() {
            write_message(&format!("model: {default}."));
        }
        settings.model = Some(Arc::new(model));
    }
    Ok(settings)
}

/// Checks that a folder in object storage can be listed and has media.
pub async fn check_storage_folder(folder: &Path) -> CliResult<()> {
    let unusable = |reason: String| CliError::usage(reason);
    let storage = ObjectStorage::new(storage_settings()?);
    let storage = storage.map_err(|error| unusable(error.to_string()))?;
    storage.list(&folder.to_string_lossy(), None, 1).await.map(drop).map_err(unusable)
}

/// The settings of object storage, from the environment.
fn storage_settings() -> CliResult<StorageSettings> {
    let variables = env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    StorageSettings::from_env(variables)
        .map_err(|why| CliError::usage(format!("object storage: {why}")))
}

//! The settings of a local deployment.

use std::{env, path::Path, sync::Arc};

use crate::cli::{CliError, CliResult, EncoderOptions};
pub use tessera_service::DeploymentSettings as LocalSettings;
use tessera_service::{
    object_storage::{ObjectStorage, StorageSettings},
    text::encoders::Encoders,
};

pub fn local_settings(options: &EncoderOptions) -> CliResult<LocalSettings> {
    let mut settings = LocalSettings { storage: storage_settings()?, ..LocalSettings::detect() };
    if let EncoderOptions {
        image_encoder: Some(image),
        text_encoder: Some(text),
        tokenizer: Some(tokens),
    } = options
    {
        let encoders = Encoders::load(image, text, tokens)
            .map_err(|cause| CliError::usage(cause.to_string()))?;
        settings.encoders = Some(Arc::new(encoders));
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

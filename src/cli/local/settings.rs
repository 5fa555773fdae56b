//! The settings of a local deployment.

use std::sync::Arc;

use crate::cli::{CliError, CliResult, EncoderOptions};
pub use tessera_service::DeploymentSettings as LocalSettings;
use tessera_service::text::encoders::Encoders;

pub fn local_settings(options: &EncoderOptions) -> CliResult<LocalSettings> {
    let mut settings = LocalSettings::detect();
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

//! The options for custom encoders, shared by all commands with a local deployment.

use std::{path::PathBuf, sync::Arc};

use clap::Args;

use crate::cli::CliError;
use tessera_service::{DeploymentSettings, text::encoders::Encoders};

/// Three files that belong together: all or none.
#[derive(Debug, Default, Args)]
pub struct EncoderOptions {
    /// Your own image encoder, an ONNX file. Text searches then also find images without captions.
    #[arg(long, value_name = "FILE", requires = "text_encoder", requires = "tokenizer")]
    pub image_encoder: Option<PathBuf>,
    /// The matching text encoder, an ONNX file.
    #[arg(long, value_name = "FILE", requires = "image_encoder")]
    pub text_encoder: Option<PathBuf>,
    /// The tokenizer of the text encoder, a tokenizer.json.
    #[arg(long, value_name = "FILE", requires = "image_encoder")]
    pub tokenizer: Option<PathBuf>,
}

impl EncoderOptions {
    /// The settings of this machine, with the custom encoders if given.
    pub fn settings(&self) -> Result<DeploymentSettings, CliError> {
        let mut settings = DeploymentSettings::detect();
        if let Self {
            image_encoder: Some(image),
            text_encoder: Some(text),
            tokenizer: Some(tokens),
        } = self
        {
            let encoders = Encoders::load(image, text, tokens)
                .map_err(|cause| CliError::usage(cause.to_string()))?;
            settings.encoders = Some(Arc::new(encoders));
        }
        Ok(settings)
    }
}

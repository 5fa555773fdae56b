//! The options that name a person's own encoders, for every command with a local deployment.

use std::{path::PathBuf, sync::Arc};

use clap::Args;

use crate::cli::{CliError, Exit};
use tessera_service::{DeploymentSettings, text::encoders::Encoders};

/// The three files of a pair of encoders; all or none.
#[derive(Debug, Default, Args)]
pub struct EncoderOptions {
    /// Your own image encoder, an ONNX file: with it, texts find pictures that nobody described.
    #[arg(long, value_name = "FILE", requires = "text_encoder", requires = "tokenizer")]
    pub image_encoder: Option<PathBuf>,
    /// The text encoder that goes with it, an ONNX file.
    #[arg(long, value_name = "FILE", requires = "image_encoder")]
    pub text_encoder: Option<PathBuf>,
    /// The tokenizer of the text encoder, a tokenizer.json.
    #[arg(long, value_name = "FILE", requires = "image_encoder")]
    pub tokenizer: Option<PathBuf>,
}

impl EncoderOptions {
    /// The settings of this machine, with the encoders where they are given.
    ///
    /// # Errors
    /// A file is no encoder; the sentence says which and why.
    pub fn settings(&self) -> Result<DeploymentSettings, CliError> {
        let mut settings = DeploymentSettings::detect();
        if let Self {
            image_encoder: Some(image),
            text_encoder: Some(text),
            tokenizer: Some(tokens),
        } = self
        {
            let encoders = Encoders::load(image, text, tokens)
                .map_err(|cause| CliError::new(Exit::Usage, cause.to_string()))?;
            settings.encoders = Some(Arc::new(encoders));
        }
        Ok(settings)
    }
}

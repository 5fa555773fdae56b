//! The option for a model, shared by all commands with a local deployment.

use std::path::PathBuf;

use clap::Args;

use crate::{
    cli::{CliError, CliResult, GlobalOptions},
    config::Settings,
};

#[derive(Debug, Default, Args)]
pub struct ModelOptions {
    /// Folder of your own model, in the layout of a model hub, or the name of an added one. Similar images are ranked by
    /// it, and a model that takes texts also finds images without captions. Default: the setting `model`.
    #[arg(long, value_name = "DIR")]
    pub model: Option<PathBuf>,
}

impl ModelOptions {
    /// The folder that was given, or else the one of the settings.
    pub fn or_of(self, settings: &Settings) -> Option<PathBuf> {
        self.model.or_else(|| settings.model.clone())
    }

    /// Reads the settings only if no folder was given.
    pub fn or_of_settings(self, global: &GlobalOptions) -> CliResult<Option<PathBuf>> {
        if self.model.is_some() {
            return Ok(self.model);
        }
        let settings = Settings::load(&global.sources())
            .map_err(|error| CliError::usage(error).with_remedy("tessera config validate"))?;
        Ok(self.or_of(&settings))
    }
}

//! The names of models, and the folders that they mean.

use std::{
    env,
    path::{Path, PathBuf},
};

use crate::{
    cli::{CliError, CliResult},
    config,
};
use tessera_hub::{HubError, HubSettings, cached_snapshot};

pub(super) fn models_dir() -> CliResult<PathBuf> {
    config::models_dir().ok_or_else(|| {
        CliError::usage("the home folder is unknown, where models are added; set HOME")
    })
}

/// Returns the folder of a model that was added under this name, or that is in the cache of the model hub under this
/// name. Returns the path itself if no model has the name. A folder of the same name in the working directory is meant
/// only if the path says so: `./NAME`.
pub fn model_folder(given: &Path) -> PathBuf {
    let named = given.to_str().and_then(|name| {
        if check_name(name).is_ok() {
            return Some(config::models_dir()?.join(name));
        }
        let repository = name.parse().ok()?;
        cached_snapshot(&hub_settings().ok()?.cache, &repository)
    });
    named.filter(|folder| folder.is_dir()).unwrap_or_else(|| given.to_owned())
}

/// Reads the settings of the model hub from the environment.
pub(super) fn hub_settings() -> Result<HubSettings, HubError> {
    HubSettings::from_env(|name| env::var_os(name))
}

/// The value of `--model` that takes the model away from a dataset.
pub(in crate::cli::local) const NO_MODEL: &str = "none";

/// Checks the name of a model, which becomes the name of a folder and must not be a path.
pub(super) fn check_name(name: &str) -> CliResult<()> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.is_empty() || name.len() > 40 || name == NO_MODEL || !name.chars().all(fits) {
        let message = "a model name has 1 to 40 letters, digits, - and _, and is not `none`; give one with --name";
        return Err(CliError::usage(message));
    }
    Ok(())
}

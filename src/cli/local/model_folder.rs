//! The folder of a model by its path or name, and loading it.

use std::path::{Path, PathBuf};

use crate::{
    cli::{CliError, CliResult},
    config,
};
use tessera_encoder::{Encoder, SelfTest};

/// The folder of an added model if a path is only its name, and the path otherwise.
pub fn model_folder(given: &Path) -> PathBuf {
    let name = given.to_str().filter(|name| check_name(name).is_ok() && !given.exists());
    let added = name.and_then(|name| Some(config::models_dir()?.join(name)));
    added.filter(|folder| folder.is_dir()).unwrap_or_else(|| given.to_owned())
}

/// Loads the model of a folder, or the one that was added under this name.
pub(super) fn load_model(folder: &Path) -> CliResult<Encoder> {
    let folder = model_folder(folder);
    Encoder::load(&folder).map_err(|cause| CliError::usage(cause.to_string()))
}

/// Fails if a model cannot be used.
pub(super) fn test_model(folder: &Path, model: &Encoder) -> CliResult<SelfTest> {
    SelfTest::run(model)
        .map_err(|reason| CliError::failed(format!("the model {}: {reason}", folder.display())))
}

/// A name becomes that of a folder, and is not a path.
pub(super) fn check_name(name: &str) -> CliResult<()> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.is_empty() || name.len() > 40 || !name.chars().all(fits) {
        let message = "a model name has 1 to 40 letters, digits, - and _; give one with --name";
        return Err(CliError::usage(message));
    }
    Ok(())
}

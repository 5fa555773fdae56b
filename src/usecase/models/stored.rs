//! Loads models, and stores them under names. Come here to see how the name of a model is resolved.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use tessera_config::expand_home;
use tessera_encoder::{Encoder, SelfTest, has_model};
use tessera_hub::{HubError, HubSettings, RepositoryName, cached_snapshot};
use tessera_model::ShellCommand;

use super::ModelError;

/// The value of `--model` that takes the model away from a dataset.
pub const NO_MODEL: &str = "none";

pub fn models_dir() -> Result<PathBuf, ModelError> {
    tessera_config::models_dir().ok_or_else(|| ModelError::usage(tessera_config::UNKNOWN_HOME))
}

/// Returns the folder of a model that was added under this name, or that is in the cache of the model hub under this
/// name. Returns the path itself if no model has the name. A folder of the same name in the working directory is meant
/// only if the path says so: `./NAME`.
pub fn model_folder(path: &Path) -> PathBuf {
    let named = path.to_str().and_then(|name| {
        if check_name(name).is_ok() {
            return Some(tessera_config::models_dir()?.join(name));
        }
        let repository = name.parse().ok()?;
        cached_snapshot(&hub_settings().ok()?.cache, &repository)
    });
    named.filter(|folder| folder.is_dir()).unwrap_or_else(|| path.to_owned())
}

/// Checks that the value of a setting names a model, whose files are not read.
pub fn require_model(chosen: &Path) -> Result<(), String> {
    if chosen == Path::new(NO_MODEL) || has_model(&model_folder(&expand_home(chosen.to_owned()))) {
        return Ok(());
    }
    Err(format!(
        "{} has no model; `tessera model list` lists the models, and `{NO_MODEL}` chooses none",
        chosen.display()
    ))
}

/// Returns the names and folders of the models in the cache of the model hub. Repositories of other kinds are skipped.
pub fn cached_models() -> Vec<(String, PathBuf)> {
    let Ok(HubSettings { cache, .. }) = hub_settings() else { return Vec::new() };
    let entries = fs::read_dir(&cache).into_iter().flatten().flatten();
    let model = |entry: fs::DirEntry| {
        let name = RepositoryName::of_folder(entry.file_name().to_str()?)?;
        let folder = cached_snapshot(&cache, &name)?;
        has_model(&folder).then(|| (name.to_string(), folder))
    };
    entries.filter_map(model).collect()
}

/// Reads the settings of the model hub from the environment.
pub(super) fn hub_settings() -> Result<HubSettings, HubError> {
    HubSettings::from_env(|name| env::var_os(name))
}

/// Checks the name of a model, which becomes the name of a folder and must not be a path.
pub fn check_name(name: &str) -> Result<(), ModelError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.is_empty() || name.len() > 40 || name == NO_MODEL || !name.chars().all(fits) {
        let message = "a model name has 1 to 40 letters, digits, - and _, and is not `none`; give one with --name";
        return Err(ModelError::usage(message));
    }
    Ok(())
}

/// Loads the model in a folder, or the model that was added under this name.
pub fn load_model(folder: &Path) -> Result<Encoder, ModelError> {
    let folder = model_folder(folder);
    Encoder::load(&folder).map_err(|cause| ModelError::usage(cause.to_string()))
}

/// Tests a model by running it. Fails if the model cannot be used.
pub fn test_model(folder: &Path, model: &Encoder) -> Result<SelfTest, ModelError> {
    SelfTest::run(model)
        .map_err(|reason| ModelError::failed(format!("the model {}: {reason}", folder.display())))
}

/// Checks a model and copies its files, so that `--model` takes its name, which is the name of the folder by default.
/// After a crash, the model is there either completely or not at all.
pub fn add_model(folder: &Path, name: Option<&str>) -> Result<String, ModelError> {
    let absolute = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let own_name = absolute.file_name().unwrap_or_default().to_string_lossy();
    let name = name.unwrap_or(&own_name);
    check_name(name)?;
    let models = models_dir()?;
    let target = models.join(name);
    // Two programs that add a model of this name would write into the same folder.
    let _lock = tessera_files::lock_changes(&target)
        .map_err(|error| ModelError::failed(format!("cannot add the model {name}: {error}")))?;
    if target.exists() {
        let message = format!("a model with the name {name} exists; choose another with --name");
        let remedy = ShellCommand::new("tessera model remove").word(name);
        return Err(ModelError::usage(message).with_remedy(remedy));
    }
    let model = load_model(&absolute)?;
    test_model(&absolute, &model)?;
    copy(&absolute, &model.files(), &models, &target)
        .map_err(|error| ModelError::failed(format!("cannot add the model {name}: {error}")))?;
    Ok(name.to_owned())
}

fn copy(from: &Path, files: &[PathBuf], models: &Path, target: &Path) -> io::Result<()> {
    // Files that a crash has left are replaced.
    let partial = target.with_extension("partial");
    tessera_files::if_exists(fs::remove_dir_all(&partial))?;
    for file in files {
        let copied = partial.join(file.strip_prefix(from).map_err(io::Error::other)?);
        tessera_files::create_private_dir(tessera_files::parent_dir(&copied))?;
        fs::copy(file, &copied)?;
    }
    tessera_files::sync_tree(&partial)?;
    fs::rename(&partial, target)?;
    tessera_files::sync_dir(models)
}

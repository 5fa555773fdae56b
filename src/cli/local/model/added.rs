//! Stores, lists and removes models under a name, and loads them.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use super::named::{check_name, model_folder, models_dir};
use crate::cli::{CliError, CliResult, Column, Document, Exit, Output, messages::write_message};
use tessera_encoder::{Encoder, SelfTest};
use tessera_model::ShellCommand;

const COLUMNS: &[Column] =
    &[Column::new("NAME", "name"), Column::new("BYTES", "bytes"), Column::new("FOLDER", "folder")];

/// Checks a model and copies its files. After a crash, the model is there either completely or not
/// at all.
pub(super) fn add(folder: &Path, name: Option<&str>) -> CliResult {
    let absolute = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let own_name = absolute.file_name().unwrap_or_default().to_string_lossy();
    let name = name.unwrap_or(&own_name);
    check_name(name)?;
    let models = models_dir()?;
    let target = models.join(name);
    if target.exists() {
        let message = format!("a model with the name {name} exists; choose another with --name");
        let remedy = ShellCommand::new("tessera model remove").word(name);
        return Err(CliError::usage(message).with_remedy(remedy));
    }
    let model = load_model(&absolute)?;
    test_model(&absolute, &model)?;
    copy(&absolute, &model.files(), &models, &target)
        .map_err(|error| CliError::io(format_args!("add the model {name}"), &error))?;
    write_message(&format!("added the model {name}; use it with --model {name}."));
    Ok(Exit::Done)
}

fn copy(from: &Path, files: &[PathBuf], models: &Path, target: &Path) -> io::Result<()> {
    tessera_files::create_private_dir_durably(models)?;
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

pub(super) fn list(out: &Output) -> CliResult {
    let models = models_dir()?;
    let unreadable = |error| CliError::io(format_args!("list {}", models.display()), &error);
    let entries = tessera_files::if_exists(fs::read_dir(&models)).map_err(unreadable)?;
    let mut rows = Vec::new();
    for entry in entries.into_iter().flatten() {
        let entry = entry.map_err(unreadable)?;
        // An entry with any other name is part of a copy that was interrupted.
        if let Some(name) = entry.file_name().to_str().filter(|name| check_name(name).is_ok()) {
            let bytes = size(&entry.path()).map_err(unreadable)?;
            let folder = entry.path().display().to_string();
            rows.push(json!({ "name": name, "bytes": bytes, "folder": folder }));
        }
    }
    rows.sort_by_key(|row| row["name"].to_string());
    let fields = json!({ "models": Value::Array(rows) });
    out.print(&Document::list("tessera.models/1", fields, "models", COLUMNS))?;
    Ok(Exit::Done)
}

/// Returns the total size in bytes of the files in a folder and below.
fn size(folder: &Path) -> io::Result<u64> {
    fs::read_dir(folder)?.try_fold(0, |sum, entry| {
        let entry = entry?;
        let metadata = entry.metadata()?;
        Ok(sum + if metadata.is_dir() { size(&entry.path())? } else { metadata.len() })
    })
}

pub(super) fn remove(name: &str) -> CliResult {
    check_name(name)?;
    let removed = fs::remove_dir_all(models_dir()?.join(name));
    match tessera_files::if_exists(removed) {
        Ok(Some(())) => {
            write_message(&format!("removed the model {name}."));
            Ok(Exit::Done)
        }
        Ok(None) => Err(CliError::not_found(format!("unknown model `{name}`"))
            .with_remedy("tessera model list")),
        Err(error) => Err(CliError::io(format_args!("remove the model {name}"), &error)),
    }
}

/// Loads the model in a folder, or the model that was added under this name.
pub(in crate::cli::local) fn load_model(folder: &Path) -> CliResult<Encoder> {
    let folder = model_folder(folder);
    Encoder::load(&folder).map_err(|cause| CliError::usage(cause.to_string()))
}

/// Tests a model by running it. Fails if the model cannot be used.
pub(super) fn test_model(folder: &Path, model: &Encoder) -> CliResult<SelfTest> {
    SelfTest::run(model)
        .map_err(|reason| CliError::failed(format!("the model {}: {reason}", folder.display())))
}

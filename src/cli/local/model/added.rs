//! Adds, lists and removes models under a name.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::{
    cli::{CliError, CliResult, Column, Document, Exit, Output, messages::write_message},
    usecase::models::{add_model, check_name, models_dir},
};

const COLUMNS: &[Column] =
    &[Column::new("NAME", "name"), Column::new("BYTES", "bytes"), Column::new("FOLDER", "folder")];

pub(super) fn add(folder: &Path, name: Option<&str>) -> CliResult {
    let name = add_model(folder, name)?;
    write_message(&format!("added the model {name}; use it with --model {name}."));
    Ok(Exit::Done)
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
fn size(folder: &Path) -> std::io::Result<u64> {
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

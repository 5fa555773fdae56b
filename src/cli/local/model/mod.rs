//! `tessera model`: checks the folder of a model, gets models, and stores models under a name.

mod available;
mod get;
mod starter;

use std::{
    fs, io, iter,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::{
    cli::{
        CliError, CliResult, Column, Context, Document, Exit, Output,
        messages::write_message,
        service_options::ModelCommand,
        values::{absolute_path, read_bytes_or_stdin},
    },
    config,
};
use tessera_encoder::{Encoder, ModelDescription, SelfTest};
use tessera_hub::cached_snapshot;
use tessera_model::ShellCommand;
use tessera_picture::decode::decode;

const CHECK_COLUMNS: &[Column] =
    &[Column::new("SUBJECT", "subject"), Column::new("FOUND", "found")];

pub async fn run_model(context: &Context, command: &ModelCommand) -> CliResult {
    let out = &context.out;
    match command {
        ModelCommand::Get { name } => get::get(context, name).await,
        ModelCommand::Add { folder, name } => add(folder, name.as_deref()),
        ModelCommand::List { available: true } => available::list(context),
        ModelCommand::List { available: false } => list(out),
        ModelCommand::Remove { name } => remove(name),
        ModelCommand::Check { folder, pictures } => check(out, folder, pictures),
    }
}

fn check(out: &Output, folder: &Path, pictures: &[PathBuf]) -> CliResult {
    let folder = absolute_path(&model_folder(folder))?;
    let model = load_model(&folder)?;
    let encoded = pictures.iter().map(|picture| encode(&model, picture));
    let encoded = encoded.collect::<CliResult<Vec<Value>>>()?;
    let test = test_model(&folder, &model)?;
    out.print(&document(&folder, &model, &test, &encoded))?;
    Ok(Exit::Done)
}

/// Encodes a picture and describes the result. The label is null if the model is not confident of
/// any, and the hypernyms say what the label is a kind of.
fn encode(model: &Encoder, picture: &Path) -> CliResult<Value> {
    let file = picture.display();
    let bytes = read_bytes_or_stdin(picture)?;
    let decoded = decode(&bytes, model.input_side())
        .map_err(|cause| CliError::usage(format!("{file}: {cause}")))?;
    let encoded = model
        .encode_image(&decoded.pixels)
        .map_err(|reason| CliError::failed(format!("{file}: {reason}")))?;
    let label = encoded.label.as_ref();
    Ok(json!({
        "file": file.to_string(),
        "label": label.and_then(|label| label.labels.first()),
        "hypernyms": label.map_or(&[][..], |label| &label.labels[1..]),
        "confidence": label.map(|label| label.confidence),
    }))
}

fn document(folder: &Path, model: &Encoder, test: &SelfTest, pictures: &[Value]) -> Document {
    let description = model.description();
    let ModelDescription { kind, dimension, labels, preprocessing, defaults, .. } = &description;
    let milliseconds = |time: std::time::Duration| (time.as_secs_f64() * 1e4).round() / 10.0;
    let fields = json!({
        "folder": folder.display().to_string(),
        "kind": kind.as_str(),
        "models": description.models,
        "dimension": dimension,
        "labels": labels,
        "preprocessing": preprocessing,
        "defaults": defaults,
        "distance": test.distance,
        "ms_per_picture": milliseconds(test.time_per_picture),
        "ms_per_text": test.time_per_text.map(milliseconds),
        "checks": checks(&description, test, pictures),
        "pictures": pictures,
    });
    Document::list("tessera.model/1", fields, "checks", CHECK_COLUMNS)
}

fn checks(description: &ModelDescription, test: &SelfTest, pictures: &[Value]) -> Vec<Value> {
    let ModelDescription { kind, models, dimension, labels, preprocessing, defaults } = description;
    let mut rows = vec![("kind", format!("{}, vectors of {dimension} numbers", kind.as_str()))];
    rows.extend(models.iter().map(|path| ("file", path.display().to_string())));
    if *labels > 0 {
        rows.push(("labels", labels.to_string()));
    }
    rows.push(("pictures", preprocessing.clone()));
    rows.extend(defaults.iter().map(|default| ("default", default.clone())));
    let picture = format!("{:.1?} per picture", test.time_per_picture);
    let per_text =
        test.time_per_text.map(|time| format!(", {time:.1?} per text")).unwrap_or_default();
    rows.push((
        "self-test",
        format!(
            "two pictures have different vectors (distance {:.3}); {picture}{per_text}",
            test.distance
        ),
    ));
    rows.extend(pictures.iter().map(|picture| ("picture", picture_text(picture))));
    rows.into_iter().map(|(subject, found)| json!({ "subject": subject, "found": found })).collect()
}

fn picture_text(picture: &Value) -> String {
    let file = picture["file"].as_str().unwrap_or_default();
    match (picture["label"].as_str(), picture["confidence"].as_f64()) {
        (Some(label), Some(confidence)) => {
            let hypernyms = picture["hypernyms"].as_array().into_iter().flatten();
            let hypernyms = hypernyms.filter_map(|word| word.as_str());
            let words: Vec<&str> = iter::once(label).chain(hypernyms).collect();
            format!("{file}: {} (confidence {confidence:.2})", words.join(", "))
        }
        _ => format!("{file}: encoded; no label is certain"),
    }
}

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

fn models_dir() -> CliResult<PathBuf> {
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
        cached_snapshot(&get::hub_settings().ok()?.cache, &repository)
    });
    named.filter(|folder| folder.is_dir()).unwrap_or_else(|| given.to_owned())
}

/// Loads the model in a folder, or the model that was added under this name.
pub(super) fn load_model(folder: &Path) -> CliResult<Encoder> {
    let folder = model_folder(folder);
    Encoder::load(&folder).map_err(|cause| CliError::usage(cause.to_string()))
}

/// Tests a model by running it. Fails if the model cannot be used.
pub(super) fn test_model(folder: &Path, model: &Encoder) -> CliResult<SelfTest> {
    SelfTest::run(model)
        .map_err(|reason| CliError::failed(format!("the model {}: {reason}", folder.display())))
}

/// The value of `--model` that takes the model away from a dataset.
pub(super) const NO_MODEL: &str = "none";

/// Checks the name of a model, which becomes the name of a folder and must not be a path.
pub(super) fn check_name(name: &str) -> CliResult<()> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.is_empty() || name.len() > 40 || name == NO_MODEL || !name.chars().all(fits) {
        let message = "a model name has 1 to 40 letters, digits, - and _, and is not `none`; give one with --name";
        return Err(CliError::usage(message));
    }
    Ok(())
}

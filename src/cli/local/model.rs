//! `tessera model`: checks the folder of a model, gets models, and stores models under a name. The worker of the
//! interface gets models in the same way, and gives them to the datasets of a local service.

use std::{fs, iter, sync::Arc};

use futures_util::{FutureExt as _, future::BoxFuture};
use parking_lot::Mutex;

use crate::cli::prelude::*;
use crate::{
    cli::{
        LocalService,
        messages::write_message,
        service_options::ModelCommand,
        values::{absolute_path, read_bytes_or_stdin},
    },
    usecase::{
        models::{
            ByteProgress, ModelDownload, ModelError, ModelProvider, add_model, cached_models,
            check_name, load_model, model_folder, models_dir, test_model,
        },
        run_blocking,
    },
};
use tessera_encoder::{Encoder, ModelDescription, SelfTest};
use tessera_model::{AVAILABLE_MODELS, ModelPlan, text::format_bytes};
use tessera_picture::decode::decode;
use tessera_service::Deployment;

pub async fn run_model(context: &Context, command: &ModelCommand) -> CliResult {
    match command {
        ModelCommand::Get { name } => get(context, name).await,
        ModelCommand::Add { folder, name } => add(context, folder, name.as_deref()),
        ModelCommand::List { available: true } => list_available(context),
        ModelCommand::List { available: false } => context.print(&models_document()?),
        ModelCommand::Remove { name } => remove(context, name),
        ModelCommand::Check { folder, pictures } => check(context, folder, pictures),
    }
}

impl From<ModelError> for CliError {
    fn from(error: ModelError) -> Self {
        let ModelError { message, is_usage, kind, remedy } = error;
        let found =
            if is_usage { Self::usage(message) } else { Failure::new(kind, message).into() };
        remedy.into_iter().fold(found, Self::with_remedy)
    }
}

async fn get(context: &Context, name: &str) -> CliResult {
    let download = ModelDownload::plan(name).await?;
    let plan = download.summary();
    for (path, bytes) in download.missing() {
        context.messages.info(format!("{:>10}  {path}", format_bytes(bytes)));
    }
    if plan.files == 0 && !plan.note.is_empty() {
        context.messages.warn(plan.note);
    }
    context.only_plans(&format!("get the model {name}"), None)?;
    if plan.files > 0 && !context.confirm(&question(&plan), "--yes")? {
        return Err(CliError::usage("nothing was downloaded"));
    }
    let bar = Mutex::new(context.messages.progress_bar("download"));
    let progress = |bytes, all| bar.lock().set_bytes(bytes, Some(all));
    download.run(&progress).await?;
    drop(bar);
    context.messages.info(format!("{name} is ready; use it with --model {name}"));
    context.print_for_programs(&models_document()?)
}

fn question(plan: &ModelPlan) -> String {
    let ModelPlan { name, files, bytes, note } = plan;
    let bytes = format_bytes(*bytes);
    if note.is_empty() {
        let files = count_with_noun(*files as u64, "file", "files");
        return format!("Download {files} of {name}, {bytes} in all?");
    }
    format!("{note} {bytes} are downloaded. Make the model {name}?")
}

fn add(context: &Context, folder: &Path, name: Option<&str>) -> CliResult {
    context.only_plans(&format!("add the model in {}", folder.display()), None)?;
    let name = add_model(folder, name)?;
    write_message(&format!("added the model {name}; use it with --model {name}."));
    context.print_for_programs(&models_document()?)
}

pub(super) fn models_document() -> CliResult<Document> {
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
    for (name, folder) in cached_models() {
        let bytes = size(&folder).map_err(unreadable)?;
        rows.push(json!({ "name": name, "bytes": bytes, "folder": folder.display().to_string() }));
    }
    rows.sort_by_key(|row| row["name"].to_string());
    let fields = json!({ "models": Value::Array(rows) });
    Ok(Document::new("tessera.models/1", fields))
}

/// Returns the total size in bytes of the files in a folder and below.
fn size(folder: &Path) -> std::io::Result<u64> {
    fs::read_dir(folder)?.try_fold(0, |sum, entry| {
        let entry = entry?;
        // The files in the cache of a model hub are links.
        let metadata = fs::metadata(entry.path()).or_else(|_| entry.metadata())?;
        Ok(sum + if metadata.is_dir() { size(&entry.path())? } else { metadata.len() })
    })
}

fn remove(context: &Context, name: &str) -> CliResult {
    if let Some((_, folder)) = cached_models().into_iter().find(|(cached, _)| cached == name) {
        let folder = folder.display();
        let message = format!("{name} is in the cache that the hub's own tools share: {folder}");
        return Err(CliError::usage(message).with_remedy("hf cache delete"));
    }
    check_name(name)?;
    let folder = models_dir()?.join(name);
    if folder.exists() {
        context.only_plans(&format!("remove the model {name}"), Some(&folder))?;
    }
    let removed = fs::remove_dir_all(folder);
    match tessera_files::if_exists(removed) {
        Ok(Some(())) => {
            write_message(&format!("removed the model {name}."));
            context.print_for_programs(&models_document()?)
        }
        Ok(None) => Err(CliError::not_found(format!("unknown model `{name}`"))
            .with_remedy("tessera model list")),
        Err(error) => Err(CliError::io(format_args!("remove the model {name}"), &error)),
    }
}

/// Lists some of the models that `tessera model get` can get.
fn list_available(context: &Context) -> CliResult {
    let rows = AVAILABLE_MODELS.iter().map(|model| {
        json!({
            "name": model.name,
            "size": model.size,
            "languages": model.languages,
            "license": model.license,
            "tried": model.tried,
            "purpose": model.purpose,
        })
    });
    let fields = json!({ "models": rows.collect::<Vec<Value>>() });
    context.print(&Document::new("tessera.available_models/1", fields))
}

/// Loads a model, runs it with generated pictures, and shows what was found.
fn check(context: &Context, folder: &Path, pictures: &[PathBuf]) -> CliResult {
    let folder = absolute_path(&model_folder(folder))?;
    let model = load_model(&folder)?;
    let encoded = pictures.iter().map(|picture| encode(&model, picture));
    let encoded = encoded.collect::<CliResult<Vec<Value>>>()?;
    let test = test_model(&folder, &model)?;
    context.print(&document(&folder, &model, &test, &encoded))
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
    Document::new("tessera.model/1", fields)
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

impl LocalService {
    /// Returns what gets models for the datasets of this service.
    pub fn model_provider(&self) -> Arc<dyn ModelProvider> {
        Arc::new(self.deployment.clone())
    }
}

impl ModelProvider for Deployment {
    fn plan(&self, name: String) -> BoxFuture<'_, Result<ModelPlan, Failure>> {
        async move { Ok(ModelDownload::plan(&name).await?.summary()) }.boxed()
    }

    fn get<'a>(
        &'a self,
        name: String,
        progress: ByteProgress<'a>,
    ) -> BoxFuture<'a, Result<PathBuf, Failure>> {
        async move { Ok(ModelDownload::plan(&name).await?.run(progress).await?) }.boxed()
    }

    fn give(&self, dataset: DatasetId, folder: PathBuf) -> BoxFuture<'_, Result<(), Failure>> {
        let give = async move {
            loop {
                let (deployment, folder) = (self.clone(), folder.clone());
                let give = move || deployment.set_model(dataset, &folder).map_err(Failure::from);
                if run_blocking(give).await? {
                    return Ok(());
                }
                // Another task, such as the first indexing of the folder, is running on the dataset.
                self.wait_until_indexed(dataset).await?;
            }
        };
        give.boxed()
    }
}

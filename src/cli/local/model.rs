//! `tessera model`: checks the folder of a model.

use std::path::Path;

use serde_json::{Value, json};

use crate::cli::{
    CliError, CliResult, Column, Document, Exit, Output, context::absolute_path,
    model_command::ModelCommand,
};
use tessera_service::learned_model::{LearnedModel, ModelDescription, SelfTest};

const CHECK_COLUMNS: &[Column] =
    &[Column::new("SUBJECT", "subject"), Column::new("FOUND", "found")];

pub fn run_model(out: &Output, command: &ModelCommand) -> CliResult {
    match command {
        ModelCommand::Check { folder } => check(out, folder),
    }
}

pub(super) fn load_model(folder: &Path) -> CliResult<LearnedModel> {
    LearnedModel::load(folder).map_err(|cause| CliError::usage(cause.to_string()))
}

fn check(out: &Output, folder: &Path) -> CliResult {
    let folder = absolute_path(folder)?;
    let model = load_model(&folder)?;
    let test = SelfTest::run(&model)
        .map_err(|reason| CliError::failed(format!("the model {}: {reason}", folder.display())))?;
    out.print(&document(&folder, &model, &test))?;
    Ok(Exit::Done)
}

fn document(folder: &Path, model: &LearnedModel, test: &SelfTest) -> Document {
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
        "checks": checks(&description, test),
    });
    Document::list("tessera.model/1", fields, "checks", CHECK_COLUMNS)
}

fn checks(description: &ModelDescription, test: &SelfTest) -> Vec<Value> {
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
    rows.into_iter().map(|(subject, found)| json!({ "subject": subject, "found": found })).collect()
}

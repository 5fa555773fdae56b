//! `tessera model check`: loads a model, runs it with generated pictures, and shows what was found.

use std::{
    iter,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::{
    cli::{
        CliError, CliResult, Column, Document, Exit, Output,
        values::{absolute_path, read_bytes_or_stdin},
    },
    usecase::models::{load_model, model_folder, test_model},
};
use tessera_encoder::{Encoder, ModelDescription, SelfTest};
use tessera_picture::decode::decode;

const CHECK_COLUMNS: &[Column] =
    &[Column::new("SUBJECT", "subject"), Column::new("FOUND", "found")];

pub(super) fn check(out: &Output, folder: &Path, pictures: &[PathBuf]) -> CliResult {
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

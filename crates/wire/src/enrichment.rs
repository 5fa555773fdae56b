//! The enrichments of a dataset (`GET enrichment/{id}/context`). The service writes the body in the observed shape. The
//! document shows no shape, so the reader recognizes the names of models anywhere in a response.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::fields::{count, first_text, text};
use tessera_model::{
    AppliedModel, Coverage, Enrichment, EnrichmentModel, ModelFile, ModelStatus, SafeText,
};

/// The enrichments of a dataset, with an identifier of the context.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct EnrichmentBody {
    /// Identifier of the context.
    pub enrichment_context_id: Uuid,
    /// `NEW` if nothing is applied, `COMPLETED` otherwise.
    pub status: &'static str,
    /// What is applied.
    pub dataset_enrichment_models: ModelsBody,
}

/// The enrichments of a dataset.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ModelsBody {
    /// The models by enrichment, for example `CAPTION_IMAGES`.
    pub enrichment_models: BTreeMap<&'static str, ModelBody>,
}

/// The model behind an enrichment.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ModelBody {
    /// Identifier of the model.
    pub id: String,
    /// Metadata.
    pub metadata: ModelMetadataBody,
}

/// Metadata of a model.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ModelMetadataBody {
    /// Description.
    pub description: String,
    /// The name of a model of your own; absent for other models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// When the model was applied: ISO 8601 in UTC, without a zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applied_at: Option<String>,
    /// The number of images and frames with a caption or an imported embedding, only for these two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub covered_media: Option<u64>,
    /// The number of all images and frames, only for captions and imported embeddings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all_media: Option<u64>,
    /// The files of the model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<ModelFileBody>,
}

/// A file of a model.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ModelFileBody {
    /// Path of the file, relative to the folder of the model.
    pub path: String,
    /// Hash of the file, in 64 hexadecimal digits.
    pub sha256: String,
}

/// The maximum number of files that are read per model.
const MAX_FILES: usize = 16;

/// Reads a context of any shape. A model that is not named is unknown, unless the response names other models or says
/// that none is applied yet.
pub fn read_enrichment(value: &Value) -> Enrichment {
    let mentions = EnrichmentModel::ALL.map(|model| find_mention(value, model.as_str()));
    let lists_all = mentions.contains(&Some(true)) || lists_by_type(value);
    let statuses = mentions.map(|mention| match mention {
        Some(true) => ModelStatus::Applied,
        Some(false) => ModelStatus::NotApplied,
        None if lists_all => ModelStatus::NotApplied,
        None => ModelStatus::Unknown,
    });
    let by_type = value.pointer(MODELS).and_then(Value::as_object).into_iter().flatten();
    let models = by_type.map(|(kind, model)| read_model(kind, model)).collect();
    Enrichment { statuses, models, raw: SafeText::caption(&value.to_string()) }
}

/// Reads a model, which is written as its name or as an object that contains the name.
fn read_model(kind: &str, model: &Value) -> AppliedModel {
    let metadata = &model["metadata"];
    let name = |raw: Option<String>| raw.map(|raw| SafeText::name(&raw));
    let files = metadata["files"].as_array().into_iter().flatten().take(MAX_FILES);
    AppliedModel {
        kind: SafeText::name(kind),
        id: name(model.as_str().map(str::to_owned).or_else(|| text(model, "id"))),
        name: name(text(metadata, "name")),
        description: text(metadata, "description").map(|raw| SafeText::detail(&raw)),
        applied_at: name(text(metadata, "applied_at")),
        files: files
            .filter_map(|file| {
                let (path, sha256) = (name(text(file, "path"))?, name(text(file, "sha256"))?);
                Some(ModelFile { path, sha256 })
            })
            .collect(),
        coverage: count(metadata, "covered_media")
            .zip(count(metadata, "all_media"))
            .map(|(covered, all)| Coverage { covered, all }),
    }
}

/// Whether `name` occurs anywhere in `value`, as text or as a key. Returns `Some(false)` if the value of the key
/// negates it.
fn find_mention(value: &Value, name: &str) -> Option<bool> {
    match value {
        Value::String(text) => text.eq_ignore_ascii_case(name).then_some(true),
        Value::Array(items) => items.iter().find_map(|item| find_mention(item, name)),
        Value::Object(map) => map.iter().find_map(|(key, value)| {
            if key.eq_ignore_ascii_case(name) {
                Some(!is_negation(value))
            } else {
                find_mention(value, name)
            }
        }),
        _ => None,
    }
}

const MODELS: &str = "/dataset_enrichment_models/enrichment_models";

/// Whether a value says that a model was not applied.
fn is_negation(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Bool(false))
}

/// Whether the response has the observed shape: a map of all models by type, or an empty map or list with the status
/// `NEW`.
fn lists_by_type(value: &Value) -> bool {
    let is_empty = match value.pointer(MODELS) {
        Some(Value::Object(map)) if !map.is_empty() => {
            return map.values().any(|model| !is_negation(model));
        }
        Some(Value::Object(_)) => true,
        Some(Value::Array(list)) => list.is_empty(),
        _ => false,
    };
    is_empty && first_text(value, &["status"]).as_deref() == Some("NEW")
}

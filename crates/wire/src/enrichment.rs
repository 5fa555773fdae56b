//! `GET enrichment/{id}/context`: the enrichments of a dataset. Written in the observed shape. The
//! document shows none, so names are recognized anywhere in a response.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::lenient::first_text;
use tessera_model::{Enrichment, EnrichmentModel, ModelStatus, SafeText};

/// The context as a service writes it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct EnrichmentBody {
    /// Identifier of the context.
    pub enrichment_context_id: Uuid,
    /// `NEW` when nothing is applied, else `COMPLETED`.
    pub status: &'static str,
    /// What is applied.
    pub dataset_enrichment_models: ModelsBody,
}

/// The enrichments of a dataset.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ModelsBody {
    /// By type, for example `CAPTION_IMAGES`.
    pub enrichment_models: BTreeMap<&'static str, ModelBody>,
}

/// The model behind an enrichment.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ModelBody {
    /// Its name.
    pub id: String,
    /// Metadata.
    pub metadata: ModelMetadataBody,
}

/// Metadata of a model.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ModelMetadataBody {
    /// Description.
    pub description: String,
}

/// Reads a context of any shape. A model that is not named is unknown, unless the response names others
/// or says that none is applied yet.
pub fn read_enrichment(value: &Value) -> Enrichment {
    let mentions = EnrichmentModel::ALL.map(|model| find_mention(value, model.as_str()));
    let lists_all = mentions.contains(&Some(true)) || says_nothing_applied(value);
    let statuses = mentions.map(|mention| match mention {
        Some(true) => ModelStatus::Applied,
        Some(false) => ModelStatus::NotApplied,
        None if lists_all => ModelStatus::NotApplied,
        None => ModelStatus::Unknown,
    });
    Enrichment { statuses, raw: SafeText::caption(&value.to_string()) }
}

/// Whether `name` occurs anywhere in `value`: as text, or as a key, whose value may negate it.
fn find_mention(value: &Value, name: &str) -> Option<bool> {
    match value {
        Value::String(text) => text.eq_ignore_ascii_case(name).then_some(true),
        Value::Array(items) => items.iter().find_map(|item| find_mention(item, name)),
        Value::Object(map) => map.iter().find_map(|(key, value)| {
            if key.eq_ignore_ascii_case(name) {
                Some(!matches!(value, Value::Null | Value::Bool(false)))
            } else {
                find_mention(value, name)
            }
        }),
        _ => None,
    }
}

/// The observed shape without enrichments: `NEW`, and an empty list of models.
fn says_nothing_applied(value: &Value) -> bool {
    let models = value.pointer("/dataset_enrichment_models/enrichment_models");
    let empty = match models {
        Some(Value::Object(map)) => map.is_empty(),
        Some(Value::Array(list)) => list.is_empty(),
        _ => false,
    };
    empty && first_text(value, &["status"]).as_deref() == Some("NEW")
}

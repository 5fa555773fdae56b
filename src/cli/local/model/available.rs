//! `tessera model list --available`: a short list of models that `tessera model get` can get.

use serde_json::{Value, json};

use crate::cli::{CliResult, Column, Context, Document};
use tessera_model::AVAILABLE_MODELS;

const COLUMNS: &[Column] = &[
    Column::new("NAME", "name"),
    Column::new("SIZE", "size"),
    Column::new("LANGUAGES", "languages"),
    Column::new("LICENSE", "license"),
    Column::new("TRIED", "tried"),
    Column::new("FOR", "purpose"),
];

pub(super) fn list(context: &Context) -> CliResult {
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
    context.print(&Document::list("tessera.available_models/1", fields, "models", COLUMNS))
}

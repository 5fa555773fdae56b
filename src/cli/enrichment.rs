//! `tessera enrichment`: shows the models that were applied to a dataset. A model that the service
//! does not mention is unknown.

use tessera_model::{AppliedModel, EnrichmentModel, ModelFile, ModelStatus};

use crate::cli::prelude::*;

#[derive(Debug, Subcommand)]
pub enum EnrichmentCommand {
    /// Show which models were applied: yes, no, or ? if the service does not say.
    Show {
        /// ID or name of the dataset, or its folder.
        dataset: Option<String>,
        /// Include the whole response of the service.
        #[arg(long)]
        raw: bool,
    },
}

/// The number of a hash's digits that a table shows.
const SHOWN_DIGITS: usize = 12;

pub async fn run(context: &Context, command: EnrichmentCommand) -> CliResult {
    let EnrichmentCommand::Show { dataset, raw } = command;
    let work = async |connection: &_, dataset| show(connection, dataset, raw).await;
    context.with_dataset(dataset.as_deref(), &[Endpoint::Enrichment], work).await
}

async fn show(connection: &Connection<'_>, dataset: Dataset, raw: bool) -> CliResult {
    let context = connection.context;
    let enrichment = connection.client.enrichment(dataset.id).await?;
    let known = EnrichmentModel::ALL.into_iter().zip(enrichment.statuses);
    let known = known.map(|(model, status)| {
        row(model.as_str(), status, purpose(model), enrichment.applied(model))
    });
    let is_other = |model: &&AppliedModel| {
        EnrichmentModel::ALL.iter().all(|known| known.as_str() != model.kind.as_str())
    };
    let others = enrichment.models.iter().filter(is_other);
    let others = others.map(|it| row(it.kind.as_str(), ModelStatus::Applied, "", Some(it)));
    let models: Vec<Value> = known.chain(others).collect();
    let mut fields = json!({ "dataset_id": dataset.id, "models": models });
    if raw {
        let body = enrichment.raw.as_str();
        // A very long response was truncated. It is no longer valid JSON and is therefore shown as
        // text.
        fields["raw"] = serde_json::from_str(body).unwrap_or_else(|_| body.into());
        if !context.out.is_machine() {
            return context.print_line(body);
        }
    }
    context.print(&Document::new("tessera.enrichment/1", fields))
}

fn row(kind: &str, status: ModelStatus, purpose: &str, model: Option<&AppliedModel>) -> Value {
    let (applied, word) = match status {
        ModelStatus::Applied => (Some(true), "yes"),
        ModelStatus::NotApplied => (Some(false), "no"),
        ModelStatus::Unknown => (None, "?"),
    };
    let files = model.map(|model| model.files.as_slice()).unwrap_or_default();
    let files = files
        .iter()
        .map(|file| json!({ "path": file.path.as_str(), "sha256": file.sha256.as_str() }));
    let coverage = model.and_then(|model| model.coverage);
    json!({
        "model": kind,
        "applied": applied,
        "id": text(model.and_then(|model| model.id.as_ref())),
        "name": text(model.and_then(|model| model.name.as_ref())),
        "description": text(model.and_then(|model| model.description.as_ref())),
        "applied_at": text(model.and_then(|model| model.applied_at.as_ref())),
        "covered_media": coverage.map(|coverage| coverage.covered),
        "all_media": coverage.map(|coverage| coverage.all),
        "files": files.collect::<Vec<_>>(),
        "_applied": word,
        "_purpose": purpose,
        "_model": model.map(applied_model_text).unwrap_or_default(),
    })
}

fn text(text: Option<&SafeText>) -> Option<&str> {
    text.map(SafeText::as_str)
}

/// Describes a model: its name, when it was applied, the hashes of its ONNX files, and what the service says about it.
fn applied_model_text(model: &AppliedModel) -> String {
    let named = [&model.name, &model.applied_at];
    let mut parts: Vec<String> = named.into_iter().flatten().map(ToString::to_string).collect();
    parts.extend(model.coverage_text());
    if parts.is_empty() {
        parts.extend(model.id.as_ref().map(ToString::to_string));
    }
    let is_onnx = |path: &SafeText| Path::new(path.as_str()).extension() == Some("onnx".as_ref());
    let onnx = model.files.iter().filter(|file| is_onnx(&file.path));
    parts.extend(onnx.map(|ModelFile { path, sha256 }| {
        let digits: String = sha256.as_str().chars().take(SHOWN_DIGITS).collect();
        format!("{path} sha256:{digits}")
    }));
    parts.extend(model.description.as_ref().map(ToString::to_string));
    parts.join(", ")
}

fn purpose(model: EnrichmentModel) -> &'static str {
    match model {
        EnrichmentModel::CaptionImages => "search caption, VQL full text, VQL semantic search",
        EnrichmentModel::ImageTagging => "VQL labels",
        EnrichmentModel::MultimodelImageEncoding => {
            "search by what pictures show, VQL semantic search"
        }
        EnrichmentModel::ObjectDetection => "clusters of objects, VQL object labels",
    }
}

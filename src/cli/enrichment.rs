//! `tessera enrichment`: the models applied to a dataset; unmentioned ones are unknown.

use clap::Subcommand;
use serde_json::{Value, json};

use crate::cli::{CliResult, Column, Connection, Context, Document};
use tessera_client::ApiOperation;
use tessera_model::{EnrichmentModel, ModelStatus};

#[derive(Debug, Subcommand)]
pub enum EnrichmentCommand {
    /// Show which models were applied: yes, no, or ? if the service does not say.
    Show {
        /// ID or name of the dataset.
        dataset: Option<String>,
        /// Include the whole response of the service.
        #[arg(long)]
        raw: bool,
    },
}

const MODEL_COLUMNS: &[Column] =
    &[Column::new("MODEL", "model"), Column::new("APPLIED", "_word"), Column::new("FOR", "_for")];

pub async fn run(context: &Context, command: EnrichmentCommand) -> CliResult {
    let EnrichmentCommand::Show { dataset, raw } = command;
    let work = async |connection: &_| show(connection, dataset.as_deref(), raw).await;
    context.with_connection(&[ApiOperation::Enrichment], work).await
}

async fn show(connection: &Connection<'_>, dataset: Option<&str>, raw: bool) -> CliResult {
    let context = connection.context;
    let dataset = connection.dataset(dataset).await?;
    let enrichment = connection.client.enrichment(dataset.id).await?;
    let models: Vec<Value> = EnrichmentModel::ALL
        .into_iter()
        .zip(enrichment.statuses)
        .map(|(model, applied)| {
            let (applied, word) = match applied {
                ModelStatus::Applied => (Some(true), "yes"),
                ModelStatus::NotApplied => (Some(false), "no"),
                ModelStatus::Unknown => (None, "?"),
            };
            json!({ "model": model.as_str(), "applied": applied, "_word": word, "_for": purpose(model) })
        })
        .collect();
    let mut fields = json!({ "dataset_id": dataset.id, "models": models });
    if raw {
        let body = enrichment.raw.as_str();
        // A very long response was truncated, and is then shown as text.
        fields["raw"] = serde_json::from_str(body).unwrap_or_else(|_| body.into());
        if !context.out.is_machine() {
            return context.print_line(body);
        }
    }
    context.print(&Document::list("tessera.enrichment/1", fields, "models", MODEL_COLUMNS))
}

fn purpose(model: EnrichmentModel) -> &'static str {
    match model {
        EnrichmentModel::CaptionImages => "search caption, VQL full text",
        EnrichmentModel::ImageTagging => "VQL labels",
        EnrichmentModel::MultimodelImageEncoding => "VQL semantic search",
        EnrichmentModel::ObjectDetection => "clusters of objects, VQL object labels",
    }
}

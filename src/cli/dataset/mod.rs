//! `tessera dataset`: lists, shows and watches datasets.

mod pin;
mod reaction;
mod watch;

use clap::Subcommand;
use serde_json::{Value, json};

use self::watch::{ReactionOptions, WatchOptions};
use crate::cli::{CliError, Column, Connection, Context, Document, Exit, polling::now_rfc3339};
use tessera_client::ApiOperation;
use tessera_model::{Dataset, Operation, Permission, Status};
use tessera_wire::dataset::write_dataset;

#[derive(Debug, Subcommand)]
pub enum DatasetCommand {
    /// List the datasets.
    List {
        /// Only datasets with this status.
        #[arg(long, value_name = "STATUS")]
        status: Option<String>,
    },
    /// Show one dataset.
    Show {
        /// ID or name of the dataset.
        dataset: Option<String>,
        /// Show every field as the service sent it.
        #[arg(long)]
        raw: bool,
    },
    /// Pin a dataset that the service does not list to the profile, so that it is listed here.
    Pin {
        /// ID or name of the dataset.
        dataset: Option<String>,
    },
    /// Unpin a dataset from the profile.
    Unpin {
        /// ID or name of the dataset.
        dataset: Option<String>,
    },
    /// Open the interface at a dataset; the same as `tessera tui DATASET`.
    Open {
        /// ID or name of the dataset.
        dataset: Option<String>,
    },
    /// Wait for a dataset to reach a status. Without --until, wait until no operation is running.
    ///
    /// Exits with 0 when the status is reached, with 7 when the dataset is in ERROR, and with 124
    /// when --timeout (default: 24h) expires. Keeps waiting through connection losses.
    Wait {
        #[command(flatten)]
        options: WatchOptions,
    },
    /// Report every change of a dataset until it reaches a status or you interrupt.
    ///
    /// With --json or --jsonl, each event is a JSON object on one line. With --until, it ends like
    /// wait.
    Watch {
        #[command(flatten)]
        looking: WatchOptions,
        #[command(flatten)]
        reaction: ReactionOptions,
    },
}

const LIST_COLUMNS: &[Column] = &[
    Column::new("ID", "id"),
    Column::new("NAME", "display_name"),
    Column::new("STATUS", "status_new"),
    Column::new("%", "progress"),
    Column::new("IMAGES", "n_images"),
    Column::new("VIDEOS", "n_videos"),
];

const RECORD_COLUMNS: &[Column] = &[
    Column::new("id", "id"),
    Column::new("name", "display_name"),
    Column::new("status", "status_new"),
    Column::new("progress", "progress"),
    Column::new("images", "n_images"),
    Column::new("videos", "n_videos"),
    Column::new("owner", "owned_by"),
    Column::new("created", "created_at"),
    Column::new("error", "error"),
];

const FIELD_COLUMNS: &[Column] = &[Column::new("FIELD", "name"), Column::new("VALUE", "value")];

pub async fn run(context: &Context, command: DatasetCommand) -> Result<Exit, CliError> {
    match command {
        DatasetCommand::List { status } => {
            let work = async |connection: &_| list(context, connection, status.as_deref()).await;
            context.with_connection(&[ApiOperation::Datasets], work).await
        }
        DatasetCommand::Show { dataset, raw } => {
            let work =
                async |connection: &_| show(context, connection, dataset.as_deref(), raw).await;
            context.with_connection(&[ApiOperation::Dataset], work).await
        }
        DatasetCommand::Pin { dataset } => pin::pin(context, dataset.as_deref()).await,
        DatasetCommand::Unpin { dataset } => pin::unpin(context, dataset.as_deref()).await,
        // `main` opens the interface.
        DatasetCommand::Open { .. } => {
            let message = "the interface cannot be opened from here; use `tessera tui`";
            Err(CliError::usage(message))
        }
        DatasetCommand::Wait { options: looking } => {
            let work = async |connection: &_| watch::wait(context, connection, &looking).await;
            context.with_connection(&[ApiOperation::Dataset], work).await
        }
        DatasetCommand::Watch { looking, reaction: telling } => {
            let work =
                async |connection: &_| watch::watch(context, connection, &looking, &telling).await;
            context.with_connection(&[ApiOperation::Dataset], work).await
        }
    }
}

async fn list(
    context: &Context,
    connection: &Connection,
    status: Option<&str>,
) -> Result<Exit, CliError> {
    let (mut all, skipped) = connection.client.list_datasets().await?;
    for id in context.pinned_datasets()? {
        if all.iter().any(|dataset| dataset.id == id) {
            continue;
        }
        match connection.client.dataset(id).await {
            Ok(dataset) => all.push(dataset),
            Err(failure) => {
                context.messages.warn(format!("cannot read the pinned dataset {id}: {failure}"));
            }
        }
    }
    let wanted = status.map(Status::parse);
    let rows: Vec<Value> = all
        .iter()
        .filter(|dataset| wanted.as_ref().is_none_or(|wanted| dataset.status == *wanted))
        .map(dataset_document)
        .collect();
    if skipped > 0 {
        context.messages.warn(format!("skipped {skipped} datasets that could not be read"));
    }
    let answer = json!({ "datasets": rows, "skipped": skipped });
    context.print(&Document::list("tessera.datasets/1", answer, "datasets", LIST_COLUMNS))
}

async fn show(
    context: &Context,
    connection: &Connection,
    given: Option<&str>,
    raw: bool,
) -> Result<Exit, CliError> {
    let dataset = context.dataset(connection, given).await?;
    if raw {
        let all = connection.client.dataset_fields(dataset.id).await?;
        let rows: Vec<Value> = all
            .iter()
            .map(|field| json!({ "name": field.name.as_str(), "value": field.value.as_str() }))
            .collect();
        let answer = json!({ "id": dataset.id, "fields": rows });
        return context.print(&Document::list("tessera.record/1", answer, "fields", FIELD_COLUMNS));
    }
    context.print(&Document::one("tessera.dataset/1", dataset_document(&dataset), RECORD_COLUMNS))
}

/// A dataset with what its status permits.
pub fn dataset_document(dataset: &Dataset) -> Value {
    let verdicts = [
        ("text_search", Operation::TextSearch),
        ("search_image", Operation::VisualSearch),
        ("export", Operation::Export),
        ("add_media", Operation::AddMedia),
        ("reindex", Operation::Reindex),
    ]
    .map(|(name, operation)| (name, dataset.status.allows(operation)));
    let allowed: serde_json::Map<_, _> = verdicts
        .iter()
        .map(|(name, verdict)| {
            let allowed = match verdict {
                Permission::Allowed => Value::Bool(true),
                Permission::Denied(_) => Value::Bool(false),
                // The API does not specify it: the response decides.
                Permission::Unspecified | Permission::Confirm => Value::Null,
            };
            ((*name).to_owned(), allowed)
        })
        .collect();
    let reasons: serde_json::Map<_, _> = verdicts
        .iter()
        .filter_map(|(name, verdict)| Some(((*name).to_owned(), verdict.denial_reason()?.into())))
        .collect();
    let mut document = write_dataset(dataset);
    document["_status_is_legacy"] = dataset.status_is_legacy.into();
    document["_allowed"] = allowed.into();
    document["_reasons"] = reasons.into();
    document["_seen_at"] = json!(now_rfc3339());
    document
}

//! `tessera dataset`: lists, shows and pins datasets, and dispatches to `watch`, which waits for a
//! status.

mod watch;

use clap::Subcommand;
use serde_json::{Value, json};
use watch::{ReactionOptions, WatchOptions};

use crate::{
    cli::{
        CliError, CliResult, Column, Connection, Context, Document, Exit, ServiceTarget,
        config::user_file, output::table::plot_clusters, values::now_rfc3339,
    },
    config::{Profile, edit},
};
use tessera_client::Endpoint;
use tessera_model::{Dataset, Operation, Permission, Search, Status, text::count_with_noun};
use tessera_wire::dataset::DatasetBody;

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
        /// Also print the labels, tags and caption words of its largest clusters as bars.
        #[arg(long, conflicts_with = "raw")]
        plot: bool,
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
    /// Wait for a dataset to reach a status. Without --until, wait until no task is running.
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
        options: WatchOptions,
        #[command(flatten)]
        reaction: ReactionOptions,
    },
}

pub async fn run(context: &Context, command: DatasetCommand) -> CliResult {
    match command {
        DatasetCommand::List { status } => {
            let work = async |connection: &_| list(connection, status.as_deref()).await;
            context.with_connection(&[Endpoint::Datasets], work).await
        }
        DatasetCommand::Show { dataset, plot: true, .. } => {
            let work = async |connection: &_| plot(connection, dataset.as_deref()).await;
            context.with_connection(&[Endpoint::Dataset, Endpoint::Explore], work).await
        }
        DatasetCommand::Show { dataset, raw, .. } => {
            let work = async |connection: &_| show(connection, dataset.as_deref(), raw).await;
            context.with_connection(&[Endpoint::Dataset], work).await
        }
        DatasetCommand::Pin { dataset } => pin(context, dataset.as_deref()).await,
        DatasetCommand::Unpin { dataset } => unpin(context, dataset.as_deref()).await,
        // `main` opens the interface before commands are dispatched.
        DatasetCommand::Open { .. } => {
            Err(CliError::usage("the interface cannot be opened from here; use `tessera tui`"))
        }
        DatasetCommand::Wait { options } => {
            let work = async |connection: &_| watch::wait(connection, &options).await;
            context.with_connection(&[Endpoint::Dataset], work).await
        }
        DatasetCommand::Watch { options, reaction } => {
            let work = async |connection: &_| watch::watch(connection, &options, &reaction).await;
            context.with_connection(&[Endpoint::Dataset], work).await
        }
    }
}

const LIST_COLUMNS: &[Column] = &[
    Column::short_id("ID", "id"),
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
    Column::new("error", "fatal_error_msg"),
];

const FIELD_COLUMNS: &[Column] = &[Column::new("FIELD", "name"), Column::new("VALUE", "value")];

async fn list(connection: &Connection<'_>, status: Option<&str>) -> CliResult {
    let context = connection.context;
    let (mut all, skipped) = connection.client.list_datasets().await?;
    let target = context.target()?;
    let pinned = target.options().pinned.iter().filter_map(|id| id.parse().ok());
    for id in pinned {
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
    let status = status.map(Status::parse);
    let rows: Vec<Value> = all
        .iter()
        .filter(|dataset| status.as_ref().is_none_or(|status| dataset.status == *status))
        .map(dataset_document)
        .collect();
    if skipped > 0 {
        let datasets = count_with_noun(skipped, "dataset", "datasets");
        context.messages.warn(format!("skipped {datasets} that could not be read"));
    }
    let fields = json!({ "datasets": rows, "skipped": skipped });
    context.print(&Document::list("tessera.datasets/1", fields, "datasets", LIST_COLUMNS))
}

async fn show(connection: &Connection<'_>, dataset: Option<&str>, raw: bool) -> CliResult {
    let dataset = connection.dataset(dataset).await?;
    if raw {
        let received = connection.client.dataset_fields(dataset.id).await?;
        let rows: Vec<Value> = received
            .iter()
            .map(|field| json!({ "name": field.name.as_str(), "value": field.value.as_str() }))
            .collect();
        let fields = json!({ "id": dataset.id, "fields": rows });
        let document = Document::list("tessera.fields/1", fields, "fields", FIELD_COLUMNS);
        return connection.context.print(&document);
    }
    let fields = dataset_document(&dataset);
    connection.context.print(&Document::one("tessera.dataset/1", fields, RECORD_COLUMNS))
}

/// Prints a dataset, and plots of its first page of clusters.
async fn plot(connection: &Connection<'_>, dataset: Option<&str>) -> CliResult {
    let context = connection.context;
    context.out.require_text("--plot")?;
    let dataset = connection.dataset(dataset).await?;
    let defaults = &context.settings.search;
    let search = Search {
        entity: defaults.entity,
        granularity: defaults.granularity,
        ..Search::browse(dataset.id)
    };
    let page = connection.client.explore(&search).await?;
    let fields = dataset_document(&dataset);
    context.print(&Document::one("tessera.dataset/1", fields, RECORD_COLUMNS))?;
    let plots = plot_clusters(&page.clusters);
    context.out.print_text(&format!("\n{plots}"))?;
    Ok(Exit::Done)
}

fn dataset_document(dataset: &Dataset) -> Value {
    let permissions = [
        ("text_search", Operation::TextSearch),
        ("search_image", Operation::VisualSearch),
        ("export", Operation::Export),
        ("add_media", Operation::AddMedia),
        ("reindex", Operation::Reindex),
    ]
    .map(|(name, operation)| (name, dataset.status.allows(operation)));
    let (mut allowed, mut reasons) = (json!({}), json!({}));
    for (name, permission) in permissions {
        allowed[name] = match permission {
            Permission::Allowed => true.into(),
            Permission::Denied(_) => false.into(),
            // The API does not specify whether this is allowed, so only a response can show it.
            Permission::Unspecified | Permission::Confirm => Value::Null,
        };
        if let Some(reason) = permission.denial_reason() {
            reasons[name] = reason.into();
        }
    }
    let mut document = json!(DatasetBody::new(dataset));
    document["_status_is_legacy"] = dataset.status_is_legacy.into();
    document["_allowed"] = allowed;
    document["_reasons"] = reasons;
    document["_seen_at"] = json!(now_rfc3339());
    document
}

const PIN_COLUMNS: &[Column] =
    &[Column::new("profile", "profile"), Column::new("pinned", "pinned")];

async fn pin(context: &Context, dataset: Option<&str>) -> CliResult {
    let profile = pinning_profile(context)?;
    let id = context.fetch_dataset(dataset).await?.id;
    change_pins(context, &profile, |pinned| {
        if !pinned.contains(&id.to_string()) {
            pinned.push(id.to_string());
        }
    })
}

/// Unpins a dataset by its ID, even if the dataset no longer exists.
async fn unpin(context: &Context, dataset: Option<&str>) -> CliResult {
    let profile = pinning_profile(context)?;
    let id = context.dataset_id(dataset).await?;
    if !profile.options.pinned.contains(&id.to_string()) {
        let message = format!("{id} is not pinned in the profile `{}`", profile.name);
        return Err(CliError::not_found(message));
    }
    change_pins(context, &profile, |pinned| pinned.retain(|each| *each != id.to_string()))
}

fn pinning_profile(context: &Context) -> CliResult<Profile> {
    match context.target()? {
        ServiceTarget::Profile(profile) => Ok(profile),
        ServiceTarget::Address(_) => {
            let message = "pins are stored in a profile, and this deployment has none";
            Err(CliError::usage(message).with_remedy("tessera profile add"))
        }
    }
}

fn change_pins(
    context: &Context,
    profile: &Profile,
    change: impl FnOnce(&mut Vec<String>),
) -> CliResult {
    let mut pinned = profile.options.pinned.clone();
    change(&mut pinned);
    let key = format!("profiles.{}.pinned", profile.name);
    let file = user_file(context)?;
    if context.is_dry_run() {
        context.messages.info(format!("nothing was written to {}", file.display()));
    } else {
        edit::set(&file, &key, &pinned.clone().into()).map_err(CliError::usage)?;
    }
    let fields = json!({ "profile": profile.name, "pinned": pinned });
    context.print(&Document::one("tessera.pins/1", fields, PIN_COLUMNS))
}

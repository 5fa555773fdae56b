//! `tessera dataset`: pins datasets, and dispatches to `record`, which lists and shows datasets, to `local`, which
//! manages datasets of a local service, and to `watch`, which waits for a status.

mod local;
mod record;
mod watch;

use local::EmbeddingsCommand;
pub(super) use record::encoding_document;
use watch::{ReactionOptions, WatchOptions};

use tessera_config::{Profile, edit};
use tessera_model::Status;

use crate::cli::prelude::*;
use crate::cli::{
    PatternOptions,
    analysis::{DatasetSplitOptions, DiverseOptions, LeaksOptions},
    config::user_file,
    input_options::NamedDataset,
    values::status_parser,
};

#[derive(Debug, Subcommand)]
pub enum DatasetCommand {
    /// List the datasets.
    List {
        /// Only datasets with this status.
        #[arg(long, value_name = "STATUS", value_parser = status_parser(), ignore_case = true)]
        status: Option<Status>,
    },
    /// Show one dataset.
    Show {
        /// ID or name of the dataset, or its folder.
        dataset: Option<String>,
        /// Show every field as the service sent it.
        #[arg(long)]
        raw: bool,
        /// Also print how many images and objects have each label, tag and caption word, as bars.
        #[arg(long, conflicts_with = "raw")]
        plot: bool,
    },
    /// Pin a dataset that the service does not list to the profile, so that it is listed here.
    Pin(NamedDataset),
    /// Unpin a dataset from the profile.
    Unpin(NamedDataset),
    /// Remove a dataset of a local folder from the index.
    ///
    /// Its files are not touched. Uploads to the dataset exist nowhere else. They stay in the index folder, and belong
    /// to the dataset again when its folder is opened again.
    Remove(NamedDataset),
    /// Rename a dataset of a local folder.
    ///
    /// The folder keeps its name.
    #[command(allow_missing_positional = true)]
    Rename {
        /// ID or name of the dataset, or its folder.
        dataset: Option<String>,
        /// The new name.
        name: String,
    },
    /// Find the files that were added, changed or removed in a local folder, and index them.
    ///
    /// Patterns in the file `.tessera.toml` of the folder are read again, too.
    Rescan {
        /// ID or name of the dataset, or its folder.
        dataset: Option<String>,
        #[command(flatten)]
        patterns: PatternOptions,
        /// Wait until the changes are indexed. With a local folder, the command always waits.
        #[arg(long)]
        wait: bool,
    },
    /// Cancel the indexing of a dataset of a local folder.
    ///
    /// What was read from its files is kept. The dataset then has the status ERROR, until a rescan continues the
    /// indexing.
    Cancel(NamedDataset),
    /// Divide a dataset into sets such as train, val and test, without near-duplicates across them.
    ///
    /// Near-duplicates and the frames of a video are always in one set. Each set is saved as a selection.
    Split(DatasetSplitOptions),
    /// Select the media that look least like each other.
    ///
    /// Each media item is the one that looks least like those before it. Local folders only.
    Diverse(Box<DiverseOptions>),
    /// Export the vectors of a dataset, or import embeddings that were computed elsewhere.
    ///
    /// Local folders only.
    Embeddings {
        #[command(subcommand)]
        command: EmbeddingsCommand,
    },
    /// List near-duplicates that are in both of two parts of a dataset.
    Leaks(LeaksOptions),
    /// Open the interface at a dataset; the same as `tessera tui DATASET`.
    Open(NamedDataset),
    /// Wait for a dataset to reach a status.
    ///
    /// Without --until, wait until no task is running. Exits with 0 when the status is reached, with 7 when the dataset
    /// is in ERROR, and with 124 when --timeout (default: 24h) expires. Keeps waiting through connection losses.
    Wait(WatchOptions),
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

impl DatasetCommand {
    /// Returns the schema of the document that the command prints after a change.
    pub(super) fn changed_schema(&self) -> Option<&'static str> {
        Some(match self {
            Self::Pin(_) | Self::Unpin(_) => "tessera.pins/1",
            Self::Remove(_) => "tessera.dataset_removal/1",
            Self::Rename { .. } | Self::Cancel(_) => "tessera.dataset/1",
            Self::Rescan { .. } => "tessera.rescan/1",
            Self::Split(_) => "tessera.split_sets/1",
            Self::Diverse(_) => "tessera.diverse_media/1",
            Self::Embeddings { command: EmbeddingsCommand::Export { .. } } => {
                "tessera.embedding_export/1"
            }
            Self::Embeddings { command: EmbeddingsCommand::Import { .. } } => {
                "tessera.embedding_import/1"
            }
            Self::Embeddings { command: EmbeddingsCommand::Remove } => {
                "tessera.embedding_removal/1"
            }
            _ => return None,
        })
    }
}

pub async fn run(context: &Context, command: DatasetCommand) -> CliResult {
    match command {
        DatasetCommand::List { status } => {
            let work = async |connection: &_| record::list(connection, status.as_ref()).await;
            context.with_connection(&[Endpoint::Datasets], work).await
        }
        DatasetCommand::Show { dataset, plot: true, .. } => {
            context.out.require_text("--plot draws")?;
            let requests = &[Endpoint::Dataset, Endpoint::Explore];
            context.with_dataset(dataset.as_deref(), requests, record::plot).await
        }
        DatasetCommand::Show { dataset, raw, .. } => {
            let work = async |connection: &_, dataset| record::show(connection, dataset, raw).await;
            context.with_dataset(dataset.as_deref(), &[Endpoint::Dataset], work).await
        }
        DatasetCommand::Remove(options) => local::remove(context, options.dataset.as_deref()).await,
        DatasetCommand::Rename { dataset, name } => {
            local::rename(context, dataset.as_deref(), &name).await
        }
        DatasetCommand::Rescan { dataset, patterns, wait } => {
            local::rescan(context, dataset.as_deref(), patterns.chosen(), wait).await
        }
        DatasetCommand::Cancel(options) => local::cancel(context, options.dataset.as_deref()).await,
        DatasetCommand::Split(options) => options.run(context).await,
        DatasetCommand::Diverse(options) => options.run(context).await,
        DatasetCommand::Embeddings { command } => command.run(context).await,
        DatasetCommand::Leaks(options) => options.run(context).await,
        DatasetCommand::Pin(options) => pin(context, options.dataset.as_deref()).await,
        DatasetCommand::Unpin(options) => unpin(context, options.dataset.as_deref()).await,
        // `main` opens the interface before commands are dispatched.
        DatasetCommand::Open(_) => {
            Err(CliError::usage("the interface cannot be opened from here; use `tessera tui`"))
        }
        DatasetCommand::Wait(options) => watch::wait(context, &options).await,
        DatasetCommand::Watch { options, reaction } => {
            watch::watch(context, &options, &reaction).await
        }
    }
}

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
    context.target()?.into_saved().ok_or_else(|| {
        let message = "pins are stored in a profile, and this deployment has none";
        CliError::usage(message).with_remedy("tessera profile add")
    })
}

fn change_pins(
    context: &Context,
    profile: &Profile,
    change: impl Fn(&mut Vec<String>),
) -> CliResult {
    let known = &profile.options.pinned;
    let file = user_file(context)?;
    let key = format!("profiles.{}.pinned", profile.name);
    let mut planned = known.clone();
    change(&mut planned);
    context.only_plans(&format!("{key} = [{}]", planned.join(", ")), Some(&file))?;
    let pinned = edit::change_pins(&file, &profile.name, known, change)?;
    let fields = json!({ "profile": profile.name, "pinned": pinned });
    context.print(&Document::new("tessera.pins/1", fields))
}

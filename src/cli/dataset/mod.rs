//! `tessera dataset`: lists, shows and watches datasets.

mod document;
mod list;
mod pin;
mod reaction;
mod wait_goal;
mod watch;

use clap::Subcommand;

use self::watch::{ReactionOptions, WatchOptions};
use crate::cli::{CliError, CliResult, Context};
use tessera_client::ApiOperation;

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
        options: WatchOptions,
        #[command(flatten)]
        reaction: ReactionOptions,
    },
}

pub async fn run(context: &Context, command: DatasetCommand) -> CliResult {
    match command {
        DatasetCommand::List { status } => {
            let work = async |connection: &_| list::list(connection, status.as_deref()).await;
            context.with_connection(&[ApiOperation::Datasets], work).await
        }
        DatasetCommand::Show { dataset, plot: true, .. } => {
            let work = async |connection: &_| list::plot(connection, dataset.as_deref()).await;
            context.with_connection(&[ApiOperation::Dataset, ApiOperation::Explore], work).await
        }
        DatasetCommand::Show { dataset, raw, .. } => {
            let work = async |connection: &_| list::show(connection, dataset.as_deref(), raw).await;
            context.with_connection(&[ApiOperation::Dataset], work).await
        }
        DatasetCommand::Pin { dataset } => pin::pin(context, dataset.as_deref()).await,
        DatasetCommand::Unpin { dataset } => pin::unpin(context, dataset.as_deref()).await,
        // `main` opens the interface.
        DatasetCommand::Open { .. } => {
            Err(CliError::usage("the interface cannot be opened from here; use `tessera tui`"))
        }
        DatasetCommand::Wait { options } => {
            let work = async |connection: &_| watch::wait(connection, &options).await;
            context.with_connection(&[ApiOperation::Dataset], work).await
        }
        DatasetCommand::Watch { options, reaction } => {
            let work = async |connection: &_| watch::watch(connection, &options, &reaction).await;
            context.with_connection(&[ApiOperation::Dataset], work).await
        }
    }
}

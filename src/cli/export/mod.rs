//! `tessera export`: starts, lists, watches, downloads and inspects exports.

mod content;
mod download;
mod inspect;
mod list;
mod lookup;
mod report;
mod start;

use std::{path::PathBuf, time::Duration};

use clap::Subcommand;

use crate::cli::{CliError, Context, Exit, polling::parse_interval};
use tessera_client::ApiOperation;

#[derive(Debug, Subcommand)]
pub enum ExportCommand {
    /// Start an export of a dataset, or of a selection in it.
    Start(start::ExportStartOptions),
    /// List the exports started on this machine.
    List {
        /// Only exports of this dataset: its ID, or its name at the time.
        dataset: Option<String>,
    },
    /// Show the status of an export.
    #[command(allow_missing_positional = true)]
    Status(lookup::ExportLookup),
    /// Wait for an export to finish.
    #[command(allow_missing_positional = true)]
    Watch {
        #[command(flatten)]
        export: lookup::ExportLookup,
        /// Polling interval [default: 1 to 15 seconds, depending on the age of the export].
        #[arg(long, value_name = "DURATION", value_parser = parse_interval)]
        interval: Option<Duration>,
    },
    /// Download and verify the archive of a finished export. Resumes an interrupted download.
    #[command(allow_missing_positional = true)]
    Download {
        #[command(flatten)]
        which: lookup::ExportLookup,
        #[command(flatten)]
        download: download::DownloadOptions,
    },
    /// Show what an archive contains: rows, columns, scores, and whether rows and images match.
    Inspect {
        /// The archive.
        file: PathBuf,
    },
}

pub async fn run(context: &Context, command: ExportCommand) -> Result<Exit, CliError> {
    match command {
        ExportCommand::Start(start) => {
            let about = &[ApiOperation::StartExport, ApiOperation::StartSelection];
            let work = async |connection: &_| start.run(context, connection).await;
            context.with_connection(about, work).await
        }
        ExportCommand::List { dataset } => {
            let work = async |connection: &_| list::list(context, connection, dataset.as_deref());
            context.with_connection(&[], work).await
        }
        ExportCommand::Status(which) => {
            let work = async |connection: &_| list::status(context, connection, &which).await;
            context.with_connection(&[ApiOperation::ExportStatus], work).await
        }
        ExportCommand::Watch { export: which, interval } => {
            let work =
                async |connection: &_| list::watch(context, connection, &which, interval).await;
            context.with_connection(&[ApiOperation::ExportStatus], work).await
        }
        ExportCommand::Download { which, download: place } => {
            let about = &[ApiOperation::ExportStatus, ApiOperation::Download];
            let work = async |connection: &_| {
                download::download(context, connection, &which, &place).await
            };
            context.with_connection(about, work).await
        }
        ExportCommand::Inspect { file } => inspect::inspect(context, file).await,
    }
}

//! `tessera export`: starts, lists, watches, downloads and inspects exports.

mod archive;
mod content;
mod download;
mod inspect;
mod list;
mod lookup;
mod report;
mod start;

use std::{path::PathBuf, time::Duration};

use clap::Subcommand;

use crate::cli::{CliResult, Context, value_parsers::parse_interval};
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
        export: lookup::ExportLookup,
        #[command(flatten)]
        options: download::DownloadOptions,
    },
    /// Show what an archive contains: rows, columns, scores, and whether rows and images match.
    Inspect {
        /// The archive.
        file: PathBuf,
    },
}

const REQUESTS: &[ApiOperation] = &[
    ApiOperation::StartExport,
    ApiOperation::StartSelection,
    ApiOperation::ExportStatus,
    ApiOperation::Download,
];

pub async fn run(context: &Context, command: ExportCommand) -> CliResult {
    match command {
        ExportCommand::Start(options) => {
            let work = async |connection: &_| options.run(connection).await;
            context.with_connection(REQUESTS, work).await
        }
        ExportCommand::List { dataset } => {
            let work = async |connection: &_| list::list(connection, dataset.as_deref());
            context.with_connection(REQUESTS, work).await
        }
        ExportCommand::Status(export) => {
            let work = async |connection: &_| list::status(connection, &export).await;
            context.with_connection(REQUESTS, work).await
        }
        ExportCommand::Watch { export, interval } => {
            let work = async |connection: &_| list::watch(connection, &export, interval).await;
            context.with_connection(REQUESTS, work).await
        }
        ExportCommand::Download { export, options } => {
            let work =
                async |connection: &_| download::download(connection, &export, &options).await;
            context.with_connection(REQUESTS, work).await
        }
        ExportCommand::Inspect { file } => inspect::inspect(context, file).await,
    }
}

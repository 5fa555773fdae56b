//! `tessera export`: start exports, follow them, fetch their archives, and look inside.

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
use tessera_client::ApiOperation as Request;

/// The commands.
#[derive(Debug, Subcommand)]
pub enum ExportCommand {
    /// Start an export of a dataset, or of a selection of it.
    Start(start::ExportStartOptions),
    /// List the exports that were started here.
    List {
        /// Only those of this dataset: its id, or its name when it was exported.
        dataset: Option<String>,
    },
    /// Show where an export stands.
    #[command(allow_missing_positional = true)]
    Status(lookup::ExportLookup),
    /// Follow an export to its end.
    #[command(allow_missing_positional = true)]
    Watch {
        /// Which one.
        #[command(flatten)]
        export: lookup::ExportLookup,
        /// Time between two questions; else 1 to 15 seconds, by its age.
        #[arg(long, value_name = "DURATION", value_parser = parse_interval)]
        interval: Option<Duration>,
    },
    /// Fetch the archive of a finished export, verified; an interrupted download goes on.
    #[command(allow_missing_positional = true)]
    Download {
        /// Which one.
        #[command(flatten)]
        which: lookup::ExportLookup,
        /// Where it goes.
        #[command(flatten)]
        download: download::DownloadOptions,
    },
    /// Look inside an archive: rows, columns, scores, and whether rows and pictures belong together.
    Inspect {
        /// The archive.
        file: PathBuf,
    },
}

/// Runs one of them.
///
/// # Errors
/// Whatever keeps the answer away.
pub async fn run(context: &Context, command: ExportCommand) -> Result<Exit, CliError> {
    match command {
        ExportCommand::Start(start) => {
            let about = &[Request::StartExport, Request::StartSelection];
            let work = async |connection: &_| start.run(context, connection).await;
            context.with_connection(about, work).await
        }
        ExportCommand::List { dataset } => {
            let work = async |connection: &_| list::list(context, connection, dataset.as_deref());
            context.with_connection(&[], work).await
        }
        ExportCommand::Status(which) => {
            let work = async |connection: &_| list::status(context, connection, &which).await;
            context.with_connection(&[Request::ExportStatus], work).await
        }
        ExportCommand::Watch { export: which, interval } => {
            let work =
                async |connection: &_| list::watch(context, connection, &which, interval).await;
            context.with_connection(&[Request::ExportStatus], work).await
        }
        ExportCommand::Download { which, download: place } => {
            let about = &[Request::ExportStatus, Request::Download];
            let work = async |connection: &_| {
                download::download(context, connection, &which, &place).await
            };
            context.with_connection(about, work).await
        }
        ExportCommand::Inspect { file } => inspect::inspect(context, file).await,
    }
}

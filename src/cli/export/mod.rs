//! `tessera export`: start exports, follow them, fetch their archives, and look inside.

mod fetch;
mod inspect;
mod list;
mod report;
mod start;
mod what;
mod which;

use std::{path::PathBuf, time::Duration};

use clap::Subcommand;

use crate::cli::{Context, Ended, Exit, follow::parse_interval};
use tessera_client::Operation as Request;

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Export {
    /// Start an export of a dataset, or of a selection of it.
    Start(start::Start),
    /// List the exports that were started here.
    List {
        /// Only those of this dataset: its id, or its name when it was exported.
        dataset: Option<String>,
    },
    /// Show where an export stands.
    #[command(allow_missing_positional = true)]
    Status(which::Which),
    /// Follow an export to its end.
    #[command(allow_missing_positional = true)]
    Watch {
        /// Which one.
        #[command(flatten)]
        which: which::Which,
        /// Time between two questions; else 1 to 15 seconds, by its age.
        #[arg(long, value_name = "DURATION", value_parser = parse_interval)]
        interval: Option<Duration>,
    },
    /// Fetch the archive of a finished export, verified; an interrupted download goes on.
    #[command(allow_missing_positional = true)]
    Download {
        /// Which one.
        #[command(flatten)]
        which: which::Which,
        /// Where it goes.
        #[command(flatten)]
        place: fetch::Place,
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
pub async fn run(context: &Context, command: Export) -> Result<Exit, Ended> {
    match command {
        Export::Start(start) => {
            let about = &[Request::StartExport, Request::StartSelection];
            let work = async |connection: &_| start.run(context, connection).await;
            context.at(about, work).await
        }
        Export::List { dataset } => {
            let work = async |connection: &_| list::list(context, connection, dataset.as_deref());
            context.at(&[], work).await
        }
        Export::Status(which) => {
            let work = async |connection: &_| list::status(context, connection, &which).await;
            context.at(&[Request::ExportStatus], work).await
        }
        Export::Watch { which, interval } => {
            let work =
                async |connection: &_| list::watch(context, connection, &which, interval).await;
            context.at(&[Request::ExportStatus], work).await
        }
        Export::Download { which, place } => {
            let about = &[Request::ExportStatus, Request::Download];
            let work =
                async |connection: &_| fetch::download(context, connection, &which, &place).await;
            context.at(about, work).await
        }
        Export::Inspect { file } => inspect::inspect(context, file).await,
    }
}

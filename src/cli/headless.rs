//! Runs the commands that need no interface.

use std::{pin::pin, time::Duration};

use tokio::time::timeout;

use super::{
    CliError, CliResult, Context, HeadlessCommand, api, auth, dataset, enrichment, export, image,
    jobs, media, profile, query, reindex, search, selection, set_algebra,
};

const INTERRUPT_GRACE: Duration = Duration::from_secs(1);

pub async fn run(context: &Context, command: HeadlessCommand) -> CliResult {
    let work = async {
        match command {
            HeadlessCommand::Api(command) => api::run(context, command).await,
            HeadlessCommand::Auth(command) => auth::run(context, command).await,
            HeadlessCommand::Dataset(command) => dataset::run(context, command).await,
            HeadlessCommand::Enrichment(command) => enrichment::run(context, command).await,
            HeadlessCommand::Export(command) => export::run(context, command).await,
            HeadlessCommand::Image(command) => image::run(context, command).await,
            HeadlessCommand::Jobs(command) => jobs::run(context, command).await,
            HeadlessCommand::Media(command) => media::run(context, command).await,
            HeadlessCommand::Profile(command) => profile::run(context, command),
            HeadlessCommand::Query(command) => query::run(context, command).await,
            HeadlessCommand::Reindex(options) => reindex::run(context, options).await,
            HeadlessCommand::Search(command) => search::run(context, command).await,
            HeadlessCommand::Selection(command) => selection::run(context, command).await,
            HeadlessCommand::Set(command) => set_algebra::run(context, &command),
        }
    };
    let mut work = pin!(work);
    tokio::select! {
        // The handler of the signal comes first, so that it is installed before anything is printed.
        biased;
        interrupted = tokio::signal::ctrl_c() => {
            interrupted.map_err(|error| CliError::io("wait for a signal", &error))?;
            if context.notify_interrupt() && let Ok(outcome) = timeout(INTERRUPT_GRACE, work).await {
                return outcome;
            }
            // The second interrupt ends the program at once.
            Err(CliError::interrupted())
        }
        outcome = &mut work => outcome,
    }
}

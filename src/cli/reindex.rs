//! `tessera reindex`: sends the request once. If the response is lost, the dataset's status shows
//! whether the request was accepted.

use tessera_interface::command_lines::{ProfilerCommand, profiler_command_line};
use tessera_model::{FailureKind, JobKind, Operation};
use tessera_wire::add_media::Accepted;

use crate::cli::prelude::*;
use crate::cli::{JobRecorder, values::timestamp_now};

#[derive(Debug, Args)]
pub struct ReindexOptions {
    /// ID or name of the dataset, or its folder.
    dataset: Option<String>,
    /// Wait until the dataset is READY again. With a local folder, the command always waits.
    #[arg(long)]
    wait: bool,
    /// Send even if the status of the dataset forbids it.
    #[arg(long)]
    force: bool,
    /// Print the `run_profiler.sh` command line for an on-premises deployment, and send nothing.
    #[arg(long)]
    print_script: bool,
}

pub async fn run(context: &Context, options: ReindexOptions) -> CliResult {
    let work = async |connection: &_, dataset| run_reindex(connection, dataset, &options).await;
    context.with_dataset(options.dataset.as_deref(), &[Endpoint::Reindex], work).await
}

async fn run_reindex(
    connection: &Connection<'_>,
    mut dataset: Dataset,
    options: &ReindexOptions,
) -> CliResult {
    let context = connection.context;
    if options.print_script {
        if !connection.client.service().is_on_premises() {
            return Err(CliError::usage("run_profiler.sh is for on-premises deployments"));
        }
        return context.print_line(profiler_command_line(dataset.id, ProfilerCommand::Reindex));
    }
    context.require_allowed(&dataset, Operation::Reindex, options.force)?;
    if !context.is_dry_run() && !context.confirm(&confirmation_question(&dataset), "--yes")? {
        return Err(CliError::failed("not sent"));
    }
    let mut recorder = send_reindex(connection, &dataset).await?;
    let status = if connection.waits(options.wait) {
        Some(recorder.follow_operation(&mut dataset).await?)
    } else {
        let command = connection.suggestion("tessera dataset wait", dataset.id);
        context.messages.info(format!("accepted; wait for it with: {command}"));
        None
    };
    let fields = json!({
        "dataset_id": dataset.id,
        "display_name": dataset.name.received(),
        "accepted": true,
        "status_new": status.as_ref().map(SafeText::as_str),
    });
    context.print(&Document::new("tessera.reindex/1", fields))
}

fn confirmation_question(dataset: &Dataset) -> String {
    let count = dataset.media_text().map(|count| format!(" of {count}")).unwrap_or_default();
    format!(
        "{}: full re-clustering{count}; adding media and exporting wait until READY, and clusters get new \
         ids. Reindex it?",
        dataset.name
    )
}

pub async fn send_reindex<'a>(
    connection: &'a Connection<'a>,
    dataset: &Dataset,
) -> CliResult<JobRecorder<'a>> {
    let mut recorder = JobRecorder::begin(connection, dataset, JobKind::Reindex);
    let accepted = match connection.client.reindex(dataset.id).await {
        Ok(accepted) => accepted,
        Err(failure) => verify_accepted(connection, dataset, failure, &mut recorder).await?,
    };
    recorder.apply(|job| job.operation_accepted(timestamp_now(), accepted));
    Ok(recorder)
}

async fn verify_accepted(
    connection: &Connection<'_>,
    dataset: &Dataset,
    failure: Failure,
    recorder: &mut JobRecorder<'_>,
) -> CliResult<Accepted> {
    let context = connection.context;
    if !failure.may_have_taken_effect() {
        recorder.set_failed(&failure);
        return Err(match failure.kind {
            FailureKind::Conflict => conflict_error(connection, dataset, failure).await,
            _ => failure.into(),
        });
    }
    context.messages.info(format!("{}; checking whether it was accepted", failure_text(&failure)));
    if let Some((now, accepted)) = connection.client.find_acceptance(dataset).await {
        context.messages.info(format!("it was: {} is {}", now.name, now.status.as_str()));
        return Ok(accepted);
    }
    recorder.set_failed(&failure);
    let message = format!("{}; it was probably not accepted", failure_text(&failure));
    let remedy = connection.suggestion("tessera dataset show", dataset.id);
    let error = CliError::from(failure).with_code("may_have_started");
    Err(error.with_message(message).with_remedy(remedy))
}

/// Returns the failure without its remedy, for messages that have a better one.
fn failure_text(failure: &Failure) -> String {
    Failure { remedy: None, ..failure.clone() }.to_string()
}

async fn conflict_error(
    connection: &Connection<'_>,
    dataset: &Dataset,
    failure: Failure,
) -> CliError {
    let Ok(now) = connection.client.dataset(dataset.id).await else { return failure.into() };
    let reason = now.status.allows(Operation::Reindex).denial_reason();
    let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    let (conflict, status) = (failure_text(&failure), now.status.as_str());
    let message = format!("{conflict}; {} is {status} now{reason}", now.name);
    let error = CliError::from(failure).with_message(message);
    if now.status.is_busy() {
        return error.with_remedy(connection.suggestion("tessera dataset wait", now.id));
    }
    error
}

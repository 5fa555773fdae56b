//! `tessera dataset wait` and `tessera dataset watch`: polls a dataset until it reaches a status.

use std::time::Duration;

use clap::Args;

use super::{document::dataset_document, reaction::ChangeReaction, wait_goal::WaitGoal};
use crate::cli::{
    CliError, CliResult, Column, Connection, Document, Exit, polling::Poller,
    timestamps::timestamp_now, value_parsers::parse_interval,
};
use tessera_model::{Dataset, DatasetId, JobKind, SavedJobState};

/// For this long after an addition was accepted, the service may still report the previous status.
const SETTLING_TIME: Duration = Duration::from_mins(1);

const STATUS_COLUMNS: &[Column] = &[Column::new("status", "status_new")];

/// Options of `wait` and `watch`.
#[derive(Debug, Args)]
pub struct WatchOptions {
    /// ID or name of the dataset.
    dataset: Option<String>,
    /// Statuses to wait for, for example `READY,PARTIAL_INDEX`.
    #[arg(long, value_name = "STATUS", value_delimiter = ',')]
    until: Vec<String>,
    /// Polling interval [default: 1s, backing off to 15s].
    #[arg(long, value_name = "DURATION", value_parser = parse_interval)]
    interval: Option<Duration>,
}

/// Further options of `watch`.
#[derive(Debug, Args)]
pub struct ReactionOptions {
    /// Run this command with `sh -c` at each status change. The event is in `TESSERA_EVENT`,
    /// `TESSERA_DATASET`, `TESSERA_DATASET_NAME`, `TESSERA_FROM`, `TESSERA_TO` and
    /// `TESSERA_PROGRESS`. The command gets no secrets, and polling continues when it has finished.
    #[arg(long, value_name = "COMMAND")]
    on_change: Option<String>,
    /// Ring the bell at each status change, and send a desktop notification if the terminal
    /// supports it.
    #[arg(long)]
    notify: bool,
}

pub(super) async fn wait(connection: &Connection<'_>, options: &WatchOptions) -> CliResult {
    let context = connection.context;
    let dataset = connection.dataset(options.dataset.as_deref()).await?;
    let goal = WaitGoal::parse(context, &options.until);
    let settling = remaining_settling(connection, dataset.id);
    let mut poller = Poller::new(context, options.interval);
    let outcome = poll_until(&mut poller, connection, dataset, &goal, settling, None).await;
    if context.out.is_jsonl() {
        poller.emit_end(&outcome)?;
        return outcome.map(|_| Exit::Done);
    }
    context.print(&Document::one("tessera.dataset/1", dataset_document(&outcome?), STATUS_COLUMNS))
}

/// Without `--until`, ERROR is a change like any other.
pub(super) async fn watch(
    connection: &Connection<'_>,
    options: &WatchOptions,
    reaction: &ReactionOptions,
) -> CliResult {
    let context = connection.context;
    let dataset = connection.dataset(options.dataset.as_deref()).await?;
    let goal = match options.until.as_slice() {
        [] => WaitGoal::Never,
        until => WaitGoal::parse(context, until),
    };
    let reaction = ChangeReaction::new(context, reaction.on_change.as_deref(), reaction.notify);
    let mut poller = Poller::stream(context, options.interval);
    let outcome =
        poll_until(&mut poller, connection, dataset, &goal, Duration::ZERO, Some(&reaction)).await;
    poller.emit_end(&outcome)?;
    outcome.map(|_| Exit::Done)
}

/// Returns the dataset. An interrupt is an error, so that the stream of events ends properly.
async fn poll_until(
    poller: &mut Poller<'_>,
    connection: &Connection<'_>,
    mut dataset: Dataset,
    goal: &WaitGoal,
    settling: Duration,
    reaction: Option<&ChangeReaction<'_>>,
) -> CliResult<Dataset> {
    let (id, messages) = (dataset.id, connection.context.messages);
    let (mut has_changed, mut hinted) = (false, None);
    let work = async {
        loop {
            if let Some(change) = poller.observe(&dataset)? {
                has_changed |= change.from.is_some();
                if let Some(reaction) = reaction {
                    reaction.react(&dataset, &change).await?;
                }
            }
            let settled = has_changed || dataset.status.is_busy() || poller.elapsed() >= settling;
            if let Some(reached) = goal.reached(&dataset).filter(|_| settled) {
                return reached.map(|()| dataset);
            }
            if settled && hinted.as_ref() != Some(&dataset.status) {
                if let Some(hint) = goal.hint(&dataset) {
                    messages.info(hint);
                }
                hinted = Some(dataset.status.clone());
            }
            poller.wait_for_dataset().await?;
            dataset = poller.fetch_dataset(connection, id).await?;
        }
    };
    let outcome = connection.context.until_interrupted(work).await;
    outcome.unwrap_or_else(|| Err(CliError::interrupted()))
}

/// How long an idle status may still be the one from before an addition of ours.
fn remaining_settling(connection: &Connection<'_>, dataset: DatasetId) -> Duration {
    let stored = connection.journal.jobs().unwrap_or_else(|failure| {
        connection.context.messages.warn(failure.to_string());
        Vec::new()
    });
    let accepted = stored.into_iter().map(|stored| stored.job).filter(|job| {
        job.dataset == dataset
            && matches!(job.kind, JobKind::AddMedia(_))
            && matches!(job.state, SavedJobState::Accepted)
    });
    let newest = accepted.map(|job| job.started_at).max();
    newest.map_or(Duration::ZERO, |started| {
        SETTLING_TIME.saturating_sub(timestamp_now().saturating_sub(started))
    })
}

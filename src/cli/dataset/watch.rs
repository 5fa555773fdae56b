//! `tessera dataset wait` and `tessera dataset watch`: polls a dataset until it reaches a status.

use std::time::Duration;

use super::{dataset_document, reaction::ChangeReaction};
use crate::cli::{
    CliError, Column, Connection, Context, Document, Exit,
    polling::{Poller, parse_interval, timestamp_now},
};
use clap::Args;
use tessera_model::{Dataset, DatasetId, JobKind, SavedJobState, Status};

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

/// Waits until the goal is reached, and prints the dataset.
pub(super) async fn wait(
    context: &Context,
    connection: &Connection,
    looking: &WatchOptions,
) -> Result<Exit, CliError> {
    let dataset = context.dataset(connection, looking.dataset.as_deref()).await?;
    let goal = WaitGoal::from_words(context, &looking.until);
    let settling = remaining_settling(context, connection, dataset.id);
    let mut follow = Poller::new(context, looking.interval);
    let looking = poll_until(&mut follow, connection, dataset, &goal, settling, None);
    let outcome = interruptible(context, looking).await;
    if context.out.is_jsonl() {
        follow.emit_end(&outcome)?;
        return outcome.map(|_| Exit::Done);
    }
    context.print(&Document::one("tessera.dataset/1", dataset_document(&outcome?), STATUS_COLUMNS))
}

/// Reports every change until the goal is reached or the user interrupts. Without `--until`, ERROR
/// is a change like any other.
pub(super) async fn watch(
    context: &Context,
    connection: &Connection,
    looking: &WatchOptions,
    telling: &ReactionOptions,
) -> Result<Exit, CliError> {
    let dataset = context.dataset(connection, looking.dataset.as_deref()).await?;
    let goal = match looking.until.as_slice() {
        [] => WaitGoal::Never,
        until => WaitGoal::from_words(context, until),
    };
    let reaction = ChangeReaction::new(context, telling.on_change.as_deref(), telling.notify);
    let mut follow = Poller::stream(context, looking.interval);
    let looking =
        poll_until(&mut follow, connection, dataset, &goal, Duration::ZERO, Some(&reaction));
    let outcome = interruptible(context, looking).await;
    follow.emit_end(&outcome)?;
    outcome.map(|_| Exit::Done)
}

/// Ends the stream of events properly when the user interrupts.
async fn interruptible<T>(
    context: &Context,
    looking: impl Future<Output = Result<T, CliError>>,
) -> Result<T, CliError> {
    let guard = context.handle_interrupt();
    tokio::select! {
        outcome = looking => outcome,
        () = guard.interrupted() => Err(CliError::interrupted()),
    }
}

/// The statuses that end polling.
enum WaitGoal {
    /// Polls until interrupted.
    Never,
    /// Any status without a running operation.
    Rest,
    AnyOf(Vec<Status>),
}

impl WaitGoal {
    fn from_words(context: &Context, words: &[String]) -> Self {
        let wanted: Vec<Status> = words.iter().map(|word| Status::parse(word)).collect();
        for status in &wanted {
            if let Status::Other(word) = status {
                context.messages.warn(format!("{word} is not a known status"));
            }
        }
        if wanted.is_empty() { Self::Rest } else { Self::AnyOf(wanted) }
    }

    /// Whether the goal is reached, or unreachable because the dataset is in ERROR.
    fn reached(&self, dataset: &Dataset) -> Option<Result<(), CliError>> {
        let there = match self {
            Self::Never => return None,
            Self::Rest => !dataset.status.is_busy() && dataset.status != Status::Error,
            Self::AnyOf(wanted) => wanted.contains(&dataset.status),
        };
        match dataset.status {
            _ if there => Some(Ok(())),
            Status::Error => {
                let words = dataset.error.as_ref().map(|words| format!(": {words}"));
                let message = format!("{} is in ERROR{}", dataset.name, words.unwrap_or_default());
                let remedy = format!("tessera dataset show {} --raw", dataset.id);
                Some(Err(CliError::new(Exit::Remote, message).with_remedy(remedy)))
            }
            _ => None,
        }
    }

    /// What has to happen first when the dataset stays in another status.
    fn hint(&self, dataset: &Dataset) -> Option<String> {
        let Self::AnyOf(wanted) = self else { return None };
        let (name, id) = (&dataset.name, dataset.id);
        match dataset.status {
            Status::PartialIndex if wanted.contains(&Status::Ready) => Some(format!(
                "{name} stays in PARTIAL INDEX: its new media are visible, and it becomes READY after \
                 a reindex: tessera reindex {id}"
            )),
            Status::Ready | Status::PartialIndex => Some(format!(
                "{name} stays in {} until media are added or it is reindexed",
                dataset.status.as_str()
            )),
            Status::ReadOnly | Status::Indexing | Status::Error | Status::Other(_) => None,
        }
    }
}

/// Polls until the goal is reached, and returns the dataset.
async fn poll_until(
    follow: &mut Poller<'_>,
    connection: &Connection,
    mut dataset: Dataset,
    goal: &WaitGoal,
    settling: Duration,
    reaction: Option<&ChangeReaction<'_>>,
) -> Result<Dataset, CliError> {
    let id = dataset.id;
    let mut moved = false;
    let mut hinted = None;
    loop {
        if let Some(change) = follow.observe(&dataset)? {
            moved |= change.from.is_some();
            if let Some(reaction) = reaction {
                reaction.react(&dataset, &change).await?;
            }
        }
        let settled = moved || dataset.status.is_busy() || follow.elapsed() >= settling;
        if let Some(reached) = goal.reached(&dataset).filter(|_| settled) {
            return reached.map(|()| dataset);
        }
        if settled && hinted.as_ref() != Some(&dataset.status) {
            if let Some(hint) = goal.hint(&dataset) {
                follow.info(&hint);
            }
            hinted = Some(dataset.status.clone());
        }
        follow.wait(follow.watch()).await?;
        dataset = follow.fetch_dataset(connection, id).await?;
    }
}

/// How long an idle status may still be the one from before an addition of ours.
fn remaining_settling(context: &Context, connection: &Connection, dataset: DatasetId) -> Duration {
    let stored = connection.journal.jobs().unwrap_or_else(|failure| {
        context.messages.warn(failure.to_string());
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use tessera_wire::dataset::read_dataset;

    fn dataset(status: &str) -> Dataset {
        let id = "ad48d250-0000-11f1-bfca-000000000001";
        let record = json!({ "id": id, "display_name": "x", "status_new": status });
        read_dataset(&record).unwrap()
    }

    #[test]
    fn a_goal_is_reached_or_cannot_be_or_needs_somebody() {
        let ready = WaitGoal::AnyOf(vec![Status::Ready]);
        let code = |goal: &WaitGoal, status: &str| {
            let reached = goal.reached(&dataset(status));
            reached.map(|reached| reached.err().map_or(Exit::Done, |error| error.exit))
        };
        for (status, until_ready, until_rest) in [
            ("READY", Some(Exit::Done), Some(Exit::Done)),
            ("PARTIAL INDEX", None, Some(Exit::Done)),
            ("READ ONLY", None, None),
            ("INDEXING", None, None),
            ("ERROR", Some(Exit::Remote), Some(Exit::Remote)),
            ("UPLOADING", None, None),
        ] {
            assert_eq!(code(&ready, status), until_ready, "{status}");
            assert_eq!(code(&WaitGoal::Rest, status), until_rest, "{status}");
            assert_eq!(code(&WaitGoal::Never, status), None, "{status}");
        }
        assert_eq!(code(&WaitGoal::AnyOf(vec![Status::Error]), "ERROR"), Some(Exit::Done));
        assert!(ready.hint(&dataset("PARTIAL INDEX")).unwrap().contains("tessera reindex"));
        assert!(ready.hint(&dataset("INDEXING")).is_none());
    }
}

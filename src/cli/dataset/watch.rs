//! `tessera dataset wait` and `tessera dataset watch`: polls a dataset until it reaches a status, and reacts to each
//! change with a command, the bell or a notification.

use std::{
    io,
    process::{Command, Stdio},
};

use crate::cli::prelude::*;
use crate::{
    cli::{
        dataset::record::dataset_document,
        polling::{EventTarget, Poller, StatusChange},
        values::{parse_interval, status_parser, timestamp_now},
    },
    subprocess,
};
use tessera_model::{JobKind, SavedJobState, Status};

/// How long the service may still report the previous status after it has accepted an addition.
const SETTLING_TIME: Duration = Duration::from_mins(1);

/// Options of `wait` and `watch`.
#[derive(Debug, Args)]
pub struct WatchOptions {
    /// ID or name of the dataset, or its folder.
    dataset: Option<String>,
    /// Statuses to wait for, for example `READY,PARTIAL_INDEX`.
    #[arg(long, value_name = "STATUS", value_delimiter = ',', value_parser = status_parser(), ignore_case = true)]
    until: Vec<Status>,
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

pub(super) async fn wait(context: &Context, options: &WatchOptions) -> CliResult {
    let goal = WaitGoal::of(&options.until);
    let work = async |connection: &Connection<'_>, dataset: Dataset| {
        let settling = remaining_settling(connection, dataset.id);
        let poller = Poller::new(context, options.interval);
        let mut poller = poller.with_events(EventTarget::Lines);
        let outcome = poll_until(&mut poller, connection, dataset, &goal, settling, None).await;
        if context.out.is_jsonl() {
            poller.emit_end(&outcome)?;
            return outcome.map(|_| Exit::Done);
        }
        let document = Document::new("tessera.dataset/1", dataset_document(&outcome?));
        context.print(&document.with_table("status of a dataset"))
    };
    context.with_dataset(options.dataset.as_deref(), &[Endpoint::Dataset], work).await
}

/// Reports changes until a goal is reached. Without `--until`, ERROR is a change like any other.
pub(super) async fn watch(
    context: &Context,
    options: &WatchOptions,
    reaction: &ReactionOptions,
) -> CliResult {
    let goal = match options.until.as_slice() {
        [] => WaitGoal::Never,
        until => WaitGoal::of(until),
    };
    if reaction.notify && !context.messages.is_terminal() {
        context.messages.warn("--notify has no effect: standard error is not a terminal");
    }
    let work = async |connection: &Connection<'_>, dataset: Dataset| {
        let mut poller = Poller::stream(context, options.interval);
        let reaction = Some(reaction);
        let outcome =
            poll_until(&mut poller, connection, dataset, &goal, Duration::ZERO, reaction).await;
        poller.emit_end(&outcome)?;
        outcome.map(|_| Exit::Done)
    };
    context.with_dataset(options.dataset.as_deref(), &[Endpoint::Dataset], work).await
}

/// Waits until no task of a dataset is running.
pub(super) async fn wait_until_idle(
    connection: &Connection<'_>,
    dataset: Dataset,
) -> CliResult<Dataset> {
    let mut poller = Poller::new(connection.context, None);
    poll_until(&mut poller, connection, dataset, &WaitGoal::Rest, Duration::ZERO, None).await
}

/// Polls until the goal is reached, and returns the dataset. An interrupt is an error, so that the
/// stream of events ends properly.
async fn poll_until(
    poller: &mut Poller<'_>,
    connection: &Connection<'_>,
    mut dataset: Dataset,
    goal: &WaitGoal,
    settling: Duration,
    reaction: Option<&ReactionOptions>,
) -> CliResult<Dataset> {
    let (id, messages) = (dataset.id, connection.context.messages);
    let (mut has_changed, mut hinted) = (false, None);
    let work = async {
        loop {
            if let Some(change) = poller.observe(&dataset)? {
                has_changed |= change.from.is_some();
                if let Some(reaction) = reaction {
                    reaction.react(connection.context, &dataset, &change).await?;
                }
            }
            let settled = has_changed || dataset.status.is_busy() || poller.elapsed() >= settling;
            if let Some(reached) = goal.reached(&dataset).filter(|_| settled) {
                let show = || connection.suggestion("tessera dataset show --raw", id);
                return reached.map_err(|error| error.with_remedy(show())).map(|()| dataset);
            }
            if settled && hinted.as_ref() != Some(&dataset.status) {
                let reindex = connection.suggestion("tessera reindex", id);
                let reindex = reindex.text(connection.context.confirming_option());
                if let Some(hint) = goal.hint(&dataset, &reindex) {
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

/// Returns how long an idle status may still be the status from before an addition of this machine.
fn remaining_settling(connection: &Connection<'_>, dataset: DatasetId) -> Duration {
    let stored = connection.state.jobs().unwrap_or_else(|failure| {
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

enum WaitGoal {
    /// Poll until interrupted.
    Never,
    /// Any status in which no task is running.
    Rest,
    AnyOf(Vec<Status>),
}

impl WaitGoal {
    /// Returns the goal of `--until`. Without any status, the goal is that no task is running.
    fn of(statuses: &[Status]) -> Self {
        if statuses.is_empty() { Self::Rest } else { Self::AnyOf(statuses.to_vec()) }
    }

    /// Returns the result once the goal is reached, or once it is unreachable because the dataset
    /// is in ERROR.
    fn reached(&self, dataset: &Dataset) -> Option<CliResult<()>> {
        let reached = match self {
            Self::Never => return None,
            Self::Rest => !dataset.status.is_busy() && dataset.status != Status::Error,
            Self::AnyOf(statuses) => statuses.contains(&dataset.status),
        };
        match dataset.status {
            _ if reached => Some(Ok(())),
            Status::Error => {
                let error = dataset.error.as_ref().map(|error| format!(": {error}"));
                let message = format!("{} is in ERROR{}", dataset.name, error.unwrap_or_default());
                Some(Err(CliError::new(Exit::Remote, message)))
            }
            _ => None,
        }
    }

    /// Explains what has to happen first if the dataset stays in another status.
    fn hint(&self, dataset: &Dataset, reindex: &ShellCommand) -> Option<String> {
        let Self::AnyOf(statuses) = self else { return None };
        let name = &dataset.name;
        match dataset.status {
            Status::PartialIndex if statuses.contains(&Status::Ready) => Some(format!(
                "{name} stays in PARTIAL INDEX: its new media are visible, and it becomes READY after \
                 a reindex: {reindex}"
            )),
            Status::Ready | Status::PartialIndex => Some(format!(
                "{name} stays in {} until media are added or it is reindexed",
                dataset.status.as_str()
            )),
            Status::ReadOnly | Status::Indexing | Status::Error | Status::Other(_) => None,
        }
    }
}

impl ReactionOptions {
    /// Reacts to a change. The initial status is not a change.
    async fn react(
        &self,
        context: &Context,
        dataset: &Dataset,
        change: &StatusChange,
    ) -> CliResult<()> {
        let Some(from) = &change.from else { return Ok(()) };
        if self.notify {
            let text = SafeText::detail(&format!("{}: {}", dataset.name, change.to.as_str()));
            context.messages.notify(&text);
        }
        let Some(command) = &self.on_change else { return Ok(()) };
        let mut command = change_command(command, dataset, from, &change.to);
        let run = tokio::task::spawn_blocking(move || command.status()).await;
        let status = run.map_err(|error| CliError::failed(error.to_string()))?;
        let status = status.map_err(|error| CliError::io("run the --on-change command", &error))?;
        if !status.success() {
            context.messages.warn(format!("the --on-change command failed: {status}"));
        }
        Ok(())
    }
}

/// Creates the command that runs at a change. The event is passed in the environment, so that text
/// from the service never becomes part of the shell's command line. The output of the command goes
/// to standard error, because standard output is for the events.
fn change_command(line: &str, dataset: &Dataset, from: &Status, to: &Status) -> Command {
    let mut command = subprocess::command("sh");
    command.args(["-c", line]);
    command.env("TESSERA_EVENT", "status");
    command.env("TESSERA_DATASET", dataset.id.to_string());
    command.env("TESSERA_DATASET_NAME", dataset.name.as_str());
    command.env("TESSERA_FROM", from.as_str()).env("TESSERA_TO", to.as_str());
    let progress = dataset.progress.map(|progress| progress.to_string());
    command.env("TESSERA_PROGRESS", progress.unwrap_or_default());
    command.stdin(Stdio::null()).stdout(io::stderr());
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use tessera_wire::{dataset::read_dataset, fields::Fields};

    fn dataset(status: &str) -> Dataset {
        let id = "ad48d250-0000-11f1-bfca-000000000001";
        let record = json!({ "id": id, "display_name": "x", "status_new": status });
        read_dataset(Fields::from(&record)).unwrap()
    }

    #[test]
    fn a_goal_is_reached_or_unreachable_or_needs_a_hint() {
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
        let reindex = "tessera reindex".into();
        let hint = |status| ready.hint(&dataset(status), &reindex);
        assert!(hint("PARTIAL INDEX").unwrap().contains("tessera reindex"));
        assert!(hint("INDEXING").is_none());
    }
}

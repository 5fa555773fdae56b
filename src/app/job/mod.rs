//! A job: something a person started that takes time, from the wish to its end.
//!
//! One state machine for all kinds; what each answer means is told per kind in the files beside.
//! What follows from a step (a notice, a line of the timeline, an entry of the journal) is done in
//! one place, `track`, by comparing before and after.

mod dataset_jobs;
mod export_jobs;
mod export_transitions;
mod history;
mod persistence;
mod tracking;

use crate::{
    app::{Remote, Uptime},
    message::JobId,
};
pub use history::{JobHistory, Transition};
pub use tessera_model::operation_tracker::{OperationStatus, OperationTracker};
use tessera_model::{
    Archive, DatasetId, ExportJob, ExportTask, ExportTaskId, Failure, JobKind, MediaAddition,
    SafeText, Timestamp,
    polling::{PollTarget, PollingIntervals},
};

/// A job this program started, now or in an earlier run.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Its number in this run of the program.
    pub id: JobId,
    /// The dataset it works on.
    pub dataset: DatasetId,
    /// Its name when the job was started.
    pub dataset_name: SafeText,
    /// What it does.
    pub work: JobKind,
    /// When it was started.
    pub started_at: Timestamp,
    /// When it ended, in whatever way.
    pub ended_at: Option<Timestamp>,
    /// Where it stands.
    pub state: JobState,
    /// The way of its dataset, when the job is about the dataset itself.
    pub dataset_progress: Option<OperationTracker>,
    /// The states it went through.
    pub history: JobHistory,
    /// Whether a person has looked at it since it ended.
    pub acknowledged: bool,
}

/// Where a job stands.
#[derive(Clone, Debug, PartialEq)]
pub enum JobState {
    /// Waits on this machine until its dataset is free.
    Queued(Box<MediaAddition>),
    /// Sent, not yet acknowledged.
    Starting,
    /// Media are being sent: bytes so far, bytes in all.
    Uploading(u64, Option<u64>),
    /// The service works on the dataset; how far is told by the course.
    DatasetRunning,
    /// The dataset has come to rest in this status.
    DatasetDone(SafeText),
    /// At work; the last word of the service is kept when it stops answering.
    ExportRunning(ExportTaskId, Remote<ExportTask>),
    /// Ready to be fetched.
    ExportReady(ExportTaskId),
    /// Being fetched: bytes so far, bytes in all.
    Downloading(ExportTaskId, u64, Option<u64>),
    /// On this machine, verified.
    Downloaded(Archive),
    /// Over, badly.
    Failed(Failure),
    /// The service may or may not have started it; only the person can decide.
    Uncertain(Failure),
    /// Not watched any more; the service goes on. The export, to watch it again.
    Unwatched(Option<ExportTaskId>),
    /// Another running copy of the program follows it.
    OtherInstance(Option<ExportTaskId>),
}

impl JobState {
    /// The id of the export at the service, once it is known.
    #[must_use]
    pub fn export_task(&self) -> Option<ExportTaskId> {
        match self {
            Self::ExportRunning(task, _)
            | Self::ExportReady(task)
            | Self::Downloading(task, ..) => Some(*task),
            Self::Unwatched(task) | Self::OtherInstance(task) => *task,
            Self::Queued(_)
            | Self::Starting
            | Self::Uploading(..)
            | Self::DatasetRunning
            | Self::DatasetDone(_)
            | Self::Downloaded(_)
            | Self::Failed(_)
            | Self::Uncertain(_) => None,
        }
    }
}

impl Job {
    /// A job that is about to be sent.
    #[must_use]
    pub fn new(
        id: JobId,
        (dataset, dataset_name): (DatasetId, SafeText),
        work: JobKind,
        started_at: Timestamp,
    ) -> Self {
        Self {
            id,
            dataset,
            dataset_name,
            work,
            started_at,
            ended_at: None,
            state: JobState::Starting,
            dataset_progress: None,
            history: JobHistory::default(),
            acknowledged: false,
        }
    }

    /// The word of its stage on screen; the service's own where there is one.
    #[must_use]
    pub fn label(&self) -> &str {
        match &self.state {
            JobState::Queued(_) => "queued here",
            JobState::Starting => "starting",
            JobState::Uploading(..) => "uploading",
            JobState::DatasetRunning => {
                self.dataset_progress.as_ref().map_or("accepted", OperationTracker::status_label)
            }
            JobState::DatasetDone(word) => word.as_str(),
            JobState::ExportRunning(_, task) => {
                task.value().map_or("PENDING", |task| task.state.word())
            }
            JobState::ExportReady(_) => "COMPLETED",
            JobState::Downloading(..) => "downloading",
            JobState::Downloaded(_) => "downloaded",
            JobState::Failed(_) => "FAILED",
            JobState::Uncertain(_) => "may have started",
            JobState::Unwatched(_) => "not watched",
            JobState::OtherInstance(_) => "elsewhere",
        }
    }

    /// Whether something is still going on.
    #[must_use]
    pub fn is_active(&self) -> bool {
        match self.state {
            JobState::Queued(_)
            | JobState::Starting
            | JobState::Uploading(..)
            | JobState::DatasetRunning
            | JobState::ExportRunning(..)
            | JobState::Downloading(..) => true,
            JobState::DatasetDone(_)
            | JobState::ExportReady(_)
            | JobState::Downloaded(_)
            | JobState::Failed(_)
            | JobState::Uncertain(_)
            | JobState::Unwatched(_)
            | JobState::OtherInstance(_) => false,
        }
    }

    /// Whether it ended badly and nobody has looked at it.
    #[must_use]
    pub fn is_unread_failure(&self) -> bool {
        !self.acknowledged && matches!(self.state, JobState::Failed(_) | JobState::Uncertain(_))
    }

    /// The export, when it is one.
    #[must_use]
    pub fn export(&self) -> Option<&ExportJob> {
        match &self.work {
            JobKind::Export(export) => Some(export),
            JobKind::AddMedia(_) | JobKind::Reindex => None,
        }
    }

    /// The id of the export at the service, once it is known.
    #[must_use]
    pub fn task(&self) -> Option<ExportTaskId> {
        self.state.export_task()
    }

    /// Done and in all, in bytes or percent, while that is known.
    #[must_use]
    pub fn progress(&self) -> Option<(u64, u64)> {
        match &self.state {
            JobState::ExportRunning(_, task) => Some((task.value()?.progress?.into(), 100)),
            JobState::DatasetRunning => {
                Some((self.dataset_progress.as_ref()?.percent()?.into(), 100))
            }
            JobState::Uploading(done, Some(total))
            | JobState::Downloading(_, done, Some(total))
                if *total > 0 =>
            {
                Some((*done, *total))
            }
            _ => None,
        }
    }

    /// Part done, 0.0-1.0, where it is known.
    #[must_use]
    pub fn fraction_done(&self) -> Option<f64> {
        if matches!(
            self.state,
            JobState::DatasetDone(_) | JobState::ExportReady(_) | JobState::Downloaded(_)
        ) {
            return Some(1.0);
        }
        let (done, total) = self.progress()?;
        #[expect(clippy::cast_precision_loss, reason = "a part for a gauge")]
        Some((done as f64 / total as f64).min(1.0))
    }

    /// When to ask for its state again, if it is an export that is watched.
    #[must_use]
    pub fn next_poll(&self, clock: Timestamp, cadence: PollingIntervals) -> Option<Uptime> {
        let JobState::ExportRunning(_, remote) = &self.state else { return None };
        let age = clock.saturating_sub(self.started_at);
        remote.due(Some(cadence.interval(PollTarget::Export(age), remote.failures())))
    }

    /// How long it took, or has taken.
    #[must_use]
    pub fn elapsed(&self, clock: Timestamp) -> std::time::Duration {
        self.ended_at.unwrap_or(clock).saturating_sub(self.started_at)
    }
}

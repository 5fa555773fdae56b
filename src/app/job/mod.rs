//! A job: something a person started that takes time, from the wish to its end.
//!
//! One state machine for all kinds; what each answer means is told per kind in the files beside.
//! What follows from a step (a notice, a line of the timeline, an entry of the journal) is done in
//! one place, `track`, by comparing before and after.

mod export;
mod journal;
mod operation;
mod steps;
mod timeline;
mod track;

use crate::{
    app::{Moment, Remote},
    message::JobId,
};
pub use tessera_model::course::{Course, Seen};
use tessera_model::{
    AddMedia, Archive, DatasetId, Export, ExportTask, ExportTaskId, Failure, SafeText, Stamp, Work,
    cadence::{Cadence, Watch},
};
pub use timeline::{Step, Timeline};

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
    pub work: Work,
    /// When it was started.
    pub started: Stamp,
    /// When it ended, in whatever way.
    pub ended: Option<Stamp>,
    /// Where it stands.
    pub stage: Stage,
    /// The way of its dataset, when the job is about the dataset itself.
    pub course: Option<Course>,
    /// The states it went through.
    pub timeline: Timeline,
    /// Whether a person has looked at it since it ended.
    pub looked_at: bool,
}

/// Where a job stands.
#[derive(Clone, Debug, PartialEq)]
pub enum Stage {
    /// Waits on this machine until its dataset is free.
    Queued(Box<AddMedia>),
    /// Sent, not yet acknowledged.
    Starting,
    /// Media are being sent: bytes so far, bytes in all.
    Sending(u64, Option<u64>),
    /// The service works on the dataset; how far is told by the course.
    Following,
    /// The dataset has come to rest in this status.
    Done(SafeText),
    /// At work; the last word of the service is kept when it stops answering.
    Running(ExportTaskId, Remote<ExportTask>),
    /// Ready to be fetched.
    Completed(ExportTaskId),
    /// Being fetched: bytes so far, bytes in all.
    Downloading(ExportTaskId, u64, Option<u64>),
    /// On this machine, verified.
    Downloaded(Archive),
    /// Over, badly.
    Failed(Failure),
    /// The service may or may not have started it; only the person can decide (M19).
    Uncertain(Failure),
    /// Not watched any more; the service goes on. The export, to watch it again.
    Unwatched(Option<ExportTaskId>),
    /// Another running copy of the program follows it.
    Elsewhere(Option<ExportTaskId>),
}

impl Stage {
    /// The id of the export at the service, once it is known.
    #[must_use]
    pub fn task(&self) -> Option<ExportTaskId> {
        match self {
            Self::Running(task, _) | Self::Completed(task) | Self::Downloading(task, ..) => {
                Some(*task)
            }
            Self::Unwatched(task) | Self::Elsewhere(task) => *task,
            Self::Queued(_)
            | Self::Starting
            | Self::Sending(..)
            | Self::Following
            | Self::Done(_)
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
        work: Work,
        started: Stamp,
    ) -> Self {
        Self {
            id,
            dataset,
            dataset_name,
            work,
            started,
            ended: None,
            stage: Stage::Starting,
            course: None,
            timeline: Timeline::default(),
            looked_at: false,
        }
    }

    /// The word of its stage on screen; the service's own where there is one.
    #[must_use]
    pub fn word(&self) -> &str {
        match &self.stage {
            Stage::Queued(_) => "queued here",
            Stage::Starting => "starting",
            Stage::Sending(..) => "uploading",
            Stage::Following => self.course.as_ref().map_or("accepted", Course::word),
            Stage::Done(word) => word.as_str(),
            Stage::Running(_, task) => task.value().map_or("PENDING", |task| task.state.word()),
            Stage::Completed(_) => "COMPLETED",
            Stage::Downloading(..) => "downloading",
            Stage::Downloaded(_) => "downloaded",
            Stage::Failed(_) => "FAILED",
            Stage::Uncertain(_) => "may have started",
            Stage::Unwatched(_) => "not watched",
            Stage::Elsewhere(_) => "elsewhere",
        }
    }

    /// Whether something is still going on.
    #[must_use]
    pub fn is_active(&self) -> bool {
        match self.stage {
            Stage::Queued(_)
            | Stage::Starting
            | Stage::Sending(..)
            | Stage::Following
            | Stage::Running(..)
            | Stage::Downloading(..) => true,
            Stage::Done(_)
            | Stage::Completed(_)
            | Stage::Downloaded(_)
            | Stage::Failed(_)
            | Stage::Uncertain(_)
            | Stage::Unwatched(_)
            | Stage::Elsewhere(_) => false,
        }
    }

    /// Whether it ended badly and nobody has looked at it.
    #[must_use]
    pub fn is_unread_failure(&self) -> bool {
        !self.looked_at && matches!(self.stage, Stage::Failed(_) | Stage::Uncertain(_))
    }

    /// The export, when it is one.
    #[must_use]
    pub fn export(&self) -> Option<&Export> {
        match &self.work {
            Work::Export(export) => Some(export),
            Work::AddMedia(_) | Work::Reindex => None,
        }
    }

    /// The id of the export at the service, once it is known.
    #[must_use]
    pub fn task(&self) -> Option<ExportTaskId> {
        self.stage.task()
    }

    /// Done and in all, in bytes or percent, while that is known.
    #[must_use]
    pub fn measure(&self) -> Option<(u64, u64)> {
        match &self.stage {
            Stage::Running(_, task) => Some((task.value()?.progress?.into(), 100)),
            Stage::Following => Some((self.course.as_ref()?.percent()?.into(), 100)),
            Stage::Sending(done, Some(total)) | Stage::Downloading(_, done, Some(total))
                if *total > 0 =>
            {
                Some((*done, *total))
            }
            _ => None,
        }
    }

    /// Part done, 0.0-1.0, where it is known.
    #[must_use]
    pub fn part(&self) -> Option<f64> {
        if matches!(self.stage, Stage::Done(_) | Stage::Completed(_) | Stage::Downloaded(_)) {
            return Some(1.0);
        }
        let (done, total) = self.measure()?;
        #[expect(clippy::cast_precision_loss, reason = "a part for a gauge")]
        Some((done as f64 / total as f64).min(1.0))
    }

    /// When to ask for its state again, if it is an export that is watched.
    #[must_use]
    pub fn due(&self, clock: Stamp, cadence: Cadence) -> Option<Moment> {
        let Stage::Running(_, remote) = &self.stage else { return None };
        let age = clock.saturating_sub(self.started);
        remote.due(Some(cadence.interval(Watch::Export(age), remote.failures())))
    }

    /// How long it took, or has taken.
    #[must_use]
    pub fn elapsed(&self, clock: Stamp) -> std::time::Duration {
        self.ended.unwrap_or(clock).saturating_sub(self.started)
    }
}

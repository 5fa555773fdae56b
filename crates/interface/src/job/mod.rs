//! Runs the state machine of a job (an export, an addition or a reindex) from the request to its end. The interface and
//! the commands run the same machine. Come here to change how a job continues after a response, and what is saved of a
//! job. Only `transitions` changes a state.

mod history;
mod transitions;

use std::time::Duration;

use tessera_model::{
    Archive, DatasetId, ExportJob, ExportTask, ExportTaskId, FailedExport, Failure, FailureKind,
    JobKind, JobRecord, MediaAddition, SafeText, SavedJobState, Timestamp,
    polling::{PollTarget, PollingIntervals},
    task_tracker::TaskTracker,
};

use crate::remote::{Remote, Uptime};

pub use history::{JobHistory, Transition};

/// Identifies a job within this run of the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JobId(pub u32);

#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// The job's number in this run of the program.
    pub id: JobId,
    pub dataset: DatasetId,
    /// The dataset's name when the job was started.
    pub dataset_name: SafeText,
    pub kind: JobKind,
    pub started_at: Timestamp,
    /// When the service had finished the work. A later download of the archive does not change this time.
    ended_at: Option<Timestamp>,
    /// Whether the job was active when its state was recorded last.
    was_active: bool,
    state: JobState,
    /// When the export was first reported as completed, because its link may never arrive.
    completed_at: Option<Uptime>,
    /// How often in a row the service has answered that it does not know the export.
    unknown_polls: u32,
    /// Follows the dataset's status during an addition or a reindex. It is there while the dataset is running.
    tracker: Option<TaskTracker>,
    history: JobHistory,
}

/// The dataset of a job, with its name when the job starts.
#[derive(Clone, Debug)]
pub struct JobDataset {
    pub id: DatasetId,
    pub name: SafeText,
}

#[derive(Clone, Debug, PartialEq)]
pub enum JobState {
    /// The addition waits on this machine until its dataset is free.
    Queued(Box<MediaAddition>),
    /// The request was sent, but is not yet acknowledged.
    Starting,
    /// Media are being sent: bytes so far, and bytes in all.
    Uploading(u64, Option<u64>),
    /// A model is being downloaded: bytes so far, and bytes in all.
    GettingModel(u64, Option<u64>),
    /// The media are being encoded: media so far, and media in all.
    Encoding(u64, Option<u64>),
    /// The service works on the dataset. The tracker has the progress.
    DatasetRunning,
    /// The task ended with the dataset in this status.
    DatasetDone(SafeText),
    /// The service exports. Its last response is kept if the service stops responding.
    ExportRunning(ExportTaskId, Remote<ExportTask>),
    ExportReady(ExportTaskId),
    /// The archive is being downloaded: bytes so far, and bytes in all.
    Downloading(ExportTaskId, u64, Option<u64>),
    /// The archive is on this machine and verified.
    Downloaded(Archive, ExportTaskId),
    /// The reason of the failure, and the export if the service has accepted one.
    Failed(Failure, Option<FailedExport>),
    /// The service may or may not have started the job, and only the user can decide how to
    /// continue.
    Uncertain(Failure),
    /// The job is no longer watched, while the service continues. Contains the export, so that it
    /// can be watched again.
    Unwatched(Option<ExportTaskId>),
    /// Another running copy of the program follows the job. Contains the state that the other copy
    /// has saved.
    OtherInstance(Box<Self>),
}

impl JobState {
    pub fn export_task(&self) -> Option<ExportTaskId> {
        match self {
            Self::ExportRunning(task, _)
            | Self::ExportReady(task)
            | Self::Downloading(task, ..)
            | Self::Downloaded(_, task) => Some(*task),
            Self::Unwatched(task) => *task,
            Self::OtherInstance(saved) => saved.export_task(),
            Self::Failed(_, export) => export.as_ref().map(|export| export.id),
            _ => None,
        }
    }

    /// Returns whether this machine has media that the service does not have yet.
    pub fn is_unsent(&self) -> bool {
        matches!(self, Self::Queued(_) | Self::Uploading(..))
    }

    /// Returns this state, or the final state of a job that another instance followed.
    pub fn or_end_elsewhere(&self) -> &Self {
        match self {
            Self::OtherInstance(saved) if saved.has_ended() => saved,
            state => state,
        }
    }

    /// Returns whether nothing changes any more unless the user acts.
    pub fn has_ended(&self) -> bool {
        matches!(
            self,
            Self::DatasetDone(_) | Self::ExportReady(_) | Self::Downloaded(..) | Self::Failed(..)
        )
    }

    pub fn is_active(&self) -> bool {
        matches!(
            self,
            Self::Queued(_)
                | Self::Starting
                | Self::Uploading(..)
                | Self::GettingModel(..)
                | Self::Encoding(..)
                | Self::DatasetRunning
                | Self::ExportRunning(..)
                | Self::Downloading(..)
        )
    }
}

impl Job {
    pub fn state(&self) -> &JobState {
        &self.state
    }

    pub fn history(&self) -> &JobHistory {
        &self.history
    }

    pub fn tracker(&self) -> Option<&TaskTracker> {
        self.tracker.as_ref()
    }

    /// Returns when the service had finished the work, unless the archive is being downloaded.
    pub fn ended_at(&self) -> Option<Timestamp> {
        self.ended_at.filter(|_| !self.is_active())
    }

    /// Returns the state as shown on screen. The service's own status is used if there is one.
    pub fn label(&self) -> &str {
        match self.state.or_end_elsewhere() {
            JobState::Queued(_) => "queued here",
            JobState::Starting => "starting",
            JobState::Uploading(..) => "uploading",
            JobState::Encoding(..) => "encoding",
            JobState::DatasetRunning => {
                self.tracker.as_ref().map_or("accepted", TaskTracker::status_label)
            }
            JobState::DatasetDone(status) => status.as_str(),
            JobState::ExportRunning(_, task) => {
                task.value().map_or("PENDING", |task| task.state.as_str())
            }
            JobState::ExportReady(_) => "COMPLETED",
            JobState::GettingModel(..) | JobState::Downloading(..) => "downloading",
            JobState::Downloaded(..) => "downloaded",
            JobState::Failed(_, Some(export)) => export.status.as_str(),
            JobState::Failed(_, None) => FailedExport::STATUS,
            JobState::Uncertain(_) => "may have started",
            JobState::Unwatched(_) => "not watched",
            JobState::OtherInstance(_) => "elsewhere",
        }
    }

    pub fn is_active(&self) -> bool {
        self.state.is_active()
    }

    pub fn export(&self) -> Option<&ExportJob> {
        self.kind.export()
    }

    /// Returns the done and total amounts, in bytes or percent, if both are known.
    pub fn progress(&self) -> Option<(u64, u64)> {
        match &self.state {
            JobState::ExportRunning(_, task) => Some((task.value()?.progress?.into(), 100)),
            JobState::DatasetRunning => Some((self.tracker.as_ref()?.percent()?.into(), 100)),
            JobState::Uploading(done, Some(total))
            | JobState::GettingModel(done, Some(total))
            | JobState::Encoding(done, Some(total))
            | JobState::Downloading(_, done, Some(total))
                if *total > 0 =>
            {
                Some((*done, *total))
            }
            _ => None,
        }
    }

    /// Returns the fraction that is done, from 0.0 to 1.0, if it is known.
    pub fn fraction_done(&self) -> Option<f64> {
        if matches!(
            self.state.or_end_elsewhere(),
            JobState::DatasetDone(_) | JobState::ExportReady(_) | JobState::Downloaded(..)
        ) {
            return Some(1.0);
        }
        let (done, total) = self.progress()?;
        #[expect(clippy::cast_precision_loss, reason = "a fraction for a progress bar")]
        Some((done as f64 / total as f64).min(1.0))
    }

    pub fn next_poll(&self, clock: Timestamp, intervals: PollingIntervals) -> Option<Uptime> {
        let JobState::ExportRunning(_, remote) = &self.state else { return None };
        let age = clock.saturating_sub(self.started_at);
        remote.due(Some(intervals.interval(PollTarget::Export(age), remote.failures())))
    }

    pub fn elapsed(&self, clock: Timestamp) -> Duration {
        self.ended_at.unwrap_or(clock).saturating_sub(self.started_at)
    }

    /// Returns what to announce about a job that has just ended, unless the user ended it or
    /// another copy follows it.
    pub fn end_message(&self) -> Option<SafeText> {
        let outcome = match &self.state {
            JobState::Failed(..) => "failed",
            JobState::Uncertain(_) => "may have started: check it",
            JobState::ExportReady(_) => "is ready to download",
            JobState::Downloaded(..) => "is downloaded and verified",
            JobState::DatasetDone(_) => "is done",
            _ => return None,
        };
        Some(SafeText::detail(&format!("{} of {} {outcome}", self.kind.label(), self.dataset_name)))
    }

    /// Returns what is saved of the job, or `None` for a job of another running copy, which saves
    /// the job itself.
    pub fn record(&self) -> Option<JobRecord> {
        let text = Failure::to_safe_text;
        let state = match &self.state {
            JobState::Queued(_) => SavedJobState::Queued,
            JobState::Starting | JobState::Uploading(..) | JobState::GettingModel(..) => {
                SavedJobState::Sent
            }
            JobState::Encoding(..) | JobState::DatasetRunning => SavedJobState::Accepted,
            JobState::ExportRunning(task, _) => SavedJobState::Running { export_task_id: *task },
            JobState::ExportReady(task) | JobState::Downloading(task, ..) => {
                SavedJobState::Completed { export_task_id: *task }
            }
            JobState::Downloaded(archive, task) => {
                SavedJobState::Downloaded { archive: archive.clone(), export_task_id: *task }
            }
            JobState::DatasetDone(status) => SavedJobState::Done { status_new: status.clone() },
            JobState::Failed(failure, export) => {
                SavedJobState::Failed { reason: text(failure), export: export.clone() }
            }
            JobState::Uncertain(failure) => SavedJobState::Uncertain { reason: text(failure) },
            JobState::Unwatched(task) => SavedJobState::Unwatched { export_task_id: *task },
            JobState::OtherInstance(_) => return None,
        };
        Some(JobRecord {
            started_at: self.started_at,
            ended_at: self.ended_at,
            dataset: self.dataset,
            dataset_name: self.dataset_name.clone(),
            kind: self.kind.clone(),
            state,
        })
    }

    /// Returns the job as it continues after a restart.
    pub fn resume(id: JobId, record: JobRecord) -> Self {
        let dataset = JobDataset { id: record.dataset, name: record.dataset_name };
        let job = Self::new(id, dataset, record.kind, record.started_at);
        let mut job = Self {
            ended_at: record.ended_at,
            was_active: record.ended_at.is_none(),
            state: resumed_state(record.state, &job.kind),
            ..job
        };
        if job.state == JobState::DatasetRunning {
            job.follow_dataset();
        }
        if let Some(ended) = job.ended_at() {
            let label = job.label().to_owned();
            job.history.record(ended, &label, None);
        }
        job
    }

    /// Returns the job as another running copy of the program follows it.
    pub fn of_other_instance(self) -> Self {
        Self { state: JobState::OtherInstance(Box::new(self.state)), ..self }
    }
}

/// What continues a download of a model that was stopped.
const RESUME_REMEDY: &str = "Get the model again: the download resumes";

fn resumed_state(saved: SavedJobState, kind: &JobKind) -> JobState {
    match saved {
        SavedJobState::Queued => {
            let failure = Failure::local("the program ended before the media were sent");
            JobState::Failed(failure.with_remedy("Add the media again"), None)
        }
        SavedJobState::Sent if matches!(kind, JobKind::GetModel(_)) => {
            let failure = Failure::local("the program ended before the model was downloaded");
            JobState::Failed(failure.with_remedy(RESUME_REMEDY), None)
        }
        SavedJobState::Sent => {
            let remedy = if matches!(kind, JobKind::Export(_)) {
                "Check the exports at the service, or start it again"
            } else {
                "Check the status of the dataset before you send it again"
            };
            let text = "the program ended before the service responded";
            JobState::Uncertain(Failure::new(FailureKind::NoResponse, text).with_remedy(remedy))
        }
        SavedJobState::Running { export_task_id } => {
            JobState::ExportRunning(export_task_id, Remote::default())
        }
        SavedJobState::Accepted => JobState::DatasetRunning,
        SavedJobState::Completed { export_task_id } => JobState::ExportReady(export_task_id),
        SavedJobState::Downloaded { archive, export_task_id } => {
            JobState::Downloaded(archive, export_task_id)
        }
        SavedJobState::Done { status_new } => JobState::DatasetDone(status_new),
        SavedJobState::Failed { reason, export } => {
            JobState::Failed(Failure::local(reason), export)
        }
        SavedJobState::Uncertain { reason } => JobState::Uncertain(Failure::local(reason)),
        SavedJobState::Unwatched { export_task_id } => JobState::Unwatched(export_task_id),
    }
}

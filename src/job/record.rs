//! The saved form of a job: what is written to the state folder, and in which state a job resumes after a restart.

use tessera_model::{
    Failure, FailureKind, JobRecord, SafeText, SavedJobState, task_tracker::TaskTracker,
};

use super::{Job, JobId, JobState};
use crate::remote::Remote;

impl Job {
    /// Returns what is saved of the job, or `None` for a job of another running copy, which saves
    /// the job itself.
    pub fn record(&self) -> Option<JobRecord> {
        let text = |failure: &Failure| SafeText::detail(&failure.to_string());
        let state = match &self.state {
            JobState::Queued(_) => SavedJobState::Queued,
            JobState::Starting | JobState::Uploading(..) => SavedJobState::Sent,
            JobState::DatasetRunning => SavedJobState::Accepted,
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
        let dataset = (record.dataset, record.dataset_name);
        let job = Self::new(id, dataset, record.kind, record.started_at);
        let accepted = matches!(record.state, SavedJobState::Accepted);
        Self {
            ended_at: record.ended_at,
            tracker: accepted.then(TaskTracker::resume),
            state: resumed_state(record.state, job.export().is_some()),
            ..job
        }
    }

    /// Returns the job as another running copy of the program follows it.
    pub fn of_other_instance(self) -> Self {
        Self { state: JobState::OtherInstance(Box::new(self.state)), ..self }
    }
}

fn resumed_state(saved: SavedJobState, is_export: bool) -> JobState {
    let failure = |kind, text: &str| Failure::new(kind, text);
    match saved {
        SavedJobState::Queued => JobState::Failed(
            failure(FailureKind::Local, "the program ended before the media were sent")
                .with_remedy("Add the media again"),
            None,
        ),
        SavedJobState::Sent => {
            let remedy = if is_export {
                "Check the exports at the service, or start it again"
            } else {
                "Check the status of the dataset before you send it again"
            };
            let text = "the program ended before the service responded";
            JobState::Uncertain(failure(FailureKind::NoResponse, text).with_remedy(remedy))
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
            JobState::Failed(failure(FailureKind::Local, reason.as_str()), export)
        }
        SavedJobState::Uncertain { reason } => {
            JobState::Uncertain(failure(FailureKind::Local, reason.as_str()))
        }
        SavedJobState::Unwatched { export_task_id } => JobState::Unwatched(export_task_id),
    }
}

//! Jobs over restarts: what is written down of each, and how it goes on in the next run.

use super::{Job, JobState, OperationTracker};
use crate::{
    app::{App, Effect, Level, Remote},
    message::{JobId, Lane, Request},
};
use tessera_model::{
    Failure, FailureKind, JobRecord, SafeText, SavedJobState, StateKey, StateValue,
    job::drop_oldest_finished,
};

impl App {
    /// The jobs of earlier runs are asked for once.
    pub(in crate::app) fn jobs_to_load(&self) -> Option<StateKey> {
        self.jobs.loaded.due(None).map(|_| StateKey::Jobs)
    }

    /// The jobs of earlier runs came: those at work are followed on.
    pub(in crate::app) fn jobs_loaded(&mut self, answer: Result<Option<StateValue>, Failure>) {
        let entry = match answer {
            Ok(entry) => entry,
            Err(failure) => {
                self.notify_failure(&failure);
                return self.jobs.loaded.fail(self.now, failure);
            }
        };
        self.jobs.loaded.succeed(self.now, ());
        self.store.jobs.retain(|_, job| !matches!(job.state, JobState::OtherInstance(_)));
        let Some(StateValue::Jobs { own: ours, other_instances: elsewhere }) = entry else {
            return;
        };
        let mut back = Vec::new();
        for record in ours {
            back.push(self.resume_job(record, false));
        }
        for record in elsewhere {
            self.resume_job(record, true);
        }
        if let Some(words) = self.resumed_jobs_summary(&back) {
            self.notify(Level::Success, words);
        }
        self.store.datasets.invalidate();
    }

    fn resume_job(&mut self, record: JobRecord, elsewhere: bool) -> JobId {
        let id = self.new_job((record.dataset, record.dataset_name), record.kind);
        if let Some(job) = self.store.jobs.get_mut(&id) {
            (job.started_at, job.ended_at) = (record.started_at, record.ended_at);
            job.acknowledged = true;
            if matches!(record.state, SavedJobState::Accepted) {
                job.dataset_progress = Some(OperationTracker::resume(record.started_at));
            }
            let export = job.export().is_some();
            job.state = match (elsewhere, resumed_state(record.state, export)) {
                (true, stage) => JobState::OtherInstance(stage.export_task()),
                (false, stage) => stage,
            };
        }
        id
    }

    /// What is told of the jobs from last time.
    fn resumed_jobs_summary(&self, back: &[JobId]) -> Option<String> {
        let jobs = || back.iter().filter_map(|id| self.store.jobs.get(id));
        let count = |is: fn(&&Job) -> bool| jobs().filter(is).count();
        let parts = [
            (count(|job| job.is_active()), "still running"),
            (
                count(|job| matches!(job.state, JobState::ExportReady(_))),
                "finished: d asks for a new link",
            ),
            (count(|job| matches!(job.state, JobState::Uncertain(_))), "may have started"),
        ];
        let parts: Vec<String> = parts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, words)| format!("{count} {words}"))
            .collect();
        let all = if back.len() == 1 { "1 job".to_owned() } else { format!("{} jobs", back.len()) };
        (!parts.is_empty()).then(|| format!("{all} from last time: {}", parts.join(", ")))
    }

    /// Writes down what has changed, before anything else of this step is done.
    pub(in crate::app) fn save_jobs(&mut self) {
        if self.jobs.loaded.value().is_none() && self.jobs.loaded.failure().is_none() {
            return;
        }
        let records = self.job_records();
        if records == self.jobs.saved_records {
            return;
        }
        self.jobs.saved_records.clone_from(&records);
        let entry = StateValue::Jobs { own: records, other_instances: Vec::new() };
        let ticket = self.tickets.open(Lane::SaveState(StateKey::Jobs), self.now);
        self.effects.insert(0, Effect::Send(ticket, Request::SaveState(entry)));
    }

    fn job_records(&self) -> Vec<JobRecord> {
        let mut records: Vec<JobRecord> = self.store.jobs.values().filter_map(job_record).collect();
        drop_oldest_finished(&mut records);
        records
    }
}

/// What of a job is written down; one that another copy follows is written by that one.
fn job_record(job: &Job) -> Option<JobRecord> {
    let words = |failure: &Failure| SafeText::detail(&failure.to_string());
    let standing = match &job.state {
        JobState::Queued(_) => SavedJobState::Queued,
        JobState::Starting | JobState::Uploading(..) => SavedJobState::Sent,
        JobState::DatasetRunning => SavedJobState::Accepted,
        JobState::ExportRunning(task, _) => SavedJobState::Running(*task),
        JobState::ExportReady(task) | JobState::Downloading(task, ..) => {
            SavedJobState::Completed(*task)
        }
        JobState::Downloaded(archive) => SavedJobState::Downloaded(archive.clone()),
        JobState::DatasetDone(word) => SavedJobState::Done(word.clone()),
        JobState::Failed(failure) => SavedJobState::Failed(words(failure)),
        JobState::Uncertain(failure) => SavedJobState::Uncertain(words(failure)),
        JobState::Unwatched(task) => SavedJobState::Unwatched(*task),
        JobState::OtherInstance(_) => return None,
    };
    Some(JobRecord {
        started_at: job.started_at,
        ended_at: job.ended_at,
        dataset: job.dataset,
        dataset_name: job.dataset_name.clone(),
        kind: job.work.clone(),
        state: standing,
    })
}

/// How a job goes on that stood so when the program ended.
fn resumed_state(standing: SavedJobState, export: bool) -> JobState {
    let told = |words: SafeText| Failure::new(FailureKind::Local, words);
    match standing {
        SavedJobState::Queued => JobState::Failed(
            Failure::new(FailureKind::Local, "the program ended before it was sent")
                .with_remedy("Add the media again"),
        ),
        SavedJobState::Sent => {
            let remedy = if export {
                "Look at the exports of the service, or start it again"
            } else {
                "Look at the status of the dataset before you send it again"
            };
            let sentence = "the program ended before the service answered";
            JobState::Uncertain(Failure::new(FailureKind::NoResponse, sentence).with_remedy(remedy))
        }
        SavedJobState::Running(task) => JobState::ExportRunning(task, Remote::default()),
        SavedJobState::Accepted => JobState::DatasetRunning,
        SavedJobState::Completed(task) => JobState::ExportReady(task),
        SavedJobState::Downloaded(archive) => JobState::Downloaded(archive),
        SavedJobState::Done(word) => JobState::DatasetDone(word),
        SavedJobState::Failed(words) => JobState::Failed(told(words)),
        SavedJobState::Uncertain(words) => JobState::Uncertain(told(words)),
        SavedJobState::Unwatched(task) => JobState::Unwatched(task),
    }
}

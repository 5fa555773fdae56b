//! Records the jobs of the command line. A job is saved before its request is sent and after each change of its state,
//! so that a crash leaves a trace, and the interface can take the job over.

use std::mem;

use tessera_interface::job::{Job, JobDataset, JobId, JobState};
use tessera_model::{
    Archive, ExportState, ExportTask, ExportTaskId, FailureKind, JobKind, JobRecord, SavedJobState,
    StateKey, StateValue, job, polling::PollTarget, task_tracker::TaskTracker,
};

use crate::cli::prelude::*;
use crate::cli::{polling::Poller, values::timestamp_now};

/// Shown for a completed export, whose link a service may provide minutes later.
pub(super) const WAITING_FOR_LINK: &str = "waiting for the download link of the export";

pub struct JobRecorder<'a> {
    connection: &'a Connection<'a>,
    job: Job,
}

impl<'a> JobRecorder<'a> {
    /// Starts a job and saves it before its request is sent. A dry run saves nothing.
    pub fn begin(connection: &'a Connection<'a>, dataset: &Dataset, kind: JobKind) -> Self {
        let named = JobDataset { id: dataset.id, name: dataset.name.clone() };
        let mut job = Job::new(JobId::default(), named, kind, timestamp_now());
        job.track(if connection.is_local() {
            TaskTracker::of_local_service(dataset)
        } else {
            TaskTracker::starting_from(Some(dataset))
        });
        let recorder = Self { connection, job };
        recorder.save();
        recorder
    }

    pub fn job(&self) -> &Job {
        &self.job
    }

    /// Applies a transition, and saves the job.
    pub fn apply(&mut self, transition: impl FnOnce(&mut Job) -> Result<(), Failure>) {
        if let Err(failure) = transition(&mut self.job) {
            self.connection.context.messages.warn(failure.to_string());
        }
        self.record_state();
    }

    /// Records that the request was rejected, or that its effect is unknown.
    pub fn set_failed(&mut self, failure: &Failure) {
        self.apply(|job| job.start_failed(failure.clone()));
    }

    pub async fn follow_export(&mut self, interval: Option<Duration>) -> CliResult<ExportTask> {
        let poller = Poller::new(self.connection.context, interval);
        let outcome = self.connection.follow_export(&mut self.job, poller).await;
        self.record_state();
        outcome
    }

    /// Follows the job like [`Connection::follow_operation`], and keeps the last state of the dataset in `seen`.
    pub async fn follow_operation(&mut self, seen: &mut Dataset) -> CliResult<SafeText> {
        let outcome = self.connection.follow_operation(&mut self.job, Some(seen)).await;
        self.record_state();
        outcome
    }

    fn record_state(&mut self) {
        self.job.record_state(timestamp_now());
        self.save();
    }

    fn save(&self) {
        let context = self.connection.context;
        if context.is_dry_run() {
            return;
        }
        // One file contains all jobs of a process, so that a batch does not overwrite its previous
        // job.
        let mut jobs = self.connection.jobs.lock();
        jobs.retain(|job| job.started_at != self.job.started_at);
        jobs.extend(self.job.record());
        if let Err(failure) = self.connection.state.replace_jobs(jobs.clone()) {
            context.messages.warn(format!("the job was not saved: {failure}"));
        }
    }
}

impl Connection<'_> {
    /// Merges the jobs of this command and of earlier ones into one file, because the number of
    /// files is limited.
    pub(super) fn merge_jobs(&self) -> Result<(), Failure> {
        let mut jobs = self.jobs.lock().clone();
        if jobs.is_empty() {
            return Ok(());
        }
        if let Some(StateValue::Jobs { this_instance, .. }) = self.state.load(&StateKey::Jobs)? {
            jobs.extend(this_instance);
        }
        jobs.sort_by_key(|job| job.started_at);
        job::drop_oldest_finished(&mut jobs);
        self.state.replace_jobs(jobs)
    }

    /// Records that the archive was downloaded, so that nothing downloads it again.
    pub fn record_download(&self, task: ExportTaskId, archive: &Archive) {
        let archive = archive.clone();
        self.record_export(task, SavedJobState::Downloaded { archive, export_task_id: task });
    }

    /// Records that an export has ended, because the process that started it may be gone.
    pub fn record_end(&self, export: &ExportTask) {
        if let Some(failure) = export.failure() {
            let reason = SafeText::detail(&failure.to_string());
            let state = SavedJobState::Failed { reason, export: Some(export.into()) };
            self.record_export(export.id, state);
        } else if export.has_ended() {
            self.record_export(export.id, SavedJobState::Completed { export_task_id: export.id });
        }
    }

    /// Changes the state of a saved export that no running process follows.
    fn record_export(&self, task: ExportTaskId, state: SavedJobState) {
        let is_download = matches!(state, SavedJobState::Downloaded { .. });
        let is_changed = |job: &JobRecord| {
            job.state.export() == Some(task) && (is_download || job.state.is_running())
        };
        self.change_job(is_changed, state);
    }

    /// Records what became of a job that no running process follows.
    pub fn record_outcome(&self, outcome: &JobRecord) {
        let is_it =
            |job: &JobRecord| job.started_at == outcome.started_at && job.state.is_running();
        self.change_job(is_it, outcome.state.clone());
    }

    fn change_job(&self, is_changed: impl Fn(&JobRecord) -> bool, state: SavedJobState) {
        let write = || -> Result<(), Failure> {
            if let Some(StateValue::Jobs { mut this_instance, .. }) =
                self.state.load(&StateKey::Jobs)?
                && let Some(job) = this_instance.iter_mut().find(|job| is_changed(job))
            {
                let is_download = matches!(state, SavedJobState::Downloaded { .. });
                let ended = job.ended_at.filter(|_| is_download);
                job.ended_at = Some(ended.unwrap_or_else(timestamp_now));
                job.state = state;
                self.state.replace_jobs(this_instance)?;
            }
            Ok(())
        };
        if let Err(failure) = write() {
            self.context.messages.warn(format!("the job was not saved: {failure}"));
        }
    }
}

impl Connection<'_> {
    /// Follows a job until its export has ended, and returns the export, even if it has no archive. An export that the
    /// service repeatedly does not know is recorded as failed.
    pub async fn follow_export(
        &self,
        job: &mut Job,
        mut poller: Poller<'_>,
    ) -> CliResult<ExportTask> {
        let JobState::ExportRunning(task, _) = *job.state() else {
            return Err(CliError::failed("the service has not accepted the job yet"));
        };
        let mut last = String::new();
        let mut reports_link = true;
        loop {
            let request = self.client.export_status(job.dataset, task);
            let response = poller.within_limit(request).await?;
            let elapsed = poller.elapsed();
            if let Err(failure) = &response {
                job.poll_failed(elapsed, failure.clone())?;
                if failure.kind == FailureKind::NotFound && job.is_active() {
                    poller.wait(PollTarget::Export(elapsed)).await?;
                    continue;
                }
                if let Some(JobRecord { state, .. }) = job.record().filter(|_| !job.is_active()) {
                    self.record_export(task, state);
                }
            }
            if let Some(export) = poller.tolerate_outage(response)? {
                let state = export.state.as_str();
                if state != last {
                    state.clone_into(&mut last);
                    let fields =
                        json!({ "dataset_id": job.dataset, "export_task_id": task, "to": state });
                    poller.emit("export", fields, &format!("export {state}"))?;
                }
                job.export_reported(elapsed, export.clone())?;
                match job.state() {
                    JobState::Failed(failure, _) if export.failure().is_none() => {
                        return Err(failure.clone().into());
                    }
                    _ if !job.is_active() => return Ok(export),
                    _ if export.state == ExportState::Completed && mem::take(&mut reports_link) => {
                        self.context.messages.info(WAITING_FOR_LINK);
                    }
                    _ => {}
                }
            }
            poller.wait(PollTarget::Export(elapsed)).await?;
        }
    }

    /// Follows an addition or a reindex to its end, and returns the final status of the dataset. `seen` becomes the
    /// last state of the dataset, also after a failure.
    pub async fn follow_operation(
        &self,
        job: &mut Job,
        mut seen: Option<&mut Dataset>,
    ) -> CliResult<SafeText> {
        let mut poller = Poller::new(self.context, None);
        loop {
            let dataset = poller.fetch_dataset(self, job.dataset).await?;
            poller.observe(&dataset)?;
            job.dataset_observed(timestamp_now(), &dataset);
            if let Some(seen) = &mut seen {
                **seen = dataset;
            }
            match job.state() {
                JobState::DatasetDone(status) => return Ok(status.clone()),
                JobState::Failed(failure, _) => {
                    return Err(CliError::new(Exit::Remote, failure.to_string()));
                }
                _ => poller.wait_for_dataset().await?,
            }
        }
    }
}

//! Saves a job of the command line before its request is sent, so that a crash in between leaves a
//! trace, and the interface can take it over.

use std::sync::{MutexGuard, PoisonError};

use crate::cli::{CliError, CliResult, Connection, Exit, timestamps::timestamp_now};
use tessera_model::{
    Archive, Dataset, ExportTaskId, FailedExport, Failure, JobKind, JobRecord, SafeText,
    SavedJobState, StateKey, StateValue, job, operation_tracker::OperationTracker,
};
use tessera_wire::add_media::Accepted;

pub struct JobRecorder<'a> {
    connection: &'a Connection<'a>,
    job: JobRecord,
}

impl<'a> JobRecorder<'a> {
    /// Saves the job before its request is sent. A dry run saves nothing.
    pub fn begin(connection: &'a Connection<'a>, dataset: &Dataset, kind: JobKind) -> Self {
        let job = JobRecord {
            started_at: timestamp_now(),
            ended_at: None,
            dataset: dataset.id,
            dataset_name: dataset.name.clone(),
            kind,
            state: SavedJobState::Sent,
        };
        let recorder = Self { connection, job };
        recorder.save();
        recorder
    }

    pub fn job(&self) -> &JobRecord {
        &self.job
    }

    pub fn set_state(&mut self, state: SavedJobState) {
        self.job.ended_at = (!state.is_running()).then(timestamp_now);
        self.job.state = state;
        self.save();
    }

    pub fn set_accepted(&mut self, _evidence: Accepted) {
        self.set_state(SavedJobState::Accepted);
    }

    /// The request was rejected, or its effect is unknown.
    pub fn set_failed(&mut self, failure: &Failure) {
        let reason = SafeText::detail(&failure.to_string());
        self.set_state(if failure.may_have_taken_effect() {
            SavedJobState::Uncertain(reason)
        } else {
            SavedJobState::Failed(reason, None)
        });
    }

    /// Unless the operation failed at the service, it continues there, and others follow it.
    pub fn set_waiting_error(&mut self, error: &CliError) {
        if error.exit == Exit::Remote {
            let export = self.job.state.export().map(FailedExport::without_status);
            self.set_state(SavedJobState::Failed(SafeText::detail(&error.message), export));
        }
    }

    pub async fn follow(&mut self, tracker: OperationTracker) -> CliResult<SafeText> {
        let outcome =
            self.connection.follow_operation(self.job.dataset, &self.job.kind, tracker).await;
        match &outcome {
            Ok(status) => self.set_state(SavedJobState::Done(status.clone())),
            Err(error) => self.set_waiting_error(error),
        }
        outcome
    }

    fn save(&self) {
        let context = self.connection.context;
        if context.is_dry_run() {
            return;
        }
        // One file contains all jobs of a process: a batch must not replace the previous job.
        let mut jobs = self.connection.lock_jobs();
        match jobs.iter_mut().find(|job| job.started_at == self.job.started_at) {
            Some(job) => *job = self.job.clone(),
            None => jobs.push(self.job.clone()),
        }
        if let Err(failure) = self.connection.journal.replace_jobs(jobs.clone()) {
            context.messages.warn(format!("the job was not saved: {failure}"));
        }
    }
}

impl Connection<'_> {
    fn lock_jobs(&self) -> MutexGuard<'_, Vec<JobRecord>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Merges the jobs of this and of earlier commands, because the number of files is limited.
    pub(super) fn merge_jobs(&self) -> Result<(), Failure> {
        let mut jobs = self.lock_jobs().clone();
        if jobs.is_empty() {
            return Ok(());
        }
        if let Some(StateValue::Jobs { own, .. }) = self.journal.load(&StateKey::Jobs)? {
            jobs.extend(own);
        }
        jobs.sort_by_key(|job| job.started_at);
        job::drop_oldest_finished(&mut jobs);
        self.journal.replace_jobs(jobs)
    }

    /// Records that the archive was downloaded, so that nothing downloads it again.
    pub fn record_download(&self, task: ExportTaskId, archive: &Archive) {
        let write = || -> Result<(), Failure> {
            if let Some(StateValue::Jobs { mut own, .. }) = self.journal.load(&StateKey::Jobs)?
                && let Some(job) = own.iter_mut().find(|job| job.state.export() == Some(task))
            {
                job.ended_at = Some(timestamp_now());
                job.state = SavedJobState::Downloaded(archive.clone(), Some(task));
                self.journal.replace_jobs(own)?;
            }
            Ok(())
        };
        if let Err(failure) = write() {
            self.context.messages.warn(format!("the download was not recorded: {failure}"));
        }
    }
}

//! Saves a job of the command line before its request is sent, so that a crash in between leaves a
//! trace, and the interface can take it over.

use crate::cli::{CliError, Connection, Context, Exit, polling::timestamp_now};
use tessera_model::{
    Archive, Dataset, ExportTaskId, Failure, JobKind, JobRecord, SafeText, SavedJobState, StateKey,
    StateValue, operation_tracker::OperationTracker,
};

pub struct JobRecorder<'a> {
    context: &'a Context,
    connection: &'a Connection,
    job: JobRecord,
}

impl<'a> JobRecorder<'a> {
    /// Saves the job before its request is sent. A dry run saves nothing.
    pub fn begin(
        context: &'a Context,
        connection: &'a Connection,
        dataset: &Dataset,
        work: JobKind,
    ) -> Self {
        let job = JobRecord {
            started_at: timestamp_now(),
            ended_at: None,
            dataset: dataset.id,
            dataset_name: dataset.name.clone(),
            kind: work,
            state: SavedJobState::Sent,
        };
        let record = Self { context, connection, job };
        record.save();
        record
    }

    pub fn job(&self) -> &JobRecord {
        &self.job
    }

    pub fn set_state(&mut self, standing: SavedJobState) {
        self.job.ended_at = standing.is_over().then(timestamp_now);
        self.job.state = standing;
        self.save();
    }

    /// The request was rejected, or its effect is unknown.
    pub fn set_failed(&mut self, failure: &Failure) {
        let words = SafeText::detail(&failure.to_string());
        self.set_state(if failure.may_have_taken_effect() {
            SavedJobState::Uncertain(words)
        } else {
            SavedJobState::Failed(words)
        });
    }

    /// Waits for the addition or reindex to finish, and returns the final status.
    pub async fn follow(&mut self, tracker: OperationTracker) -> Result<SafeText, CliError> {
        let (dataset, work) = (self.job.dataset, self.job.kind.clone());
        let outcome = self.context.follow_operation(self.connection, dataset, &work, tracker).await;
        match &outcome {
            Ok(rest) => self.set_state(SavedJobState::Done(rest.clone())),
            Err(error) if error.exit == Exit::Remote => {
                self.set_state(SavedJobState::Failed(SafeText::detail(&error.message)));
            }
            // The operation continues at the service; the interface or another command follows it.
            Err(_) => {}
        }
        outcome
    }

    fn save(&self) {
        if self.context.is_dry_run() {
            return;
        }
        // One file contains all jobs of a process: a batch must not replace the previous job.
        let ours = self.connection.with_jobs(|jobs| {
            match jobs.iter_mut().find(|job| job.started_at == self.job.started_at) {
                Some(job) => *job = self.job.clone(),
                None => jobs.push(self.job.clone()),
            }
            jobs.clone()
        });
        let jobs = StateValue::Jobs { own: ours, other_instances: Vec::new() };
        let kept = self.connection.journal.save(self.connection.next_sequence(), &jobs);
        if let Err(failure) = kept {
            self.context.messages.warn(format!("the job was not saved: {failure}"));
        }
    }
}

/// Records that the archive was downloaded, so that nothing downloads it again.
pub fn record_download(
    context: &Context,
    connection: &Connection,
    task: ExportTaskId,
    archive: &Archive,
) {
    let write = || -> Result<(), Failure> {
        let Some(StateValue::Jobs { own: mut ours, other_instances: elsewhere }) =
            connection.journal.load(&StateKey::Jobs)?
        else {
            return Ok(());
        };
        let Some(job) = ours.iter_mut().find(|job| job.state.export() == Some(task)) else {
            return Ok(());
        };
        job.ended_at = Some(timestamp_now());
        job.state = SavedJobState::Downloaded(archive.clone());
        connection.journal.save(
            connection.next_sequence(),
            &StateValue::Jobs { own: ours, other_instances: elsewhere },
        )
    };
    if let Err(failure) = write() {
        context.messages.warn(format!("the download was not recorded: {failure}"));
    }
}

//! What each answer means to an export: one function per step.

use super::{Job, JobState};
use crate::app::{Remote, Uptime};
use tessera_model::{Archive, ExportState, ExportTask, Failure, FailureKind};

impl Job {
    /// The service answered the start.
    pub fn start_answered(&mut self, now: Uptime, answer: Result<ExportTask, Failure>) {
        self.state = match answer {
            Ok(task) => return self.poll_answered(now, Ok(task)),
            // Only an answer that never came leaves it open whether the job exists.
            Err(failure) if failure.may_have_taken_effect() => JobState::Uncertain(failure),
            Err(failure) => JobState::Failed(failure),
        };
    }

    /// The service answered a question about the export.
    pub fn poll_answered(&mut self, now: Uptime, answer: Result<ExportTask, Failure>) {
        match (answer, &mut self.state) {
            (Ok(task), _) => match &task.state {
                ExportState::Failed(word) => {
                    let failure =
                        Failure::new(FailureKind::Unexpected, format!("the export ended {word}"));
                    self.state = JobState::Failed(failure.with_detail(task.message));
                }
                // COMPLETED without a link is not over yet.
                ExportState::Completed if task.download.is_some() => {
                    self.state = JobState::ExportReady(task.id);
                }
                ExportState::Completed | ExportState::Running(_) => {
                    let mut remote = Remote::default();
                    let id = task.id;
                    remote.succeed(now, task);
                    self.state = JobState::ExportRunning(id, remote);
                }
            },
            (Err(failure), JobState::ExportRunning(_, remote))
                if failure.is_connection_failure() =>
            {
                remote.fail(now, failure);
            }
            (Err(failure), _) => self.state = JobState::Failed(failure),
        }
    }

    /// The download ended. A failed one can be asked for again.
    ///
    /// # Errors
    /// Why it failed, to be told.
    pub fn download_answered(&mut self, answer: Result<Archive, Failure>) -> Result<(), Failure> {
        match (answer, &self.state) {
            (Ok(archive), _) => {
                self.state = JobState::Downloaded(archive);
                Ok(())
            }
            (Err(failure), &JobState::Downloading(task, ..)) => {
                self.state = JobState::ExportReady(task);
                Err(failure)
            }
            (Err(failure), _) => Err(failure),
        }
    }
}

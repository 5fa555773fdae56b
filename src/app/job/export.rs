//! What each answer means to an export: one function per step.

use super::{Job, Stage};
use crate::app::{Moment, Remote};
use tessera_model::{Archive, ExportState, ExportTask, Failure, FailureKind};

impl Job {
    /// The service answered the start.
    pub fn started(&mut self, now: Moment, answer: Result<ExportTask, Failure>) {
        self.stage = match answer {
            Ok(task) => return self.polled(now, Ok(task)),
            // Only an answer that never came leaves it open whether the job exists.
            Err(failure) if failure.leaves_open() => Stage::Uncertain(failure),
            Err(failure) => Stage::Failed(failure),
        };
    }

    /// The service answered a question about the export.
    pub fn polled(&mut self, now: Moment, answer: Result<ExportTask, Failure>) {
        match (answer, &mut self.stage) {
            (Ok(task), _) => match &task.state {
                ExportState::Failed(word) => {
                    let failure =
                        Failure::new(FailureKind::Unexpected, format!("the export ended {word}"));
                    self.stage = Stage::Failed(failure.detail(task.message));
                }
                // COMPLETED without a link is not over yet (M21).
                ExportState::Completed if task.download.is_some() => {
                    self.stage = Stage::Completed(task.id);
                }
                ExportState::Completed | ExportState::Running(_) => {
                    let mut remote = Remote::default();
                    let id = task.id;
                    remote.succeed(now, task);
                    self.stage = Stage::Running(id, remote);
                }
            },
            (Err(failure), Stage::Running(_, remote)) if failure.is_connection() => {
                remote.fail(now, failure);
            }
            (Err(failure), _) => self.stage = Stage::Failed(failure),
        }
    }

    /// The download ended. A failed one can be asked for again.
    ///
    /// # Errors
    /// Why it failed, to be told.
    pub fn fetched(&mut self, answer: Result<Archive, Failure>) -> Result<(), Failure> {
        match (answer, &self.stage) {
            (Ok(archive), _) => {
                self.stage = Stage::Downloaded(archive);
                Ok(())
            }
            (Err(failure), &Stage::Downloading(task, ..)) => {
                self.stage = Stage::Completed(task);
                Err(failure)
            }
            (Err(failure), _) => Err(failure),
        }
    }
}

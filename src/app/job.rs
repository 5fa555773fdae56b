//! An export from the wish to the file: one state machine, one function per step.

use std::path::PathBuf;

use crate::{
    app::{Moment, Remote},
    message::JobId,
    model::{
        Archive, DatasetId, ExportSpec, ExportState, ExportTask, ExportTaskId, Failure,
        FailureKind, SafeText,
    },
};

/// An export this program started.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Its number in this run of the program.
    pub id: JobId,
    /// What is exported.
    pub dataset: DatasetId,
    /// Its name when the export was started.
    pub dataset_name: SafeText,
    /// How it is exported.
    pub spec: ExportSpec,
    /// Where the archive goes.
    pub folder: PathBuf,
    /// Whether it is fetched as soon as it is there.
    pub fetch: bool,
    /// When it was started.
    pub started: Moment,
    /// When it ended, in whatever way.
    pub ended: Option<Moment>,
    /// Where it stands.
    pub stage: Stage,
}

/// Where an export stands.
#[derive(Clone, Debug, PartialEq)]
pub enum Stage {
    /// Sent, not yet acknowledged.
    Starting,
    /// At work; the last word of the service is kept when it stops answering.
    Running(ExportTaskId, Remote<ExportTask>),
    /// Ready to be fetched.
    Completed(ExportTaskId),
    /// Being fetched: bytes so far, bytes in all.
    Downloading(ExportTaskId, u64, Option<u64>),
    /// On this machine, verified.
    Downloaded(Archive),
    /// Over, without an archive.
    Failed(Failure),
    /// The service may or may not have started it; only the person can decide (M19).
    Uncertain(Failure),
    /// Not watched any more; the service goes on.
    Unwatched,
}

impl Job {
    /// The word of its stage on screen.
    #[must_use]
    pub fn word(&self) -> &str {
        match &self.stage {
            Stage::Starting => "starting",
            Stage::Running(_, task) => task.value().map_or("PENDING", |task| task.state.word()),
            Stage::Completed(_) => "COMPLETED",
            Stage::Downloading(..) => "downloading",
            Stage::Downloaded(_) => "downloaded",
            Stage::Failed(_) => "FAILED",
            Stage::Uncertain(_) => "may have started",
            Stage::Unwatched => "not watched",
        }
    }

    /// Whether something is still going on.
    #[must_use]
    pub fn is_active(&self) -> bool {
        matches!(self.stage, Stage::Starting | Stage::Running(..) | Stage::Downloading(..))
    }

    /// Part done, 0.0-1.0, where it is known.
    #[must_use]
    pub fn part(&self) -> Option<f64> {
        match &self.stage {
            Stage::Running(_, task) => {
                task.value()?.progress.map(|percent| f64::from(percent) / 100.0)
            }
            #[expect(clippy::cast_precision_loss, reason = "a part for a gauge")]
            Stage::Downloading(_, done, Some(total)) if *total > 0 => {
                Some((*done as f64 / *total as f64).min(1.0))
            }
            Stage::Completed(_) | Stage::Downloaded(_) => Some(1.0),
            _ => None,
        }
    }

    /// The service answered the start.
    pub fn started(&mut self, now: Moment, answer: Result<ExportTask, Failure>) {
        match answer {
            Ok(task) => self.polled(now, Ok(task)),
            // Only an answer that never came leaves it open whether the job exists.
            Err(failure) if failure.kind == FailureKind::NoAnswer => {
                self.end(now, Stage::Uncertain(failure));
            }
            Err(failure) => self.end(now, Stage::Failed(failure)),
        }
    }

    /// The service answered a question about the export.
    pub fn polled(&mut self, now: Moment, answer: Result<ExportTask, Failure>) {
        match (answer, &mut self.stage) {
            (Ok(task), _) => match &task.state {
                ExportState::Failed(word) => {
                    let failure =
                        Failure::new(FailureKind::Unexpected, format!("the export ended {word}"));
                    self.end(now, Stage::Failed(failure.detail(task.message)));
                }
                // COMPLETED without a link is not over yet (M21).
                ExportState::Completed if task.download.is_some() => {
                    self.end(now, Stage::Completed(task.id));
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
            (Err(failure), _) => self.end(now, Stage::Failed(failure)),
        }
    }

    /// The download ended. A failed one can be asked for again.
    ///
    /// # Errors
    /// Why it failed, to be told.
    pub fn fetched(
        &mut self,
        now: Moment,
        answer: Result<Archive, Failure>,
    ) -> Result<(), Failure> {
        match (answer, &self.stage) {
            (Ok(archive), _) => {
                self.end(now, Stage::Downloaded(archive));
                Ok(())
            }
            (Err(failure), &Stage::Downloading(task, ..)) => {
                self.stage = Stage::Completed(task);
                Err(failure)
            }
            (Err(failure), _) => Err(failure),
        }
    }

    fn end(&mut self, now: Moment, stage: Stage) {
        self.stage = stage;
        self.ended = Some(now);
    }
}

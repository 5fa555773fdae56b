//! Additions and reindexes: sent, or waiting on this machine until their dataset is free, then
//! followed by the statuses of the dataset.

use std::{path::PathBuf, time::Duration};

use super::{Job, JobState, OperationStatus, OperationTracker};
use crate::{
    app::{App, Level},
    message::{JobId, Lane, Request},
};
use tessera_model::{
    AdditionJob, DatasetId, Failure, FailureKind, JobKind, MediaAddition, Operation, SafeText,
};

/// How long a dataset that begins to work is taken for ours after an answer was lost.
const LOST_ANSWER_WINDOW: Duration = Duration::from_mins(1);

impl App {
    /// Sends an addition, or lets it wait until the dataset is free. Some of its paths are
    /// `folders`.
    pub(in crate::app) fn start_add_media(
        &mut self,
        (dataset, name): (DatasetId, SafeText),
        addition: MediaAddition,
        folders: &[PathBuf],
    ) -> JobId {
        let work = JobKind::AddMedia(AdditionJob::from_request(&addition, folders));
        let id = self.new_job((dataset, name), work);
        if self.can_start_operation(dataset, Operation::AddMedia) {
            self.send_add_media(id, addition);
        } else if let Some(job) = self.store.jobs.get_mut(&id) {
            job.state = JobState::Queued(Box::new(addition));
        }
        id
    }

    fn send_add_media(&mut self, id: JobId, addition: MediaAddition) {
        let before = self.store.jobs.get(&id).and_then(|job| self.store.dataset(job.dataset));
        let course = OperationTracker::starting_from(before);
        let Some(job) = self.store.jobs.get_mut(&id) else { return };
        (job.dataset_progress, job.state) = (Some(course), JobState::Uploading(0, None));
        let request = Request::AddMedia(job.dataset, addition);
        self.send(Lane::Upload(id), request);
    }

    /// Sends a reindex.
    pub(in crate::app) fn start_reindex(&mut self, dataset: (DatasetId, SafeText)) {
        let before = OperationTracker::starting_from(self.store.dataset(dataset.0));
        let request = Request::Reindex(dataset.0);
        let id = self.start_job(dataset, JobKind::Reindex, request);
        if let Some(job) = self.store.jobs.get_mut(&id) {
            job.dataset_progress = Some(before);
        }
    }

    /// Whether an operation may be sent now: by the status, and by our own jobs.
    fn can_start_operation(&self, dataset: DatasetId, operation: Operation) -> bool {
        let refused = self
            .store
            .dataset(dataset)
            .and_then(|dataset| dataset.status.allows(operation).denial_reason());
        let ours = self.store.jobs.values().any(|job| {
            job.dataset == dataset
                && matches!(job.state, JobState::Uploading(..) | JobState::DatasetRunning)
        });
        refused.is_none() && !ours
    }

    /// The service took an addition or a reindex on, or not.
    pub(in crate::app) fn operation_started(&mut self, id: JobId, answer: Result<(), Failure>) {
        self.store.datasets.invalidate();
        let clock = self.clock();
        let Some(job) = self.store.jobs.get_mut(&id) else { return };
        let failure = match answer {
            Ok(()) => {
                job.dataset_progress.get_or_insert_default().accept(clock);
                job.state = JobState::DatasetRunning;
                return;
            }
            Err(failure) => failure,
        };
        // A lost answer, or a trigger that failed: the dataset will show which.
        job.state = if failure.may_have_taken_effect() {
            JobState::Uncertain(failure.clone())
        } else {
            JobState::Failed(failure.clone())
        };
        self.notify_failure(&failure);
        if failure.kind == FailureKind::Invalid {
            self.reopen_add_media_form(id, &failure);
        }
    }

    /// New statuses came: every job that depends on one takes its step.
    pub(in crate::app) fn advance_dataset_jobs(&mut self) {
        let clock = self.clock();
        let mut told = Vec::new();
        for job in self.store.jobs.values_mut() {
            let list = self.store.datasets.value().map_or(&[][..], Vec::as_slice);
            let Some(dataset) = list.iter().find(|dataset| dataset.id == job.dataset) else {
                continue;
            };
            let Some(course) = &mut job.dataset_progress else { continue };
            if !matches!(job.state, JobState::DatasetRunning | JobState::Uncertain(_)) {
                continue;
            }
            let seen = course.observe(&job.work, clock, dataset);
            // Whether it was taken on is no longer uncertain once the dataset works.
            if matches!(job.state, JobState::Uncertain(_)) {
                let fresh = job
                    .ended_at
                    .is_none_or(|ended| clock.saturating_sub(ended) < LOST_ANSWER_WINDOW);
                if course.is_busy() && fresh {
                    course.accept(clock);
                    job.state = JobState::DatasetRunning;
                }
                continue;
            }
            match seen {
                OperationStatus::Running => {}
                OperationStatus::Finished(word) => {
                    told.push((Level::Success, completion_message(job, &word)));
                    job.state = JobState::DatasetDone(word);
                }
                OperationStatus::Failed(failure) => {
                    told.push((Level::Error, format!("{}: {failure}", job.dataset_name)));
                    job.state = JobState::Failed(failure);
                }
            }
        }
        for (level, text) in told {
            match level {
                Level::Success => self.toast(text),
                Level::Warning | Level::Error => self.notify(level, text),
            }
        }
        self.send_queued();
    }

    /// Sends the additions whose dataset has become free, oldest first.
    fn send_queued(&mut self) {
        let queued =
            self.store.jobs.values().filter(|job| matches!(job.state, JobState::Queued(_)));
        let queued: Vec<JobId> = queued.map(|job| job.id).collect();
        for id in queued {
            let Some(job) = self.store.jobs.get(&id) else { continue };
            let JobState::Queued(addition) = &job.state else { continue };
            let addition = (**addition).clone();
            if self.can_start_operation(job.dataset, Operation::AddMedia) {
                self.send_add_media(id, addition);
            }
        }
    }
}

/// What is told at the end, with the key that makes sense next.
fn completion_message(job: &Job, word: &SafeText) -> String {
    let added = job
        .dataset_progress
        .as_ref()
        .and_then(OperationTracker::media_added)
        .filter(|added| *added > 0);
    let added = added.map_or_else(String::new, |added| format!("{added} media came; "));
    let next = if word.as_str() == "PARTIAL INDEX" { ": R reindexes it" } else { "" };
    format!("{}: {added}it is {word}{next}", job.dataset_name)
}

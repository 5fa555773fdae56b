//! Additions and reindexes: sent, or waiting on this machine until their dataset is free, then
//! followed by the statuses of the dataset.

use std::{path::PathBuf, time::Duration};

use super::{Course, Job, Seen, Stage};
use crate::{
    app::{App, Effect, Level},
    message::{JobId, Lane, Request},
};
use tessera_model::{
    AddMedia, Addition, DatasetId, Failure, FailureKind, Operation, SafeText, Work,
};

/// How long a dataset that begins to work is taken for ours after an answer was lost.
const DOUBT: Duration = Duration::from_mins(1);

impl App {
    /// Sends an addition, or lets it wait until the dataset is free (M38). Some of its paths are
    /// `folders`.
    pub(in crate::app) fn start_addition(
        &mut self,
        (dataset, name): (DatasetId, SafeText),
        addition: AddMedia,
        folders: &[PathBuf],
        effects: &mut Vec<Effect>,
    ) -> JobId {
        let work = Work::AddMedia(Addition::of(&addition, folders));
        let id = self.new_job((dataset, name), work);
        if self.is_free(dataset, Operation::AddMedia) {
            self.send_addition(id, addition, effects);
        } else if let Some(job) = self.store.jobs.get_mut(&id) {
            job.stage = Stage::Queued(Box::new(addition));
        }
        id
    }

    fn send_addition(&mut self, id: JobId, addition: AddMedia, effects: &mut Vec<Effect>) {
        let before = self.store.jobs.get(&id).and_then(|job| self.store.dataset(job.dataset));
        let course = Course::from(before);
        let Some(job) = self.store.jobs.get_mut(&id) else { return };
        (job.course, job.stage) = (Some(course), Stage::Sending(0, None));
        let request = Request::AddMedia(job.dataset, addition);
        self.send(Lane::Upload(id), request, effects);
    }

    /// Sends a reindex.
    pub(in crate::app) fn start_reindex(
        &mut self,
        dataset: (DatasetId, SafeText),
        effects: &mut Vec<Effect>,
    ) {
        let before = Course::from(self.store.dataset(dataset.0));
        let request = Request::Reindex(dataset.0);
        let id = self.start_job(dataset, Work::Reindex, request, effects);
        if let Some(job) = self.store.jobs.get_mut(&id) {
            job.course = Some(before);
        }
    }

    /// Whether an operation may be sent now: by the status, and by our own jobs.
    fn is_free(&self, dataset: DatasetId, operation: Operation) -> bool {
        let refused = self
            .store
            .dataset(dataset)
            .and_then(|dataset| dataset.status.allows(operation).refusal());
        let ours = self.store.jobs.values().any(|job| {
            job.dataset == dataset && matches!(job.stage, Stage::Sending(..) | Stage::Following)
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
                job.course.get_or_insert_default().accept(clock);
                job.stage = Stage::Following;
                return;
            }
            Err(failure) => failure,
        };
        // A lost answer, or a trigger that failed: the dataset will show which (M37, M42).
        job.stage = if failure.leaves_open() {
            Stage::Uncertain(failure.clone())
        } else {
            Stage::Failed(failure.clone())
        };
        self.notices.fail(self.now, &failure);
        if failure.kind == FailureKind::Invalid {
            self.reopen_addition(id, &failure);
        }
    }

    /// New statuses came: every job that depends on one takes its step.
    pub(in crate::app) fn follow_datasets(&mut self, effects: &mut Vec<Effect>) {
        let clock = self.clock();
        let mut told = Vec::new();
        for job in self.store.jobs.values_mut() {
            let list = self.store.datasets.value().map_or(&[][..], Vec::as_slice);
            let Some(dataset) = list.iter().find(|dataset| dataset.id == job.dataset) else {
                continue;
            };
            let Some(course) = &mut job.course else { continue };
            if !matches!(job.stage, Stage::Following | Stage::Uncertain(_)) {
                continue;
            }
            let seen = course.see(&job.work, clock, dataset);
            // Whether it was taken on is no longer uncertain once the dataset works.
            if matches!(job.stage, Stage::Uncertain(_)) {
                let fresh = job.ended.is_none_or(|ended| clock.saturating_sub(ended) < DOUBT);
                if course.is_moving() && fresh {
                    course.accept(clock);
                    job.stage = Stage::Following;
                }
                continue;
            }
            match seen {
                Seen::Going => {}
                Seen::Over(word) => {
                    told.push((Level::Success, ended(job, &word)));
                    job.stage = Stage::Done(word);
                }
                Seen::Failed(failure) => {
                    told.push((Level::Error, format!("{}: {failure}", job.dataset_name)));
                    job.stage = Stage::Failed(failure);
                }
            }
        }
        for (level, text) in told {
            match level {
                Level::Success => self.toast(text),
                Level::Warning | Level::Error => self.notices.add(self.now, level, text),
            }
        }
        self.send_queued(effects);
    }

    /// Sends the additions whose dataset has become free, oldest first.
    fn send_queued(&mut self, effects: &mut Vec<Effect>) {
        let queued = self.store.jobs.values().filter(|job| matches!(job.stage, Stage::Queued(_)));
        let queued: Vec<JobId> = queued.map(|job| job.id).collect();
        for id in queued {
            let Some(job) = self.store.jobs.get(&id) else { continue };
            let Stage::Queued(addition) = &job.stage else { continue };
            let addition = (**addition).clone();
            if self.is_free(job.dataset, Operation::AddMedia) {
                self.send_addition(id, addition, effects);
            }
        }
    }
}

/// What is told at the end, with the key that makes sense next.
fn ended(job: &Job, word: &SafeText) -> String {
    let added = job.course.as_ref().and_then(Course::added).filter(|added| *added > 0);
    let added = added.map_or_else(String::new, |added| format!("{added} media came; "));
    let next = if word.as_str() == "PARTIAL INDEX" { ": R reindexes it" } else { "" };
    format!("{}: {added}it is {word}{next}", job.dataset_name)
}

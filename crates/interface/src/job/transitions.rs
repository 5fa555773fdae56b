//! Implements the transitions of a job, with one method for each. An event that the state does not allow changes
//! nothing and returns a failure, which the caller shows.
//!
//! ```text
//! Starting -> Queued -> Uploading -> DatasetRunning -> DatasetDone     addition
//! Starting -> DatasetRunning -> DatasetDone                            reindex
//! Starting -> GettingModel -> Encoding -> DatasetDone                  model
//! Starting -> ExportRunning -> ExportReady -> Downloading -> Downloaded
//! any active state -> Failed, Uncertain, Unwatched; Unwatched -> running again
//! ```

use std::{path::PathBuf, time::Duration};

use tessera_model::{
    Archive, Dataset, ExportState, ExportTask, ExportTaskId, FailedExport, Failure, FailureKind,
    JobKind, MediaAddition, SafeText, Timestamp,
    task_tracker::{TaskStatus, TaskTracker},
    text::count_with_noun,
};
use tessera_wire::add_media::Accepted;

use crate::{
    job::{Job, JobDataset, JobHistory, JobId, JobState, RESUME_REMEDY},
    remote::{Remote, Uptime},
};

/// How long after a lost response a dataset that becomes busy is assumed to be working on this job.
const LOST_RESPONSE_WINDOW: Duration = Duration::from_mins(1);
/// How often in a row an export may be unknown before it counts as gone. A gateway may answer once that nothing is at
/// the address of the export.
const MAX_UNKNOWN_POLLS: u32 = 5;

type Applied<T = ()> = Result<T, Failure>;

impl Job {
    pub fn new(id: JobId, dataset: JobDataset, kind: JobKind, started_at: Timestamp) -> Self {
        Self {
            id,
            dataset: dataset.id,
            dataset_name: dataset.name,
            kind,
            started_at,
            ended_at: None,
            was_active: true,
            state: JobState::Starting,
            completed_at: None,
            unknown_polls: 0,
            tracker: None,
            history: JobHistory::default(),
        }
    }

    pub fn queue(&mut self, addition: MediaAddition) -> Applied {
        self.check(matches!(self.state, JobState::Starting), "queue")?;
        self.state = JobState::Queued(Box::new(addition));
        Ok(())
    }

    /// Starts to follow the dataset of a task, from the status that the dataset has before
    /// the request.
    pub fn track(&mut self, tracker: TaskTracker) {
        self.tracker = Some(tracker);
    }

    /// Starts the upload of an addition's media. `dataset` is the dataset as it was before.
    pub fn start_upload(&mut self, dataset: Option<&Dataset>) -> Applied {
        let waits = matches!(self.state, JobState::Starting | JobState::Queued(_));
        self.check(waits, "start of the upload")?;
        self.track(TaskTracker::starting_from(dataset));
        self.state = JobState::Uploading(0, None);
        Ok(())
    }

    pub fn transfer_progressed(&mut self, so_far: u64, all: Option<u64>) -> Applied {
        match &mut self.state {
            JobState::Uploading(done, total)
            | JobState::GettingModel(done, total)
            | JobState::Encoding(done, total)
            | JobState::Downloading(_, done, total) => {
                (*done, *total) = (so_far, all);
                Ok(())
            }
            _ => self.illegal("transfer progress"),
        }
    }

    pub fn operation_accepted(&mut self, clock: Timestamp, _: Accepted) -> Applied {
        self.check(self.is_being_sent(), "acceptance")?;
        self.tracker.get_or_insert_default().accept(clock);
        self.state = JobState::DatasetRunning;
        Ok(())
    }

    pub fn start_getting_model(&mut self) -> Applied {
        self.check(matches!(self.state, JobState::Starting), "start of the download")?;
        self.state = JobState::GettingModel(0, None);
        Ok(())
    }

    /// Starts to encode with the model that was downloaded, or ends the job with the reason why there is no model.
    pub fn model_received(&mut self, failure: Option<&Failure>) -> Applied {
        let expected = matches!(self.state, JobState::GettingModel(..));
        self.check(expected, "end of the download")?;
        self.state = match failure {
            None => JobState::Encoding(0, None),
            Some(failure) => JobState::Failed(failure.clone(), None),
        };
        Ok(())
    }

    pub fn encoding_finished(&mut self, result: Result<&Dataset, &Failure>) -> Applied {
        self.check(matches!(self.state, JobState::Encoding(..)), "end of the encoding")?;
        self.state = match result {
            Ok(dataset) => JobState::DatasetDone(SafeText::name(dataset.status.as_str())),
            Err(failure) => JobState::Failed(failure.clone(), None),
        };
        Ok(())
    }

    pub fn start_failed(&mut self, failure: Failure) -> Applied {
        self.check(self.is_being_sent(), "failure of the start")?;
        // Only a lost response leaves open whether the job exists.
        self.state = if failure.may_have_taken_effect() {
            JobState::Uncertain(failure)
        } else {
            JobState::Failed(failure, None)
        };
        Ok(())
    }

    fn is_being_sent(&self) -> bool {
        matches!(self.state, JobState::Starting | JobState::Uploading(..))
    }

    pub fn export_reported(&mut self, now: Uptime, task: ExportTask) -> Applied {
        let expected = matches!(self.state, JobState::Starting | JobState::ExportRunning(..));
        self.check(expected, "state of the export")?;
        if let JobKind::Export(export) = &mut self.kind {
            export.shortfall = task.shortfall().cloned();
        }
        self.unknown_polls = 0;
        let is_completed = task.state == ExportState::Completed;
        self.completed_at = is_completed.then(|| self.completed_at.unwrap_or(now));
        let waited = now.saturating_sub(self.completed_at.unwrap_or(now));
        let has_no_link = !task.has_ended() && waited >= ExportTask::LINK_TIMEOUT;
        let failure = task.failure().or_else(|| has_no_link.then(ExportTask::missing_link));
        self.state = match failure {
            Some(failure) => JobState::Failed(failure, Some((&task).into())),
            None if task.has_ended() => JobState::ExportReady(task.id),
            // An export that is COMPLETED without a link is not ready yet.
            None => {
                let (id, mut remote) = (task.id, Remote::default());
                remote.finish(now, Ok(task));
                JobState::ExportRunning(id, remote)
            }
        };
        Ok(())
    }

    /// Handles a failed poll. Only the service knows how its export ends, so the last state is kept, unless the service
    /// still does not know the export after several failed polls.
    pub fn poll_failed(&mut self, now: Uptime, failure: Failure) -> Applied {
        let JobState::ExportRunning(id, remote) = &mut self.state else {
            return self.illegal("failure of a poll");
        };
        let is_unknown = failure.kind == FailureKind::NotFound;
        self.unknown_polls = if is_unknown { self.unknown_polls + 1 } else { 0 };
        if self.unknown_polls > MAX_UNKNOWN_POLLS {
            let export = FailedExport { id: *id, status: SafeText::name(FailedExport::STATUS) };
            self.state = JobState::Failed(failure, Some(export));
        } else {
            remote.finish(now, Err(failure));
        }
        Ok(())
    }

    pub fn start_download(&mut self) -> Applied<(ExportTaskId, PathBuf)> {
        match (&self.state, self.export()) {
            (&JobState::ExportReady(task), Some(export)) => {
                let target = export.target();
                self.state = JobState::Downloading(task, 0, None);
                Ok((task, target))
            }
            _ => self.illegal("start of the download"),
        }
    }

    /// Ends the download. A failed download can be started again.
    pub fn download_finished(&mut self, result: Result<Archive, Failure>) -> Applied {
        let JobState::Downloading(task, ..) = self.state else {
            return self.illegal("end of the download");
        };
        let (state, outcome) = match result {
            Ok(archive) => (JobState::Downloaded(archive, task), Ok(())),
            Err(failure) => (JobState::ExportReady(task), Err(failure)),
        };
        self.state = state;
        outcome
    }

    /// Handles a freshly loaded dataset of an addition or a reindex. If the dataset shows that the
    /// task has ended, returns a message about its success or failure.
    pub fn dataset_observed(
        &mut self,
        clock: Timestamp,
        dataset: &Dataset,
    ) -> Option<Result<String, String>> {
        if !matches!(self.state, JobState::DatasetRunning | JobState::Uncertain(_)) {
            return None;
        }
        let tracker = self.tracker.as_mut()?;
        let status = tracker.observe(&self.kind, clock, dataset);
        if matches!(self.state, JobState::Uncertain(_)) {
            let recent = self
                .ended_at
                .is_none_or(|ended| clock.saturating_sub(ended) < LOST_RESPONSE_WINDOW);
            // The dataset is busy, so the service has accepted the job after all.
            if tracker.is_busy() && recent {
                tracker.accept(clock);
                self.state = JobState::DatasetRunning;
            }
            return None;
        }
        match status {
            TaskStatus::Running => None,
            TaskStatus::Finished(status) => {
                let unread = dataset.error.as_ref().map(|unread| format!(" ({unread})"));
                let message = self.completion_message(&status) + &unread.unwrap_or_default();
                self.state = JobState::DatasetDone(status);
                Some(Ok(message))
            }
            TaskStatus::Failed(failure) => {
                let message = format!("{}: {failure}", self.dataset_name);
                self.state = JobState::Failed(failure, None);
                Some(Err(message))
            }
        }
    }

    /// Stops what this program does for the job, as the user requests. The service has no way to
    /// cancel a job, so the job continues there. Returns a message for the user.
    pub fn stop_watching(&mut self) -> Applied<&'static str> {
        let (state, message) = match &self.state {
            &JobState::Downloading(task, ..) => (
                JobState::ExportReady(task),
                "download stopped; the .part file is kept, d resumes it",
            ),
            JobState::ExportRunning(..) | JobState::DatasetRunning => (
                JobState::Unwatched(self.state.export_task()),
                "no longer watched; the service continues. r watches it again",
            ),
            JobState::Uploading(..) => {
                let message = "upload stopped; the service may have accepted what was sent";
                let failure = Failure::local(message);
                (JobState::Uncertain(failure), message)
            }
            JobState::GettingModel(..) => {
                let message = "download stopped; what arrived is kept";
                let failure = Failure::local(message).with_remedy(RESUME_REMEDY);
                (JobState::Failed(failure, None), message)
            }
            JobState::Encoding(..) => (
                JobState::Unwatched(None),
                "no longer watched; encoding continues. r watches it again",
            ),
            JobState::Queued(_) => {
                let message = "removed from the queue; nothing was sent";
                let failure = Failure::local(message);
                (JobState::Failed(failure, None), message)
            }
            _ => return self.illegal("stop"),
        };
        self.state = state;
        Ok(message)
    }

    pub fn watch_again(&mut self) {
        if let JobState::Unwatched(task) = self.state {
            match task {
                Some(task) => self.state = JobState::ExportRunning(task, Remote::default()),
                None => self.follow_dataset(),
            }
        }
    }

    /// Follows the dataset of a task that the service has accepted, perhaps in an earlier run.
    pub(super) fn follow_dataset(&mut self) {
        self.tracker.get_or_insert_with(|| TaskTracker::resume(self.started_at));
        self.state = JobState::DatasetRunning;
    }

    pub fn poll_now(&mut self) {
        if let JobState::ExportRunning(_, task) = &mut self.state {
            task.invalidate();
        }
    }

    /// Adds the present state to the history. Returns whether the job has just ended.
    pub fn record_state(&mut self, clock: Timestamp) -> bool {
        let (label, progress) = (self.label().to_owned(), self.progress());
        self.history.record(clock, &label, progress);
        let is_active = self.is_active();
        let has_result = !is_active || matches!(self.state, JobState::Downloading(..));
        self.ended_at = has_result.then(|| self.ended_at.unwrap_or(clock));
        std::mem::replace(&mut self.was_active, is_active) && !is_active
    }

    fn check(&self, legal: bool, event: &str) -> Applied {
        if legal { Ok(()) } else { self.illegal(event) }
    }

    fn illegal<T>(&self, event: &str) -> Applied<T> {
        let text = format!(
            "internal error: the {} of {} is {} and cannot take \"{event}\"",
            self.kind.label(),
            self.dataset_name,
            self.label()
        );
        Err(Failure::new(FailureKind::Unexpected, text))
    }

    fn completion_message(&self, status: &SafeText) -> String {
        let added = self.tracker.as_ref().and_then(TaskTracker::added_media_count).unwrap_or(0);
        let added = usize::try_from(added).unwrap_or(usize::MAX);
        let name = &self.dataset_name;
        let next = if status.as_str() == "PARTIAL INDEX" { ": R reindexes it" } else { "" };
        match added {
            0 => format!("{name}: the dataset is {status}{next}"),
            added => {
                let items = count_with_noun(added, "media item", "media items");
                format!("{name}: added {items}; the dataset is {status}{next}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tessera_model::{DatasetId, Link, SavedJobState};

    use super::*;

    #[test]
    fn an_illegal_transition_changes_nothing_and_is_reported() {
        let name = SafeText::name("set");
        let dataset = JobDataset { id: DatasetId(uuid::Uuid::nil()), name };
        let mut job = Job::new(JobId(0), dataset, JobKind::Reindex, Timestamp::ZERO);
        let failure = job.start_download().unwrap_err();
        assert!(failure.to_string().contains("cannot take \"start of the download\""), "{failure}");
        assert_eq!(job.state(), &JobState::Starting);
        let accepted = tessera_wire::add_media::read_accepted(202).unwrap();
        job.operation_accepted(Timestamp::ZERO, accepted).unwrap();
        assert!(job.queue(MediaAddition::new(tessera_model::MediaSource::Files(vec![]))).is_err());
        assert_eq!(job.state(), &JobState::DatasetRunning);
    }

    #[test]
    fn a_completed_export_waits_ten_minutes_for_its_link() {
        let task = |status| ExportTask {
            id: ExportTaskId(uuid::Uuid::from_u128(7)),
            state: ExportState::parse(status),
            progress: None,
            download: None,
            message: None,
        };
        let dataset = JobDataset { id: DatasetId(uuid::Uuid::nil()), name: SafeText::name("set") };
        let mut job = Job::new(JobId(0), dataset, JobKind::Reindex, Timestamp::ZERO);
        for (second, status, is_active) in [
            (0, "COMPLETED", true),
            (500, "IN_PROGRESS", true),
            (1_000, "COMPLETED", true),
            (1_599, "COMPLETED", true),
            (1_600, "COMPLETED", false),
        ] {
            job.export_reported(Uptime::from_secs(second), task(status)).unwrap();
            assert_eq!(job.is_active(), is_active, "{status} at {second} s");
        }
        let failed =
            JobState::Failed(ExportTask::missing_link(), Some((&task("COMPLETED")).into()));
        assert_eq!(job.state(), &failed);
    }

    #[test]
    fn the_saved_state_of_a_job_follows_its_export() {
        let id = ExportTaskId(uuid::Uuid::from_u128(7));
        let state = |status, has_link: bool| {
            let task = ExportTask {
                id,
                state: ExportState::parse(status),
                progress: None,
                download: has_link.then(|| Link::new("https://cdn.example/a.zip")),
                message: Some(SafeText::detail("too many")),
            };
            let id_of_set = DatasetId(uuid::Uuid::nil());
            let dataset = JobDataset { id: id_of_set, name: SafeText::name("set") };
            let mut job = Job::new(JobId(0), dataset, JobKind::Reindex, Timestamp::ZERO);
            job.export_reported(Uptime::ZERO, task).unwrap();
            job.record().unwrap().state
        };
        assert_eq!(state("COMPLETED", true), SavedJobState::Completed { export_task_id: id });
        assert_eq!(state("COMPLETED", false), SavedJobState::Running { export_task_id: id });
        assert_eq!(state("INIT", false), SavedJobState::Running { export_task_id: id });
        let SavedJobState::Failed { reason, export: Some(export) } = state("REJECTED", false)
        else {
            panic!("an export that was rejected has failed");
        };
        assert_eq!(reason.as_str(), "the export ended with REJECTED (service: too many)");
        assert_eq!((export.id, export.status.as_str()), (id, "REJECTED"));
    }
}

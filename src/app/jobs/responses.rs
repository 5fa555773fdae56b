//! What the responses of the service change in jobs, and what follows from each change.

use tessera_model::{Archive, ExportTask, Failure, FailureKind, SafeText, text::count_with_noun};
use tessera_wire::add_media::Accepted;

use crate::{
    app::{App, Level},
    job::{Job, JobId, JobState},
};

impl App {
    pub(in crate::app) fn operation_accepted(&mut self, id: JobId, accepted: Accepted) {
        self.store.datasets.invalidate();
        let clock = self.clock();
        self.transition(id, |job| job.operation_accepted(clock, accepted));
    }

    /// The service rejected the start of a job, or its response was lost.
    pub(in crate::app) fn job_start_failed(&mut self, id: JobId, failure: &Failure) {
        let started = self.transition(id, |job| job.start_failed(failure.clone()));
        if started.is_none() || self.jobs.get(id).is_some_and(|job| job.export().is_some()) {
            return self.export_failed(id, failure);
        }
        // The dataset shows whether a lost request took effect.
        self.store.datasets.invalidate();
        self.outbox.notify_failure(failure);
        if matches!(failure.kind, FailureKind::Invalid | FailureKind::Rejected) {
            self.reopen_add_media_form(id, failure);
        }
    }

    pub(in crate::app) fn export_reported(&mut self, id: JobId, task: ExportTask) {
        let now = self.outbox.now;
        self.transition(id, |job| job.export_reported(now, task));
        match self.jobs.get(id).map(Job::state) {
            Some(JobState::Failed(failure, _)) => {
                let failure = failure.clone();
                self.export_failed(id, &failure);
            }
            Some(JobState::ExportReady(_)) => self.export_ready(id),
            _ => {}
        }
    }

    pub(in crate::app) fn export_poll_failed(&mut self, id: JobId, failure: &Failure) {
        let now = self.outbox.now;
        self.transition(id, |job| job.poll_failed(now, failure.clone()));
        if self.jobs.get(id).is_some_and(|job| matches!(job.state(), JobState::Failed(..))) {
            self.export_failed(id, failure);
        }
    }

    fn export_failed(&mut self, id: JobId, failure: &Failure) {
        let Some(job) = self.jobs.get(id) else { return };
        let of_selection = job.export().is_some_and(|export| export.selection.is_some());
        let dataset = job.dataset;
        // What we know of the dataset was out of date.
        if matches!(failure.kind, FailureKind::Conflict | FailureKind::NotFound) {
            self.store.datasets.invalidate();
        }
        if of_selection && failure.kind == FailureKind::NotFound {
            self.flag_basket_stale(dataset);
        }
        self.outbox.notify_failure(failure);
    }

    fn export_ready(&mut self, id: JobId) {
        let Some(export) = self.jobs.get(id).and_then(Job::export) else { return };
        if export.auto_download {
            self.download(id);
        } else {
            self.toast(format!("{} is ready: d downloads it", export.spec.file_name.as_str()));
        }
    }

    pub(in crate::app) fn download_finished(
        &mut self,
        id: JobId,
        result: Result<Archive, Failure>,
    ) {
        let Some(()) = self.transition(id, |job| job.download_finished(result)) else { return };
        if let Some(JobState::Downloaded(archive, _)) = self.jobs.get(id).map(Job::state) {
            let path = SafeText::file_name(&archive.path.to_string_lossy());
            let entries = count_with_noun(archive.entries, "entry", "entries");
            let images = count_with_noun(archive.images, "image", "images");
            self.toast(format!("{path}: {entries} verified, including {images}"));
        }
    }

    pub(in crate::app) fn advance_dataset_jobs(&mut self) {
        let clock = self.clock();
        let mut ends = Vec::new();
        for job in self.jobs.by_id.values_mut() {
            if let Some(dataset) = self.store.dataset(job.dataset) {
                ends.extend(job.dataset_observed(clock, dataset));
            }
        }
        for end in ends {
            match end {
                Ok(text) => self.toast(text),
                Err(text) => self.outbox.notify(Level::Error, text),
            }
        }
        self.send_queued();
    }

    /// After every event: adds the new states to the histories, announces the ends, and saves.
    pub(in crate::app) fn track_jobs(&mut self) {
        let clock = self.clock();
        let mut ended = Vec::new();
        for job in self.jobs.by_id.values_mut() {
            if job.record_state(clock) {
                ended.extend(job.end_message());
            }
        }
        self.send_job_alerts(&ended);
        self.save_jobs();
    }
}

//! What the user does with jobs: start, download, stop, watch again, remove.

use std::path::PathBuf;

use tessera_model::{DatasetId, Failure, JobKind, MediaAddition, Operation, SafeText};

use crate::{
    app::{App, Level, Pane},
    command_lines::addition_job,
    job::{Job, JobId, JobState},
    message::{Lane, Request},
};

impl App {
    pub(in crate::app) fn start_job(
        &mut self,
        dataset: (DatasetId, SafeText),
        kind: JobKind,
        request: Request,
    ) -> JobId {
        let id = self.add_job(dataset, kind);
        self.outbox.send(Lane::StartJob(id), request);
        id
    }

    fn add_job(&mut self, dataset: (DatasetId, SafeText), kind: JobKind) -> JobId {
        let clock = self.clock();
        self.jobs.add(|id| Job::new(id, dataset, kind, clock))
    }

    /// Sends an addition, or queues it until the dataset is free. `folders` are among its paths.
    pub(in crate::app) fn start_add_media(
        &mut self,
        dataset: (DatasetId, SafeText),
        addition: MediaAddition,
        folders: &[PathBuf],
    ) -> JobId {
        let free = self.can_start_operation(dataset.0, Operation::AddMedia);
        let kind = JobKind::AddMedia(addition_job(&addition, folders));
        let id = self.add_job(dataset, kind);
        if free {
            self.upload(id, addition);
        } else {
            self.transition(id, |job| job.queue(addition));
        }
        id
    }

    fn upload(&mut self, id: JobId, addition: MediaAddition) {
        let Some(dataset) = self.jobs.get(id).map(|job| job.dataset) else { return };
        let before = self.store.dataset(dataset).cloned();
        if self.transition(id, |job| job.start_upload(before.as_ref())).is_some() {
            self.outbox.send(Lane::Upload(id), Request::AddMedia(dataset, addition));
        }
    }

    pub(in crate::app) fn start_reindex(&mut self, dataset: (DatasetId, SafeText)) {
        let (key, request) = (dataset.0, Request::Reindex(dataset.0));
        let id = self.start_job(dataset, JobKind::Reindex, request);
        if let Some(job) = self.jobs.by_id.get_mut(&id) {
            job.track(self.store.dataset(key));
        }
    }

    fn can_start_operation(&self, dataset: DatasetId, operation: Operation) -> bool {
        let status = self.store.dataset(dataset).map(|dataset| &dataset.status);
        let denied = status.and_then(|status| status.allows(operation).denial_reason()).is_some();
        let busy = self.jobs.iter().any(|job| {
            job.dataset == dataset
                && matches!(job.state(), JobState::Uploading(..) | JobState::DatasetRunning)
        });
        !denied && !busy && self.login.rejection.is_none()
    }

    /// Sends the queued additions whose dataset has become free, oldest first.
    pub(super) fn send_queued(&mut self) {
        let queued = self.jobs.iter().filter_map(|job| match job.state() {
            JobState::Queued(addition) => Some((job.id, job.dataset, (**addition).clone())),
            _ => None,
        });
        for (id, dataset, addition) in queued.collect::<Vec<_>>() {
            if self.can_start_operation(dataset, Operation::AddMedia) {
                self.upload(id, addition);
            }
        }
    }

    /// The job that Download applies to: the selected one in the jobs pane, else the newest.
    pub(in crate::app) fn job_to_download(&self) -> Option<&Job> {
        let ready = |job: &&Job| matches!(job.state(), JobState::ExportReady(_));
        match self.panes.focus {
            Pane::Jobs => self.jobs.selected().filter(ready),
            _ => self.jobs.iter().rev().find(ready),
        }
    }

    pub(in crate::app) fn download_selected(&mut self) {
        if let Some(id) = self.job_to_download().map(|job| job.id) {
            self.download(id);
        }
    }

    pub(super) fn download(&mut self, id: JobId) {
        let Some(dataset) = self.jobs.get(id).map(|job| job.dataset) else { return };
        if let Some((task, target)) = self.transition(id, Job::start_download) {
            self.outbox.send(Lane::Download(id), Request::Download { dataset, task, target });
        }
    }

    /// Stops what this program does for the selected job.
    pub(in crate::app) fn stop_watching(&mut self) {
        let Some(id) = self.jobs.selected().map(|job| job.id) else { return };
        let lane = match self.jobs.get(id).map(Job::state) {
            Some(JobState::Downloading(..)) => Lane::Download(id),
            Some(JobState::Uploading(..) | JobState::Queued(_)) => Lane::Upload(id),
            _ => Lane::Export(id),
        };
        let Some(message) = self.transition(id, Job::stop_watching) else { return };
        // The service may have changed the dataset.
        if matches!(self.jobs.get(id).map(Job::state), Some(JobState::Uncertain(_))) {
            self.store.datasets.invalidate();
        }
        self.outbox.cancel(lane);
        self.outbox.notify(Level::Success, message);
    }

    /// Polls every job now, and watches the selected one again.
    pub(in crate::app) fn poll_jobs_now(&mut self) {
        let selected =
            self.jobs.selected().map(|job| job.id).filter(|_| self.panes.focus == Pane::Jobs);
        for job in self.jobs.by_id.values_mut() {
            if Some(job.id) == selected {
                job.watch_again();
            }
            job.poll_now();
            if matches!(job.state(), JobState::OtherInstance(_)) {
                self.jobs.loaded.invalidate();
            }
        }
    }

    /// Applies a transition; one that the state of the job does not allow is shown as an error.
    pub(in crate::app) fn transition<T>(
        &mut self,
        id: JobId,
        apply: impl FnOnce(&mut Job) -> Result<T, Failure>,
    ) -> Option<T> {
        let applied = apply(self.jobs.by_id.get_mut(&id)?);
        applied.inspect_err(|failure| self.outbox.notify_failure(failure)).ok()
    }
}

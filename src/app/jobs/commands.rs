//! What the user does with jobs: start, download, stop, watch again, remove.

use std::path::PathBuf;

use tessera_model::{DatasetId, Failure, JobKind, MediaAddition, Operation, SafeText};

use crate::{
    app::{App, Level, Pane},
    command_lines::addition_job,
    job::{Job, JobId, JobState},
    message::{Lane, Request},
};

impl Jobs {
    pub(in crate::app) fn start(
        &mut self,
        dataset: (DatasetId, SafeText),
        kind: JobKind,
        request: Request, outbox: &mut Outbox) -> JobId {
        let id = self.create(dataset, kind, outbox);
        outbox.send(Lane::StartJob(id), request);
        id
    }

    fn create(&mut self, dataset: (DatasetId, SafeText), kind: JobKind, outbox: &mut Outbox) -> JobId {
        let clock = outbox.clock();
        self.add(|id| Job::new(id, dataset, kind, clock))
    }

    /// Sends an addition, or queues it until the dataset is free. `folders` are among its paths.
    pub(in crate::app) fn start_add_media(
        &mut self,
        dataset: (DatasetId, SafeText),
        addition: MediaAddition,
        folders: &[PathBuf], store: &Store, login: &LoginState, outbox: &mut Outbox) -> JobId {
        let free = self.can_start_operation(dataset.0, Operation::AddMedia, store, login);
        let kind = JobKind::AddMedia(addition_job(&addition, folders));
        let id = self.create(dataset, kind, outbox);
        if free {
            self.upload(id, addition, store, outbox);
        } else {
            self.transition(id, |job| job.queue(addition), outbox);
        }
        id
    }

    fn upload(&mut self, id: JobId, addition: MediaAddition, store: &Store, outbox: &mut Outbox) {
        let Some(dataset) = self.get(id).map(|job| job.dataset) else { return };
        let before = store.dataset(dataset).cloned();
        if self.transition(id, |job| job.start_upload(before.as_ref()), outbox).is_some() {
            outbox.send(Lane::Upload(id), Request::AddMedia(dataset, addition));
        }
    }

    pub(in crate::app) fn start_reindex(&mut self, dataset: (DatasetId, SafeText), store: &Store, outbox: &mut Outbox) {
        let (key, request) = (dataset.0, Request::Reindex(dataset.0));
        let id = self.start(dataset, JobKind::Reindex, request, outbox);
        if let Some(job) = self.by_id.get_mut(&id) {
            job.track(store.dataset(key));
        }
    }

    fn can_start_operation(&self, dataset: DatasetId, operation: Operation, store: &Store, login: &LoginState) -> bool {
        let status = store.dataset(dataset).map(|dataset| &dataset.status);
        let denied = status.and_then(|status| status.allows(operation).denial_reason()).is_some();
        let busy = self.iter().any(|job| {
            job.dataset == dataset
                && matches!(job.state(), JobState::Uploading(..) | JobState::DatasetRunning)
        });
        !denied && !busy && login.rejection.is_none()
    }

    /// Sends the queued additions whose dataset has become free, oldest first.
    pub(in crate::app) fn send_queued(&mut self, store: &Store, login: &LoginState, outbox: &mut Outbox) {
        let queued = self.iter().filter_map(|job| match job.state() {
            JobState::Queued(addition) => Some((job.id, job.dataset, (**addition).clone())),
            _ => None,
        });
        for (id, dataset, addition) in queued.collect::<Vec<_>>() {
            if self.can_start_operation(dataset, Operation::AddMedia, store, login) {
                self.upload(id, addition, store, outbox);
            }
        }
    }

    /// The job that Download applies to: the selected one in the jobs pane, else the newest.
    pub(in crate::app) fn job_to_download(&self, focus: Pane) -> Option<&Job> {
        let ready = |job: &&Job| matches!(job.state(), JobState::ExportReady(_));
        match focus {
            Pane::Jobs => self.selected().filter(ready),
            _ => self.iter().rev().find(ready),
        }
    }

    pub(in crate::app) fn download_selected(&mut self, focus: Pane, outbox: &mut Outbox) {
        if let Some(id) = self.job_to_download(focus).map(|job| job.id) {
            self.download(id, outbox);
        }
    }

    pub(in crate::app) fn download(&mut self, id: JobId, outbox: &mut Outbox) {
        let Some(dataset) = self.get(id).map(|job| job.dataset) else { return };
        if let Some((task, target)) = self.transition(id, Job::start_download, outbox) {
            outbox.send(Lane::Download(id), Request::Download { dataset, task, target });
        }
    }

    /// Stops what this program does for the selected job.
    pub(in crate::app) fn stop_watching(&mut self, store: &mut Store, outbox: &mut Outbox) {
        let Some(id) = self.selected().map(|job| job.id) else { return };
        let lane = match self.get(id).map(Job::state) {
            Some(JobState::Downloading(..)) => Lane::Download(id),
            Some(JobState::Uploading(..) | JobState::Queued(_)) => Lane::Upload(id),
            _ => Lane::Export(id),
        };
        let Some(message) = self.transition(id, Job::stop_watching, outbox) else { return };
        // The service may have changed the dataset.
        if matches!(self.get(id).map(Job::state), Some(JobState::Uncertain(_))) {
            store.datasets.invalidate();
        }
        outbox.cancel(lane);
        outbox.notify(Level::Success, message);
    }

    /// Polls every job now, and watches the selected one again.
    pub(in crate::app) fn poll_now(&mut self, focus: Pane) {
        let selected =
            self.selected().map(|job| job.id).filter(|_| focus == Pane::Jobs);
        for job in self.by_id.values_mut() {
            if Some(job.id) == selected {
                job.watch_again();
            }
            job.poll_now();
            if matches!(job.state(), JobState::OtherInstance(_)) {
                self.loaded.invalidate();
            }
        }
    }

    /// Applies a transition; one that the state of the job does not allow is shown as an error.
    pub(in crate::app) fn transition<T>(
        &mut self,
        id: JobId,
        apply: impl FnOnce(&mut Job) -> Result<T, Failure>, outbox: &mut Outbox) -> Option<T> {
        let applied = apply(self.by_id.get_mut(&id)?);
        applied.inspect_err(|failure| outbox.notify_failure(failure)).ok()
    }
}

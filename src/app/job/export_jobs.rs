//! The steps of jobs that begin with the person or end with an answer.

use super::{Job, JobState};
use crate::{
    app::{App, Uptime},
    message::{JobId, Lane, Request},
};
use tessera_model::{Archive, DatasetId, ExportTask, Failure, FailureKind, JobKind, SafeText};

impl App {
    /// Writes a new job down and sends its request.
    pub(in crate::app) fn start_job(
        &mut self,
        dataset: (DatasetId, SafeText),
        work: JobKind,
        request: Request,
    ) -> JobId {
        let id = self.new_job(dataset, work);
        self.send(Lane::StartJob(id), request);
        id
    }

    /// A new job at the top of the list.
    pub(in crate::app) fn new_job(
        &mut self,
        dataset: (DatasetId, SafeText),
        work: JobKind,
    ) -> JobId {
        let id = JobId(self.jobs.next_id);
        self.jobs.next_id += 1;
        self.jobs.cursor = 0;
        self.store.jobs.insert(id, Job::new(id, dataset, work, self.clock()));
        id
    }

    /// The answer to the start of a job.
    pub(in crate::app) fn job_started(
        &mut self,
        id: JobId,
        answer: Result<Option<ExportTask>, Failure>,
    ) {
        match answer {
            Ok(Some(task)) => self.export_updated(id, Job::start_answered, Ok(task)),
            Ok(None) => self.operation_started(id, Ok(())),
            Err(failure)
                if self.store.jobs.get(&id).is_some_and(|job| job.dataset_progress.is_some()) =>
            {
                self.operation_started(id, Err(failure));
            }
            Err(failure) => self.export_updated(id, Job::start_answered, Err(failure)),
        }
    }

    /// How far a transfer has come: bytes so far, bytes in all.
    pub(in crate::app) fn transfer_progressed(&mut self, id: JobId, so_far: u64, all: Option<u64>) {
        let stage = self.store.jobs.get_mut(&id).map(|job| &mut job.state);
        if let Some(JobState::Uploading(done, total) | JobState::Downloading(_, done, total)) =
            stage
        {
            (*done, *total) = (so_far, all);
        }
    }

    /// An export took a step: told when it failed, fetched when it is ready.
    pub(in crate::app) fn export_updated(
        &mut self,
        id: JobId,
        step: fn(&mut Job, Uptime, Result<ExportTask, Failure>),
        answer: Result<ExportTask, Failure>,
    ) {
        let Some(job) = self.store.jobs.get_mut(&id) else { return };
        step(job, self.now, answer);
        if let JobState::Uncertain(failure) | JobState::Failed(failure) = &job.state {
            let failure = failure.clone();
            let selected = job.export().is_some_and(|export| export.selection.is_some());
            let dataset = job.dataset;
            // Our picture of the dataset was wrong: look again.
            if matches!(failure.kind, FailureKind::Conflict | FailureKind::NotFound) {
                self.store.datasets.invalidate();
            }
            if selected && failure.kind == FailureKind::NotFound {
                self.flag_basket_stale(dataset);
            }
            self.notify_failure(&failure);
        }
        self.download_if_ready(id);
    }

    fn download_if_ready(&mut self, id: JobId) {
        let Some((job, export)) =
            self.store.jobs.get(&id).and_then(|job| Some((job, job.export()?)))
        else {
            return;
        };
        if !matches!(job.state, JobState::ExportReady(_)) {
            return;
        }
        if export.auto_download {
            self.start_download(id);
        } else {
            let text = format!("{} is ready: d downloads it", export.spec.file_name.as_str());
            self.toast(text);
        }
    }

    /// Fetches the archive of a finished export.
    pub(in crate::app) fn start_download(&mut self, id: JobId) {
        let Some(job) = self.store.jobs.get_mut(&id) else { return };
        let (&JobState::ExportReady(task), Some(export)) = (&job.state, job.export()) else {
            return;
        };
        let target = export.target();
        job.state = JobState::Downloading(task, 0, None);
        let request = Request::Download { dataset: job.dataset, task, target };
        self.send(Lane::Download(id), request);
    }

    /// The download of an export ended.
    pub(in crate::app) fn download_finished(
        &mut self,
        id: JobId,
        answer: Result<Archive, Failure>,
    ) {
        let Some(job) = self.store.jobs.get_mut(&id) else { return };
        match (job.download_answered(answer), &job.state) {
            (Err(failure), _) => self.notify_failure(&failure),
            (Ok(()), JobState::Downloaded(archive)) => {
                let path = SafeText::file_name(&archive.path.to_string_lossy());
                let text = format!(
                    "{path}: {} entries verified, {} of them pictures",
                    archive.entries, archive.images
                );
                self.toast(text);
            }
            (Ok(()), _) => {}
        }
    }
}

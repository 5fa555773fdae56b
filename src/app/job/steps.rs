//! The steps of jobs that begin with the person or end with an answer.

use super::{Job, Stage};
use crate::{
    app::{App, Effect, Moment},
    message::{JobId, Lane, Request},
};
use tessera_model::{Archive, DatasetId, ExportTask, Failure, FailureKind, SafeText, Work};

impl App {
    /// Writes a new job down and sends its request.
    pub(in crate::app) fn start_job(
        &mut self,
        dataset: (DatasetId, SafeText),
        work: Work,
        request: Request,
        effects: &mut Vec<Effect>,
    ) -> JobId {
        let id = self.new_job(dataset, work);
        self.send(Lane::Start(id), request, effects);
        id
    }

    /// A new job at the top of the list.
    pub(in crate::app) fn new_job(&mut self, dataset: (DatasetId, SafeText), work: Work) -> JobId {
        let id = JobId(self.jobs.next);
        self.jobs.next += 1;
        self.jobs.cursor = 0;
        self.store.jobs.insert(id, Job::new(id, dataset, work, self.clock()));
        id
    }

    /// The answer to the start of a job.
    pub(in crate::app) fn job_started(
        &mut self,
        id: JobId,
        answer: Result<Option<ExportTask>, Failure>,
        effects: &mut Vec<Effect>,
    ) {
        match answer {
            Ok(Some(task)) => self.export_moved(id, Job::started, Ok(task), effects),
            Ok(None) => self.operation_started(id, Ok(())),
            Err(failure) if self.store.jobs.get(&id).is_some_and(|job| job.course.is_some()) => {
                self.operation_started(id, Err(failure));
            }
            Err(failure) => self.export_moved(id, Job::started, Err(failure), effects),
        }
    }

    /// How far a transfer has come: bytes so far, bytes in all.
    pub(in crate::app) fn transferred(&mut self, id: JobId, so_far: u64, all: Option<u64>) {
        let stage = self.store.jobs.get_mut(&id).map(|job| &mut job.stage);
        if let Some(Stage::Sending(done, total) | Stage::Downloading(_, done, total)) = stage {
            (*done, *total) = (so_far, all);
        }
    }

    /// An export took a step: told when it failed, fetched when it is ready.
    pub(in crate::app) fn export_moved(
        &mut self,
        id: JobId,
        step: fn(&mut Job, Moment, Result<ExportTask, Failure>),
        answer: Result<ExportTask, Failure>,
        effects: &mut Vec<Effect>,
    ) {
        let Some(job) = self.store.jobs.get_mut(&id) else { return };
        step(job, self.now, answer);
        if let Stage::Uncertain(failure) | Stage::Failed(failure) = &job.stage {
            let failure = failure.clone();
            let selected = job.export().is_some_and(|export| export.selection.is_some());
            let dataset = job.dataset;
            // Our picture of the dataset was wrong: look again (M14, M26).
            if matches!(failure.kind, FailureKind::Conflict | FailureKind::NotFound) {
                self.store.datasets.invalidate();
            }
            if selected && failure.kind == FailureKind::NotFound {
                self.doubt_basket(dataset, effects);
            }
            self.notices.fail(self.now, &failure);
        }
        self.export_ended(id, effects);
    }

    fn export_ended(&mut self, id: JobId, effects: &mut Vec<Effect>) {
        let Some((job, export)) =
            self.store.jobs.get(&id).and_then(|job| Some((job, job.export()?)))
        else {
            return;
        };
        if !matches!(job.stage, Stage::Completed(_)) {
            return;
        }
        if export.fetch {
            self.download(id, effects);
        } else {
            let text = format!("{} is ready: d downloads it", export.spec.file_name.as_str());
            self.toast(text);
        }
    }

    /// Fetches the archive of a finished export.
    pub(in crate::app) fn download(&mut self, id: JobId, effects: &mut Vec<Effect>) {
        let Some(job) = self.store.jobs.get_mut(&id) else { return };
        let (&Stage::Completed(task), Some(export)) = (&job.stage, job.export()) else { return };
        let target = export.target();
        job.stage = Stage::Downloading(task, 0, None);
        let request = Request::Download { dataset: job.dataset, task, target };
        self.send(Lane::Download(id), request, effects);
    }

    /// The download of an export ended.
    pub(in crate::app) fn downloaded(&mut self, id: JobId, answer: Result<Archive, Failure>) {
        let Some(job) = self.store.jobs.get_mut(&id) else { return };
        match (job.fetched(answer), &job.stage) {
            (Err(failure), _) => self.notices.fail(self.now, &failure),
            (Ok(()), Stage::Downloaded(archive)) => {
                let path = SafeText::file(&archive.path.to_string_lossy());
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

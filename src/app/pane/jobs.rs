//! The jobs pane: the selected row, newest first, and what can be done with it.

use crate::{
    app::{App, Effect, Level, Stage, pane::moved},
    message::{JobId, Lane, Request},
};

/// State of the pane.
#[derive(Debug, Default)]
pub struct Jobs {
    /// The selected row; 0 is the newest job.
    pub cursor: usize,
    /// The number of the next job.
    pub next: u32,
}

impl App {
    /// Moves the selection by some rows.
    pub(in crate::app) fn move_in_jobs(&mut self, by: isize) {
        self.jobs.cursor = moved(self.jobs.cursor, by, self.store.jobs.len());
    }

    /// Fetches the archive that `download` means.
    pub(in crate::app) fn download_chosen(&mut self, effects: &mut Vec<Effect>) {
        if let Some(id) = self.job_to_download().map(|job| job.id) {
            self.download(id, effects);
        }
    }

    /// Fetches the archive of a finished export.
    pub(in crate::app) fn download(&mut self, id: JobId, effects: &mut Vec<Effect>) {
        let Some(job) = self.store.jobs.get_mut(&id) else {
            return;
        };
        let Stage::Completed(task) = job.stage else {
            return;
        };
        job.stage = Stage::Downloading(task, 0, None);
        let target = job.folder.join(job.spec.file_name.as_str());
        let request = Request::Download { dataset: job.dataset, task, target };
        self.send(Lane::Download(id), request, effects);
    }

    /// Stops asking about the selected job. The interface has no cancel, so none is pretended.
    pub(in crate::app) fn stop_watching(&mut self, effects: &mut Vec<Effect>) {
        let Some(id) = self.selected_job().map(|job| job.id) else {
            return;
        };
        let Some(job) = self.store.jobs.get_mut(&id) else {
            return;
        };
        job.stage = Stage::Unwatched;
        job.ended = Some(self.now);
        if self.tickets.cancel(&Lane::Export(id)) {
            effects.push(Effect::Cancel(Lane::Export(id)));
        }
        let text = "not watched any more; the service goes on with the export";
        self.notices.add(self.now, Level::Success, text);
    }
}

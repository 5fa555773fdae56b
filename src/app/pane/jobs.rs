//! The jobs pane: the selected row, newest first, and what can be done with it.

use crate::{
    app::{
        Activity, App, Effect, JobState, Level, Pane, Remote, overlay::AddMediaForm,
        pane::moved_cursor,
    },
    message::{JobId, Lane},
};
use tessera_model::{Failure, FailureKind, JobRecord};

/// State of the pane.
#[derive(Debug, Default)]
pub struct Jobs {
    /// The selected row; 0 is the newest job.
    pub cursor: usize,
    /// The number of the next job.
    pub next_id: u32,
    /// Whether the jobs of earlier runs were recalled.
    pub loaded: Remote<()>,
    /// What was told last of what goes on.
    pub reported_activity: Activity,
    /// What was written down last.
    pub saved_records: Vec<JobRecord>,
    /// The form of the newest addition, to correct it when the service refuses it.
    pub sent_form: Option<(JobId, Box<AddMediaForm>)>,
}

impl App {
    /// Moves the selection by some rows.
    pub(in crate::app) fn move_in_jobs(&mut self, by: isize) {
        self.jobs.cursor = moved_cursor(self.jobs.cursor, by, self.store.jobs.len());
    }

    /// Fetches the archive that `download` means.
    pub(in crate::app) fn download_selected(&mut self) {
        if let Some(id) = self.job_to_download().map(|job| job.id) {
            self.start_download(id);
        }
    }

    /// Stops what this program does for the selected job, and says what goes on without it. The
    /// interface has no cancel, so none is pretended.
    pub(in crate::app) fn stop_watching(&mut self) {
        let Some(id) = self.selected_job().map(|job| job.id) else { return };
        let Some(job) = self.store.jobs.get_mut(&id) else { return };
        let (lane, text) = match &job.state {
            &JobState::Downloading(task, ..) => {
                job.state = JobState::ExportReady(task);
                let text = "download stopped; what came stays in the .part file, d goes on from it";
                (Lane::Download(id), text)
            }
            JobState::ExportRunning(..) | JobState::DatasetRunning => {
                job.state = JobState::Unwatched(job.task());
                let text = "not watched any more; the service goes on with it. r looks again";
                (Lane::Export(id), text)
            }
            JobState::Uploading(..) => {
                let text = "upload stopped; what was sent whole may still have been taken on";
                job.state = JobState::Uncertain(Failure::new(FailureKind::Local, text));
                self.store.datasets.invalidate();
                (Lane::Upload(id), text)
            }
            JobState::Queued(_) => {
                let text = "taken off the queue; nothing was sent";
                job.state = JobState::Failed(Failure::new(FailureKind::Local, text));
                job.acknowledged = true;
                (Lane::Upload(id), text)
            }
            _ => return,
        };
        if self.tickets.cancel(&lane) {
            self.effects.push(Effect::Cancel(lane));
        }
        self.notify(Level::Success, text);
    }

    /// Asks for the state of every watched job now, and watches the selected one again.
    pub(in crate::app) fn poll_now(&mut self) {
        if self.focus == Pane::Jobs
            && let Some(id) = self.selected_job().map(|job| job.id)
            && let Some(job) = self.store.jobs.get_mut(&id)
            && let JobState::Unwatched(task) = job.state
        {
            job.state = match task {
                Some(task) => JobState::ExportRunning(task, Remote::default()),
                None => JobState::DatasetRunning,
            };
        }
        for job in self.store.jobs.values_mut() {
            match &mut job.state {
                JobState::ExportRunning(_, task) => task.invalidate(),
                JobState::OtherInstance(_) => self.jobs.loaded.invalidate(),
                _ => {}
            }
        }
    }

    /// Takes the selected row off the list. What is at the service or on this disk stays.
    pub(in crate::app) fn forget_job(&mut self) {
        if let Some(id) = self.selected_job().map(|job| job.id) {
            self.store.jobs.remove(&id);
            self.move_in_jobs(0);
        }
    }
}

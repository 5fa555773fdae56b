//! One job opened: every state it went through, the last answer, and how to do it again.

use crate::{
    app::{App, Overlay, overlay::ScrollState},
    message::JobId,
};

/// The job that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobDetail {
    /// The job.
    pub job: JobId,
    /// How far its lines are scrolled.
    pub scroll: ScrollState,
    /// Rows of its box, frame included, when it was opened.
    pub rows: u16,
}

impl App {
    /// Opens the selected job. A failure has been looked at from then on.
    pub(in crate::app) fn open_job_detail(&mut self) {
        let Some(id) = self.selected_job().map(|job| job.id) else { return };
        self.jobs.acknowledge(id);
        let Some(job) = self.jobs.get(id) else { return };
        let steps = u16::try_from(job.history().transitions().len()).unwrap_or(u16::MAX);
        let view =
            JobDetail { job: id, scroll: ScrollState::default(), rows: steps.saturating_add(15) };
        self.overlay = Some(Overlay::JobDetail(view));
    }
}

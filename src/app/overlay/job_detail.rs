//! The detail of one job: its history, the last response, and the command that repeats it.

use super::{Dialog, KeyResult, Overlay, ScrollState};
use crate::{app::App, input::Chord, message::JobId};

#[derive(Clone, Copy, Debug)]
pub struct JobDetail {
    pub job: JobId,
    pub scroll: ScrollState,
    /// The height when it was opened, frame included.
    rows: u16,
}

impl Dialog for JobDetail {
    fn handle_key(&mut self, chord: Chord, _: &App) -> KeyResult {
        self.scroll.handle_key(chord)
    }

    fn preferred_size(&self, _: (u16, u16)) -> (u16, u16) {
        (86, self.rows)
    }

    fn hints(&self) -> &'static str {
        "j k scroll   Esc close"
    }
}

impl App {
    pub(in crate::app) fn open_job_detail(&mut self) {
        let Some(job) = self.jobs.selected() else { return };
        let states = u16::try_from(job.history().transitions().len()).unwrap_or(u16::MAX);
        let (scroll, rows) = (ScrollState::default(), states.saturating_add(19));
        self.overlays.open(Overlay::JobDetail(JobDetail { job: job.id, scroll, rows }));
    }
}

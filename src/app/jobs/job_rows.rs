//! The rows of the jobs pane. A job has one, and further ones for its summary while rows are free.

use ratatui::layout::Rect;

use super::{
    Job,
    job_text::{job_summary, login_summary},
};
use crate::app::{App, areas::inner_area, pane::scroll_top, wrapping::wrapped_rows};

/// From this width on, a row has the id and the next poll (columns).
const WIDE_COLUMNS: u16 = 100;
/// The columns before the summary, without and with progress, and with id and next poll.
const STATE_COLUMNS: u16 = 47;
const PROGRESS_COLUMNS: u16 = 16;
const ID_COLUMNS: u16 = 21;
/// A summary with less room beside the state is below it (columns).
const MIN_SUMMARY_COLUMNS: u16 = 24;
/// The column of a summary below the state.
const INDENT: u16 = 3;

pub fn shows_id(width: u16) -> bool {
    width >= WIDE_COLUMNS
}

pub fn shows_progress(width: u16) -> bool {
    width >= STATE_COLUMNS + PROGRESS_COLUMNS
}

/// The row and the column where the summary of a job begins.
pub fn summary_place(width: u16) -> (u16, u16) {
    let id = if shows_id(width) { ID_COLUMNS } else { 0 };
    let beside = STATE_COLUMNS + PROGRESS_COLUMNS + id;
    if width >= beside + MIN_SUMMARY_COLUMNS { (0, beside) } else { (1, INDENT) }
}

pub fn summary(app: &App, job: &Job) -> String {
    if app.waits_for_login(job) { login_summary(job) } else { job_summary(job) }
}

/// The area of each visible job, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRows {
    /// The first visible job.
    pub top: usize,
    pub areas: Vec<(usize, Rect)>,
}

impl JobRows {
    pub fn new(app: &App, pane: Rect) -> Self {
        let inner = inner_area(pane);
        let height = usize::from(inner.height);
        let top = scroll_top(0, app.jobs.cursor(), height);
        let (first, column) = summary_place(inner.width);
        let cells = inner.width.saturating_sub(column);
        let visible: Vec<&Job> = app.jobs.iter().rev().skip(top).take(height).collect();
        let mut y = inner.y;
        let areas = visible.iter().enumerate().map(|(place, job)| {
            let others = u16::try_from(visible.len() - place - 1).unwrap_or(u16::MAX);
            let free = inner.bottom().saturating_sub(y).saturating_sub(others);
            let needed = first.saturating_add(wrapped_rows(&summary(app, job), cells));
            let area = Rect { y, height: needed.min(free).max(1), ..inner };
            y = area.bottom();
            (top + place, area)
        });
        let areas = areas.collect();
        Self { top, areas }
    }

    pub fn index_at(&self, row: u16) -> Option<usize> {
        let hit = self.areas.iter().find(|(_, area)| (area.top()..area.bottom()).contains(&row));
        hit.map(|(index, _)| *index)
    }
}

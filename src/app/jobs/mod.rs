//! Jobs: exports, additions and reindexes that were started in this program, over restarts.

mod commands;
pub mod job_rows;
pub mod job_text;
mod persistence;
mod responses;

use std::collections::BTreeMap;

use tessera_model::JobRecord;

use crate::{
    app::{Activity, Remote, overlay::add_media::AddMediaForm, pane::moved_cursor},
    job::{Job, JobId, JobState},
};

#[derive(Debug, Default)]
pub struct Jobs {
    /// Oldest first.
    by_id: BTreeMap<JobId, Job>,
    cursor: usize,
    next_id: u32,
    /// Whether the jobs of earlier runs were loaded.
    loaded: Remote<()>,
    saved_records: Vec<JobRecord>,
    /// The number of unsent additions that the user was last warned about when quitting.
    pub(in crate::app) quit_warned_about: usize,
    pub(in crate::app) reported_activity: Activity,
    /// The form of the newest addition, to correct it when the service rejects it.
    pub(in crate::app) submitted_form: Option<(JobId, Box<AddMediaForm>)>,
}

impl Jobs {
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Job> {
        self.by_id.values()
    }

    pub fn get(&self, id: JobId) -> Option<&Job> {
        self.by_id.get(&id)
    }

    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// The selected row; 0 is the newest job.
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    pub fn selected(&self) -> Option<&Job> {
        self.iter().rev().nth(self.cursor)
    }

    pub(in crate::app) fn any_state(&self, condition: impl Fn(&JobState) -> bool) -> bool {
        self.iter().any(|job| condition(job.state()))
    }

    pub(in crate::app) fn move_cursor(&mut self, by: isize) {
        self.cursor = moved_cursor(self.cursor, by, self.by_id.len());
    }

    /// Puts the cursor on a row, or on the last one.
    pub(in crate::app) fn select_row(&mut self, row: usize) {
        self.cursor = moved_cursor(row, 0, self.by_id.len());
    }

    fn add(&mut self, create: impl FnOnce(JobId) -> Job) -> JobId {
        self.cursor = 0;
        self.insert(None, create)
    }

    /// Adds a job, or replaces the one with this id.
    fn insert(&mut self, known: Option<JobId>, create: impl FnOnce(JobId) -> Job) -> JobId {
        let id = known.unwrap_or(JobId(self.next_id));
        self.next_id = self.next_id.max(id.0 + 1);
        self.by_id.insert(id, create(id));
        id
    }

    /// Removes the selected row. The data at the service and on this disk stays.
    pub(in crate::app) fn remove_selected(&mut self) {
        if let Some(id) = self.selected().map(|job| job.id) {
            self.by_id.remove(&id);
            self.move_cursor(0);
        }
    }
}

//! What follows from a step of a job, whichever answer brought it: a line of its timeline, its
//! end, and a word in the journal.

use crate::app::{App, Effect};

impl App {
    /// Compares every job with what was last seen of it.
    pub(in crate::app) fn track_jobs(&mut self, effects: &mut Vec<Effect>) {
        let clock = self.clock();
        for job in self.store.jobs.values_mut() {
            let (word, measure) = (job.word().to_owned(), job.measure());
            job.timeline.note(clock, &word, measure);
            job.ended = if job.is_active() { None } else { job.ended.or(Some(clock)) };
        }
        self.keep_jobs(effects);
    }
}

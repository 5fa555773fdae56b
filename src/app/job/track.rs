//! What follows from a step of a job, whichever answer brought it: a line of its timeline, its
//! end, what is told of it, and a word in the journal.

use crate::app::{App, Effect, tell};

impl App {
    /// Compares every job with what was last seen of it.
    pub(in crate::app) fn track_jobs(&mut self, effects: &mut Vec<Effect>) {
        let clock = self.clock();
        let mut ended = Vec::new();
        for job in self.store.jobs.values_mut() {
            let (word, measure) = (job.word().to_owned(), job.measure());
            job.timeline.note(clock, &word, measure);
            let over = !job.is_active();
            if over && job.ended.is_none() {
                ended.extend(tell::ended(job));
            }
            job.ended = if over { job.ended.or(Some(clock)) } else { None };
        }
        self.tell(&ended, effects);
        self.keep_jobs(effects);
    }
}

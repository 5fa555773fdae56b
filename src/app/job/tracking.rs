//! What follows from a step of a job, whichever answer brought it: a line of its timeline, its
//! end, what is told of it, and a word in the journal.

use crate::app::{App, activity};

impl App {
    /// Compares every job with what was last seen of it.
    pub(in crate::app) fn track_jobs(&mut self) {
        let clock = self.clock();
        let mut ended = Vec::new();
        for job in self.store.jobs.values_mut() {
            let (word, measure) = (job.label().to_owned(), job.progress());
            job.history.record(clock, &word, measure);
            let over = !job.is_active();
            if over && job.ended_at.is_none() {
                ended.extend(activity::end_message(job));
            }
            job.ended_at = if over { job.ended_at.or(Some(clock)) } else { None };
        }
        self.send_job_alerts(&ended);
        self.save_jobs();
    }
}

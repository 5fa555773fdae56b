//! A job of the command line in the journal: written down before its request is sent, so that a kill
//! in between leaves a trace, and taken over by the interface when this command is gone (M20, D22).

use crate::{
    cli::{Connection, Context, follow::clock},
    model::{Dataset, Entry, JobRecord, Standing, Work},
};

/// A job that is written down.
pub struct Record<'a> {
    context: &'a Context,
    connection: &'a Connection,
    job: JobRecord,
}

impl<'a> Record<'a> {
    /// Writes down that the request is about to be sent. A rehearsal writes nothing.
    #[must_use]
    pub fn begin(
        context: &'a Context,
        connection: &'a Connection,
        dataset: &Dataset,
        work: Work,
    ) -> Self {
        let job = JobRecord {
            started: clock(),
            ended: None,
            dataset: dataset.id,
            dataset_name: dataset.name.clone(),
            work,
            standing: Standing::Sent,
        };
        let record = Self { context, connection, job };
        record.write();
        record
    }

    /// It stands otherwise now.
    pub fn stands(&mut self, standing: Standing) {
        let over = matches!(
            standing,
            Standing::Done(_)
                | Standing::Failed(_)
                | Standing::Downloaded(_)
                | Standing::Uncertain(_)
        );
        self.job.ended = over.then(clock);
        self.job.standing = standing;
        self.write();
    }

    fn write(&self) {
        if self.context.global.dry_run || self.context.global.print.is_some() {
            return;
        }
        let jobs = Entry::Jobs { ours: vec![self.job.clone()], elsewhere: Vec::new() };
        let kept = self.connection.journal.keep(self.connection.next_entry(), &jobs);
        if let Err(failure) = kept {
            self.context.note.warn(format!("the job is not written down: {failure}"));
        }
    }
}

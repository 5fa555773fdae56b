//! A job of the command line in the journal: written down before its request is sent, so that a kill
//! in between leaves a trace, and taken over by the interface when this command is gone (M20, D22).

use crate::{
    cli::{Connection, Context, follow::clock},
    model::{Archive, Book, Dataset, Entry, ExportTaskId, Failure, JobRecord, Standing, Work},
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

    /// The job as it is written down.
    #[must_use]
    pub fn job(&self) -> &JobRecord {
        &self.job
    }

    /// It stands otherwise now.
    pub fn stands(&mut self, standing: Standing) {
        self.job.ended = standing.is_over().then(clock);
        self.job.standing = standing;
        self.write();
    }

    fn write(&self) {
        if self.context.is_rehearsal() {
            return;
        }
        // One file holds all jobs of a process: a batch must not replace the one before it.
        let ours = self.connection.with_jobs(|jobs| {
            match jobs.iter_mut().find(|job| job.started == self.job.started) {
                Some(job) => *job = self.job.clone(),
                None => jobs.push(self.job.clone()),
            }
            jobs.clone()
        });
        let jobs = Entry::Jobs { ours, elsewhere: Vec::new() };
        let kept = self.connection.journal.keep(self.connection.next_entry(), &jobs);
        if let Err(failure) = kept {
            self.context.note.warn(format!("the job is not written down: {failure}"));
        }
    }
}

/// The archive of an export that was started here is on this machine: nobody needs to fetch it again.
pub fn downloaded(
    context: &Context,
    connection: &Connection,
    task: ExportTaskId,
    archive: &Archive,
) {
    let write = || -> Result<(), Failure> {
        let Some(Entry::Jobs { mut ours, elsewhere }) = connection.journal.recall(&Book::Jobs)?
        else {
            return Ok(());
        };
        let Some(job) = ours.iter_mut().find(|job| job.standing.export() == Some(task)) else {
            return Ok(());
        };
        job.ended = Some(clock());
        job.standing = Standing::Downloaded(archive.clone());
        connection.journal.keep(connection.next_entry(), &Entry::Jobs { ours, elsewhere })
    };
    if let Err(failure) = write() {
        context.note.warn(format!("the download is not written down: {failure}"));
    }
}

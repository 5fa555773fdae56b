//! A job of the command line in the journal: written down before its request is sent, so that a kill
//! in between leaves a trace, and taken over by the interface when this command is gone (M20, D22).

use crate::cli::{Connection, Context, Ended, Exit, follow::clock};
use tessera_model::{
    Archive, Book, Dataset, Entry, ExportTaskId, Failure, JobRecord, SafeText, Standing, Work,
    course::Course,
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

    /// Its request was refused, or nobody knows whether it was taken on.
    pub fn failed(&mut self, failure: &Failure) {
        let words = SafeText::detail(&failure.to_string());
        self.stands(if failure.leaves_open() {
            Standing::Uncertain(words)
        } else {
            Standing::Failed(words)
        });
    }

    /// Follows the addition or reindex to its end: the status the dataset came to rest in. `course` is
    /// the dataset as it was before the request.
    ///
    /// # Errors
    /// As [`Context::follow_operation`].
    pub async fn follow(&mut self, course: Course) -> Result<SafeText, Ended> {
        let (dataset, work) = (self.job.dataset, self.job.work.clone());
        let outcome = self.context.follow_operation(self.connection, dataset, &work, course).await;
        match &outcome {
            Ok(rest) => self.stands(Standing::Done(rest.clone())),
            Err(ended) if ended.exit == Exit::Remote => {
                self.stands(Standing::Failed(SafeText::detail(&ended.sentence)));
            }
            // It goes on at the service; whoever looks next follows it.
            Err(_) => {}
        }
        outcome
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

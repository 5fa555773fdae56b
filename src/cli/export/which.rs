//! Which export is meant, and what the journal knows of it.

use clap::Args;

use crate::{
    cli::{Connection, Context, Ended},
    journal::Noted,
};
use tessera_model::{DatasetId, Export, ExportTaskId, Failure, JobRecord, Work};

/// An export of a dataset.
#[derive(Debug, Args)]
pub struct Which {
    /// Its dataset; not needed for an export that was started here.
    dataset: Option<String>,
    /// The id of the export.
    id: ExportTaskId,
}

/// An export that was found.
pub(super) struct Found {
    /// Its dataset.
    pub dataset: DatasetId,
    /// Its id.
    pub task: ExportTaskId,
    /// What was written down when it was started here.
    pub job: Option<JobRecord>,
}

impl Which {
    /// Finds it: the journal knows the dataset of what was started here.
    ///
    /// # Errors
    /// As [`Context::dataset`].
    pub(super) async fn find(
        &self,
        context: &Context,
        connection: &Connection,
    ) -> Result<Found, Ended> {
        let jobs = exports(connection).unwrap_or_else(|failure| {
            context.note.warn(failure.to_string());
            Vec::new()
        });
        let mut jobs = jobs.into_iter().map(|noted| noted.job);
        let job = jobs.find(|job| job.standing.export() == Some(self.id));
        let named = self.dataset.as_deref().or(context.global.dataset.as_deref());
        let dataset = match (named, &job) {
            (None, Some(job)) => job.dataset,
            _ => context.dataset(connection, self.dataset.as_deref()).await?.id,
        };
        Ok(Found { dataset, task: self.id, job })
    }
}

impl Found {
    /// How it was asked for, when that is known.
    pub(super) fn export(&self) -> Option<&Export> {
        self.job.as_ref().and_then(asked)
    }
}

/// The export that a job is.
pub(super) fn asked(job: &JobRecord) -> Option<&Export> {
    match &job.work {
        Work::Export(export) => Some(export),
        Work::AddMedia(_) | Work::Reindex => None,
    }
}

/// The exports that were started here, by any copy of the program; oldest first.
///
/// # Errors
/// The journal cannot be read.
pub(super) fn exports(connection: &Connection) -> Result<Vec<Noted>, Failure> {
    let mut jobs = connection.journal.jobs()?;
    jobs.retain(|noted| asked(&noted.job).is_some());
    Ok(jobs)
}

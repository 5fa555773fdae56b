//! Which export is meant, and what the journal knows of it.

use clap::Args;

use crate::{
    cli::{CliError, Connection, Context},
    state::StoredJob,
};
use tessera_model::{DatasetId, ExportJob, ExportTaskId, Failure, JobKind, JobRecord};

/// An export of a dataset.
#[derive(Debug, Args)]
pub struct ExportLookup {
    /// Its dataset; not needed for an export that was started here.
    dataset: Option<String>,
    /// The id of the export.
    id: ExportTaskId,
}

/// An export that was found.
pub(super) struct FoundExport {
    /// Its dataset.
    pub dataset: DatasetId,
    /// Its id.
    pub task: ExportTaskId,
    /// What was written down when it was started here.
    pub job: Option<JobRecord>,
}

impl ExportLookup {
    /// Finds it: the journal knows the dataset of what was started here.
    ///
    /// # Errors
    /// As [`Context::dataset`].
    pub(super) async fn find(
        &self,
        context: &Context,
        connection: &Connection,
    ) -> Result<FoundExport, CliError> {
        let jobs = journaled_exports(connection).unwrap_or_else(|failure| {
            context.messages.warn(failure.to_string());
            Vec::new()
        });
        let mut jobs = jobs.into_iter().map(|noted| noted.job);
        let job = jobs.find(|job| job.state.export() == Some(self.id));
        let named = self.dataset.as_deref().or(context.global.dataset.as_deref());
        let dataset = match (named, &job) {
            (None, Some(job)) => job.dataset,
            _ => context.dataset(connection, self.dataset.as_deref()).await?.id,
        };
        Ok(FoundExport { dataset, task: self.id, job })
    }
}

impl FoundExport {
    /// How it was asked for, when that is known.
    pub(super) fn request(&self) -> Option<&ExportJob> {
        self.job.as_ref().and_then(export_of)
    }
}

/// The export that a job is.
pub(super) fn export_of(job: &JobRecord) -> Option<&ExportJob> {
    match &job.kind {
        JobKind::Export(export) => Some(export),
        JobKind::AddMedia(_) | JobKind::Reindex => None,
    }
}

/// The exports that were started here, by any copy of the program; oldest first.
///
/// # Errors
/// The journal cannot be read.
pub(super) fn journaled_exports(connection: &Connection) -> Result<Vec<StoredJob>, Failure> {
    let mut jobs = connection.journal.jobs()?;
    jobs.retain(|noted| export_of(&noted.job).is_some());
    Ok(jobs)
}

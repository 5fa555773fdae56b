//! Finds an export, and its job record if it was started on this machine.

use clap::Args;

use crate::{
    cli::{CliResult, Connection, JobRecorder},
    state::StoredJob,
};
use tessera_model::{DatasetId, ExportJob, ExportTaskId, Failure, JobKind, JobRecord};

#[derive(Debug, Args)]
pub struct ExportLookup {
    /// Dataset of the export; not needed if the export was started on this machine.
    dataset: Option<String>,
    /// ID of the export.
    id: ExportTaskId,
}

pub(super) struct FoundExport {
    pub dataset: DatasetId,
    pub task: ExportTaskId,
    pub job: Option<JobRecord>,
}

impl ExportLookup {
    /// Finds the export. Job records contain the dataset of exports started on this machine.
    pub(super) async fn find(&self, connection: &Connection<'_>) -> CliResult<FoundExport> {
        let jobs = journaled_exports(connection).unwrap_or_else(|failure| {
            connection.context.messages.warn(failure.to_string());
            Vec::new()
        });
        let mut jobs = jobs.into_iter().map(|stored| stored.job);
        let job = jobs.find(|job| job.state.export() == Some(self.id));
        let named = self.dataset.as_deref().or(connection.context.global.dataset.as_deref());
        let dataset = match (named, &job) {
            (None, Some(job)) => job.dataset,
            _ => connection.dataset(self.dataset.as_deref()).await?.id,
        };
        Ok(FoundExport { dataset, task: self.id, job })
    }
}

impl FoundExport {
    pub(super) fn started_by(recorder: &JobRecorder<'_>, task: ExportTaskId) -> Self {
        let job = recorder.job().clone();
        Self { dataset: job.dataset, task, job: Some(job) }
    }

    pub(super) fn request(&self) -> Option<&ExportJob> {
        self.job.as_ref().and_then(export_of)
    }
}

pub(super) fn export_of(job: &JobRecord) -> Option<&ExportJob> {
    match &job.kind {
        JobKind::Export(export) => Some(export),
        JobKind::AddMedia(_) | JobKind::Reindex => None,
    }
}

/// The exports started on this machine by any process, oldest first.
pub(super) fn journaled_exports(connection: &Connection<'_>) -> Result<Vec<StoredJob>, Failure> {
    let mut jobs = connection.journal.jobs()?;
    jobs.retain(|stored| export_of(&stored.job).is_some());
    Ok(jobs)
}

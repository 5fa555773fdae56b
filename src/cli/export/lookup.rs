//! Finds an export, and its job record if it was started on this machine.

use std::path::PathBuf;

use clap::Args;

use crate::{
    cli::{
        CliError, CliResult, Connection, JobRecorder, short_id::IdPrefix, timestamps::timestamp_now,
    },
    job::{Job, JobId},
    state::StoredJob,
};
use tessera_model::{
    ArchiveName, DatasetId, ExportFormat, ExportJob, ExportSpec, ExportTaskId, Failure, JobKind,
    JobRecord, SafeText, SavedJobState,
};

#[derive(Debug, Args)]
pub struct ExportLookup {
    /// Dataset of the export; not needed if the export was started on this machine.
    dataset: Option<String>,
    /// ID of the export; its beginning, if the export was started on this machine.
    id: IdPrefix,
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
        let has_id = |job: &JobRecord| job.state.export().is_some_and(|id| self.id.matches(id));
        let mut jobs = jobs.into_iter().map(|stored| stored.job).filter(has_id);
        let job = jobs.next();
        if jobs.next().is_some() {
            let message = format!("several exports start with `{}`; give a whole ID", self.id);
            return Err(CliError::usage(message));
        }
        let started_here = job.as_ref().and_then(|job| job.state.export());
        let Some(task) = started_here.or_else(|| self.id.to_string().parse().ok()) else {
            let message = format!("no export started on this machine begins with `{}`", self.id);
            return Err(CliError::not_found(message).with_remedy("tessera export list"));
        };
        let named = self.dataset.as_deref().or(connection.context.global.dataset.as_deref());
        let dataset = match (named, &job) {
            (None, Some(job)) => job.dataset,
            _ => connection.dataset(self.dataset.as_deref()).await?.id,
        };
        Ok(FoundExport { dataset, task, job })
    }
}

impl FoundExport {
    pub(super) fn started_by(recorder: &JobRecorder<'_>, task: ExportTaskId) -> Self {
        Self { dataset: recorder.job().dataset, task, job: recorder.job().record() }
    }

    /// The job that follows the export from now on, also if the export was started elsewhere.
    pub(super) fn running_job(&self) -> Job {
        let request = self.request().cloned().unwrap_or_else(|| ExportJob {
            spec: ExportSpec {
                file_name: ArchiveName::new(&self.task.to_string()),
                format: ExportFormat::default(),
                include_images: false,
            },
            selection: None,
            folder: PathBuf::new(),
            auto_download: false,
        });
        let record = JobRecord {
            started_at: timestamp_now(),
            ended_at: None,
            dataset: self.dataset,
            dataset_name: SafeText::default(),
            kind: JobKind::Export(request),
            state: SavedJobState::Running(self.task),
        };
        Job::resume(JobId::default(), record)
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

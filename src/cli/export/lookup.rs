//! Finds the exports that were started before, by the jobs of this machine or by ID, and describes them as documents.

use tessera_interface::job::{Job, JobId};
use tessera_model::{
    Archive, ArchiveName, ExportFormat, ExportJob, ExportPart, ExportSpec, ExportTask,
    ExportTaskId, Extraction, Inspection, JobKind, JobRecord, Omission, SavedJobState,
    export::NameSample,
};

use crate::cli::prelude::*;
use crate::{
    cli::{
        ServiceTarget,
        jobs::{DeploymentJobs, load_deployment_jobs},
        values::{IdPrefix, format_timestamp, timestamp_now},
    },
    state::StoredJob,
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
    /// What the format omits or changes, if this command started the export.
    pub omissions: Option<Vec<Omission>>,
    /// The list of originals that this command wrote, and the number of its rows.
    pub list: Option<(PathBuf, u64)>,
}

impl ExportLookup {
    /// Finds the export at the deployment that the command line names, or else at that of the recorded export, and runs
    /// `work` on it.
    pub(super) async fn with_export<'a>(
        &self,
        context: &'a Context,
        requests: &'static [Endpoint],
        work: impl AsyncFnOnce(&Connection<'a>, FoundExport) -> CliResult,
    ) -> CliResult {
        let target = match self.recorded_target(context).await? {
            Some(target) => target,
            None => context.target()?,
        };
        let work = async |connection: &Connection<'a>| {
            let export = self.find(connection).await?;
            work(connection, export).await
        };
        context.with_connection_to(&target, requests, work).await
    }

    async fn recorded_target(&self, context: &Context) -> CliResult<Option<ServiceTarget>> {
        if context.named_target()?.is_some() {
            return Ok(None);
        }
        let deployments = load_deployment_jobs(context).unwrap_or_else(|error| {
            context.messages.warn(&error.message);
            Vec::new()
        });
        let mut recorded = deployments.iter().flat_map(|deployment| {
            let exports = recorded_exports(deployment).filter(|stored| self.has_id(&stored.job));
            exports.map(move |stored| (deployment, &stored.job))
        });
        let (Some((deployment, job)), None) = (recorded.next(), recorded.next()) else {
            return Ok(None);
        };
        match deployment.target(context, job).await {
            // The address of the export may have become a profile.
            Err(_) if context.target().is_ok() => Ok(None),
            target => target.map(Some),
        }
    }

    fn has_id(&self, job: &JobRecord) -> bool {
        job.state.export().is_some_and(|id| self.id.matches(id))
    }

    /// Finds the export. Job records provide the dataset of an export that was started on this
    /// machine.
    async fn find(&self, connection: &Connection<'_>) -> CliResult<FoundExport> {
        let jobs = connection.state.jobs().unwrap_or_else(|failure| {
            connection.context.messages.warn(failure.to_string());
            Vec::new()
        });
        let mut jobs = jobs.into_iter().map(|stored| stored.job).filter(|job| self.has_id(job));
        let job = jobs.next();
        if jobs.next().is_some() {
            let message = format!("several exports start with `{}`; give a whole ID", self.id);
            return Err(CliError::usage(message));
        }
        let started_here = job.as_ref().and_then(|job| job.state.export());
        let Some(task) = started_here.or_else(|| self.id.to_string().parse().ok()) else {
            let message = format!("no export started on this machine begins with `{}`", self.id);
            return Err(CliError::not_found(message)
                .with_remedy(connection.context.suggestion("tessera export list")));
        };
        let named = self.dataset.as_deref().or(connection.context.global.dataset.as_deref());
        let dataset = match (named, &job) {
            (None, Some(job)) => job.dataset,
            _ => connection.dataset(self.dataset.as_deref()).await?.id,
        };
        Ok(FoundExport { dataset, task, job, omissions: None, list: None })
    }
}

impl FoundExport {
    pub(super) fn started_by(job: &Job, task: ExportTaskId, omissions: Vec<Omission>) -> Self {
        let omissions = Some(omissions);
        Self { dataset: job.dataset, task, job: job.record(), omissions, list: None }
    }

    /// Returns the job that follows the export from now on, even if the export was started
    /// elsewhere.
    pub(super) fn running_job(&self) -> Job {
        let request = self.request().cloned().unwrap_or_else(|| {
            ExportJob::of_dataset(ExportSpec {
                file_name: ArchiveName::new(&self.task.to_string()),
                format: ExportFormat::default(),
                include_images: false,
            })
        });
        let record = JobRecord {
            started_at: timestamp_now(),
            ended_at: None,
            dataset: self.dataset,
            dataset_name: SafeText::default(),
            kind: JobKind::Export(request),
            state: SavedJobState::Running { export_task_id: self.task },
        };
        Job::resume(JobId::default(), record)
    }

    pub(super) fn request(&self) -> Option<&ExportJob> {
        self.job.as_ref()?.kind.export()
    }
}

/// Returns the archive that was downloaded, if any.
pub(super) fn saved_archive(job: &JobRecord) -> Option<&Archive> {
    match &job.state {
        SavedJobState::Downloaded { archive, .. } => Some(archive),
        _ => None,
    }
}

/// Returns the exports that any process of this machine has started at a deployment.
pub(super) fn recorded_exports(deployment: &DeploymentJobs) -> impl Iterator<Item = &StoredJob> {
    deployment.jobs.iter().filter(|stored| stored.job.kind.export().is_some())
}

pub(super) fn export_document(
    export: &FoundExport,
    task: &ExportTask,
    downloaded: Option<&DownloadedArchive>,
) -> Document {
    let (job, request) = (export.job.as_ref(), export.request());
    let archive = downloaded.map(|downloaded| &downloaded.archive).or(job.and_then(saved_archive));
    let inspection = downloaded.and_then(|downloaded| downloaded.inspection.as_ref().ok());
    let extraction = downloaded.and_then(|downloaded| downloaded.extraction.as_ref());
    let omission = |it: &Omission| json!({ "count": it.count, "text": it.text.received() });
    let embeds_images = request.is_some_and(|request| request.spec.format.embeds_images());
    let index_file = extraction.and_then(|extraction| extraction.index_file.as_ref());
    let inspected_rows = inspection.filter(|it| it.has_rows()).map(|it| it.rows);
    let fields = json!({
        "id": export.task,
        "dataset_id": export.dataset,
        "kind": request.map(kind),
        "export_format": request.map(|request| request.spec.format.as_str()),
        "include_images": request.map(|request| request.spec.include_images),
        "omissions": export.omissions.as_ref().map(|it| it.iter().map(omission).collect::<Value>()),
        "status": task.state.as_str(),
        "progress": task.progress.map(|percent| f64::from(percent) / 100.0),
        "result_message": task.message.as_ref().map(SafeText::received),
        "terminal": task.has_ended(),
        "started_at": job.map(|job| format_timestamp(job.started_at)),
        "ended_at": job.and_then(|job| job.ended_at).map(format_timestamp),
        "download_ready": task.download.is_some(),
        "file": archive.map(|archive| archive.path.to_string_lossy()),
        "bytes": archive.map(|archive| archive.bytes),
        "rows": inspected_rows.or(export.list.as_ref().map(|(_, rows)| *rows)),
        "images": inspection.filter(|_| !embeds_images).map(|inspection| inspection.images),
        "extracted_to": extraction.map(|extraction| extraction.folder.to_string_lossy()),
        "extracted_files": extraction.map(|extraction| extraction.files),
        "refused": extraction.map(|extraction| sample_json(&extraction.rejected_entries)),
        "rows_file": index_file.or(export.list.as_ref().map(|(path, _)| path)).map(|path| path.to_string_lossy()),
        "rows_without_file":
            inspection.map(|inspection| sample_json(&inspection.rows_without_file)),
    });
    Document::new("tessera.export/1", fields)
}

pub(super) fn kind(export: &ExportJob) -> &'static str {
    match export.selection {
        _ if export.part != ExportPart::Selection => "rest",
        Some(_) => "selection",
        None => "dataset",
    }
}

pub(super) struct DownloadedArchive {
    pub archive: Archive,
    pub inspection: Result<Inspection, Failure>,
    pub extraction: Option<Extraction>,
}

pub(super) fn sample_json(names: &NameSample) -> Value {
    json!({ "count": names.count, "first": names_json(&names.first) })
}

pub(super) fn names_json(names: &[SafeText]) -> Value {
    names.iter().map(SafeText::received).collect()
}

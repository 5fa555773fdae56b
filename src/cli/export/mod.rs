//! `tessera export`: starts exports, finds exports that were started before, shows and follows them, and downloads
//! their archives.

mod archive;
mod start;

use std::{path::PathBuf, time::Duration};

use archive::{DownloadedArchive, sample_json};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::{
    cli::{
        CliError, CliResult, Column, Connection, Context, Document, Exit, JobRecorder,
        polling::Poller,
        values::{IdPrefix, format_timestamp, parse_interval, timestamp_now},
    },
    job::{Job, JobId},
    state::StoredJob,
};
use tessera_client::Endpoint;
use tessera_model::{
    ArchiveName, DatasetId, ExportFormat, ExportJob, ExportSpec, ExportTask, ExportTaskId,
    FailedExport, Failure, JobKind, JobRecord, SafeText, SavedJobState,
};

#[derive(Debug, Subcommand)]
pub enum ExportCommand {
    /// Start an export of a dataset, or of a selection in it.
    Start(start::ExportStartOptions),
    /// List the exports started on this machine.
    List {
        /// Only exports of this dataset: its ID, or its name at the time.
        dataset: Option<String>,
    },
    /// Show the status of an export.
    #[command(allow_missing_positional = true)]
    Status(ExportLookup),
    /// Wait for an export to finish.
    #[command(allow_missing_positional = true)]
    Watch {
        #[command(flatten)]
        export: ExportLookup,
        /// Polling interval [default: 1 to 15 seconds, depending on the age of the export].
        #[arg(long, value_name = "DURATION", value_parser = parse_interval)]
        interval: Option<Duration>,
    },
    /// Download and verify the archive of a finished export. Resumes an interrupted download.
    #[command(allow_missing_positional = true)]
    Download {
        #[command(flatten)]
        export: ExportLookup,
        #[command(flatten)]
        options: archive::DownloadOptions,
    },
    /// Show what an archive contains: rows, columns, scores, and whether rows and images match.
    Inspect {
        /// The archive.
        file: PathBuf,
    },
}

const REQUESTS: &[Endpoint] =
    &[Endpoint::StartExport, Endpoint::StartSelection, Endpoint::ExportStatus, Endpoint::Download];

pub async fn run(context: &Context, command: ExportCommand) -> CliResult {
    match command {
        ExportCommand::Start(options) => {
            let work = async |connection: &_| options.run(connection).await;
            context.with_connection(REQUESTS, work).await
        }
        ExportCommand::List { dataset } => {
            let work = async |connection: &_| list(connection, dataset.as_deref());
            context.with_connection(REQUESTS, work).await
        }
        ExportCommand::Status(export) => {
            let work = async |connection: &_| status(connection, &export).await;
            context.with_connection(REQUESTS, work).await
        }
        ExportCommand::Watch { export, interval } => {
            let work = async |connection: &_| watch(connection, &export, interval).await;
            context.with_connection(REQUESTS, work).await
        }
        ExportCommand::Download { export, options } => {
            let work =
                async |connection: &_| archive::download(connection, &export, &options).await;
            context.with_connection(REQUESTS, work).await
        }
        ExportCommand::Inspect { file } => archive::inspect(context, file).await,
    }
}

const LIST_COLUMNS: &[Column] = &[
    Column::new("STARTED", "started_at"),
    Column::short_id("ID", "id"),
    Column::new("DATASET", "dataset_name"),
    Column::new("WHAT", "selection"),
    Column::new("STATUS", "status"),
    Column::new("FILE", "file"),
];

fn list(connection: &Connection<'_>, dataset: Option<&str>) -> CliResult {
    let named = dataset.or(connection.context.global.dataset.as_deref());
    let matches = |job: &JobRecord| {
        named.is_none_or(|named| {
            job.dataset_name.as_str() == named || job.dataset.to_string() == named
        })
    };
    let rows: Vec<Value> = recorded_exports(connection)?
        .iter()
        .filter(|stored| matches(&stored.job))
        .map(row)
        .collect();
    let answer = json!({ "exports": rows });
    connection.context.print(&Document::list("tessera.exports/1", answer, "exports", LIST_COLUMNS))
}

fn row(StoredJob { job, is_followed: followed }: &StoredJob) -> Value {
    let export = export_of(job);
    let (status, message, archive) = match &job.state {
        // The process that sent the request is gone, and the response with it.
        SavedJobState::Sent if !followed => ("may have started", None, None),
        SavedJobState::Queued | SavedJobState::Sent | SavedJobState::Accepted => {
            ("starting", None, None)
        }
        SavedJobState::Running { .. } => ("PENDING", None, None),
        SavedJobState::Completed { .. } => ("COMPLETED", None, None),
        SavedJobState::Downloaded { archive, .. } => ("downloaded", None, Some(archive)),
        SavedJobState::Done { status_new } => ("COMPLETED", Some(status_new), None),
        SavedJobState::Failed { reason, export: Some(export) } => {
            (export.status.as_str(), Some(reason), None)
        }
        SavedJobState::Failed { reason, export: None } => {
            (FailedExport::STATUS, Some(reason), None)
        }
        SavedJobState::Uncertain { reason } => ("may have started", Some(reason), None),
        SavedJobState::Unwatched { .. } => ("not watched", None, None),
    };
    json!({
        "id": job.state.export(),
        "dataset_id": job.dataset,
        "dataset_name": job.dataset_name.as_str(),
        "kind": export.map(kind),
        "selection": export.and_then(|export| export.selection.as_ref()).map(SafeText::as_str),
        "export_format": export.map(|export| export.spec.format.as_str()),
        "include_images": export.map(|export| export.spec.include_images),
        "status": status,
        "result_message": message.map(SafeText::as_str),
        "started_at": format_timestamp(job.started_at),
        "ended_at": job.ended_at.map(format_timestamp),
        "file": archive.map(|archive| archive.path.to_string_lossy()),
        "bytes": archive.map(|archive| archive.bytes),
    })
}

async fn status(connection: &Connection<'_>, lookup: &ExportLookup) -> CliResult {
    let export = lookup.find(connection).await?;
    let task = connection.client.export_status(export.dataset, export.task).await?;
    connection.context.print(&export_document(&export, &task, None))?;
    Ok(if task.failure().is_some() { Exit::Remote } else { Exit::Done })
}

async fn watch(
    connection: &Connection<'_>,
    lookup: &ExportLookup,
    interval: Option<Duration>,
) -> CliResult {
    let context = connection.context;
    let export = lookup.find(connection).await?;
    let followed = connection.follow_export(&mut export.running_job(), interval).await;
    let outcome = followed.and_then(|task| task.failure().map_or(Ok(task), |it| Err(it.into())));
    if context.out.is_jsonl() {
        Poller::new(context, interval).emit_end(&outcome)?;
        return outcome.map(|_| Exit::Done);
    }
    context.print(&export_document(&export, &outcome?, None))
}

#[derive(Debug, Args)]
pub struct ExportLookup {
    /// Dataset of the export; not needed if the export was started on this machine.
    dataset: Option<String>,
    /// ID of the export; its beginning, if the export was started on this machine.
    id: IdPrefix,
}

struct FoundExport {
    pub dataset: DatasetId,
    pub task: ExportTaskId,
    pub job: Option<JobRecord>,
}

impl ExportLookup {
    /// Finds the export. Job records provide the dataset of an export that was started on this
    /// machine.
    async fn find(&self, connection: &Connection<'_>) -> CliResult<FoundExport> {
        let jobs = recorded_exports(connection).unwrap_or_else(|failure| {
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

    /// Returns the job that follows the export from now on, even if the export was started
    /// elsewhere.
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
            state: SavedJobState::Running { export_task_id: self.task },
        };
        Job::resume(JobId::default(), record)
    }

    pub(super) fn request(&self) -> Option<&ExportJob> {
        self.job.as_ref().and_then(export_of)
    }
}

fn export_of(job: &JobRecord) -> Option<&ExportJob> {
    match &job.kind {
        JobKind::Export(export) => Some(export),
        JobKind::AddMedia(_) | JobKind::Reindex => None,
    }
}

/// Returns the exports that any process of this machine has started, oldest first.
fn recorded_exports(connection: &Connection<'_>) -> Result<Vec<StoredJob>, Failure> {
    let mut jobs = connection.state.jobs()?;
    jobs.retain(|stored| export_of(&stored.job).is_some());
    Ok(jobs)
}

const EXPORT_COLUMNS: &[Column] = &[
    Column::new("export", "id"),
    Column::new("dataset", "dataset_id"),
    Column::new("status", "status"),
    Column::new("message", "result_message"),
    Column::new("format", "export_format"),
    Column::new("file", "file"),
    Column::new("bytes", "bytes"),
    Column::new("extracted to", "extracted_to"),
    Column::new("rows", "rows"),
    Column::new("images", "images"),
];

fn export_document(
    export: &FoundExport,
    task: &ExportTask,
    downloaded: Option<&DownloadedArchive>,
) -> Document {
    let (job, request) = (export.job.as_ref(), export.request());
    let archive = downloaded.map(|downloaded| &downloaded.archive);
    let inspection = downloaded.and_then(|downloaded| downloaded.inspection.as_ref().ok());
    let extraction = downloaded.and_then(|downloaded| downloaded.extraction.as_ref());
    let index_file = extraction.and_then(|extraction| extraction.index_file.as_ref());
    let fields = json!({
        "id": export.task,
        "dataset_id": export.dataset,
        "kind": request.map(kind),
        "export_format": request.map(|request| request.spec.format.as_str()),
        "include_images": request.map(|request| request.spec.include_images),
        "status": task.state.as_str(),
        "progress": task.progress.map(|percent| f64::from(percent) / 100.0),
        "result_message": task.message.as_ref().map(SafeText::as_str),
        "terminal": task.has_ended(),
        "started_at": job.map(|job| format_timestamp(job.started_at)),
        "ended_at": job.and_then(|job| job.ended_at).map(format_timestamp),
        "download_ready": task.download.is_some(),
        "file": archive.map(|archive| archive.path.to_string_lossy()),
        "bytes": archive.map(|archive| archive.bytes),
        "rows": inspection.map(|inspection| inspection.rows),
        "images": inspection.map(|inspection| inspection.images),
        "extracted_to": extraction.map(|extraction| extraction.folder.to_string_lossy()),
        "extracted_files": extraction.map(|extraction| extraction.files),
        "refused": extraction.map(|extraction| sample_json(&extraction.rejected_entries)),
        "rows_file": index_file.map(|path| path.to_string_lossy()),
        "rows_without_file":
            inspection.map(|inspection| sample_json(&inspection.rows_without_file)),
    });
    Document::one("tessera.export/1", fields, EXPORT_COLUMNS)
}

fn kind(export: &ExportJob) -> &'static str {
    if export.selection.is_some() { "selection" } else { "dataset" }
}

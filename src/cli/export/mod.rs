//! `tessera export`: starts, lists and follows exports, and downloads their archives. Exports that were started before
//! are found by `lookup`.

mod archive;
mod lookup;
mod start;

pub use start::ExportContentOptions;

use tessera_model::{ExportJob, FailedExport, JobRecord, SavedJobState, is_same_name};

use crate::cli::prelude::*;
use crate::{
    cli::{
        export::lookup::{
            ExportLookup, FoundExport, export_document, kind, recorded_exports, saved_archive,
        },
        jobs::load_deployment_jobs,
        polling::{EventTarget, Poller},
        values::{format_timestamp, parse_interval},
    },
    state::StoredJob,
};

#[derive(Debug, Subcommand)]
pub enum ExportCommand {
    /// Start an export of a dataset, or of a selection in it.
    Start(Box<start::ExportStartOptions>),
    /// List the exports started on this machine, at the deployment that the options name or at any.
    List {
        /// Only exports of this dataset: its folder, its ID, or its name at the time.
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
    /// Download and verify the archive of a finished export.
    ///
    /// An interrupted download is resumed.
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
        ExportCommand::List { dataset } => list(context, dataset.as_deref()).await,
        ExportCommand::Status(export) => export.with_export(context, REQUESTS, status).await,
        ExportCommand::Watch { export, interval } => {
            let work = async |connection: &_, export| watch(connection, export, interval).await;
            export.with_export(context, REQUESTS, work).await
        }
        ExportCommand::Download { export, options } => {
            let work = async |connection: &_, export| {
                archive::download(connection, export, &options).await
            };
            export.with_export(context, REQUESTS, work).await
        }
        ExportCommand::Inspect { file } => archive::inspect(context, file).await,
    }
}

async fn list(context: &Context, dataset: Option<&str>) -> CliResult {
    let named = dataset.or(context.global.dataset.as_deref());
    let opened = match context.named_target()? {
        Some(target) if named.is_none() && target.local_folder().is_some() => {
            Some(context.dataset_id(None).await?)
        }
        _ => None,
    };
    let matches = |job: &JobRecord| match (named, opened) {
        (Some(name), _) => {
            is_same_name(job.dataset_name.received(), name) || job.dataset.to_string() == name
        }
        (None, Some(opened)) => job.dataset == opened,
        (None, None) => true,
    };
    let deployments = load_deployment_jobs(context)?;
    let mut exports: Vec<_> = deployments.iter().flat_map(recorded_exports).collect();
    exports.retain(|stored| matches(&stored.job));
    exports.sort_by_key(|stored| stored.job.started_at);
    let answer = json!({ "exports": exports.into_iter().map(row).collect::<Vec<Value>>() });
    context.print(&Document::new("tessera.exports/1", answer))
}

fn row(StoredJob { job, is_followed: followed }: &StoredJob) -> Value {
    let export = job.kind.export();
    let completed = Some("COMPLETED");
    // The status of a running export changes, so it is not saved.
    let (state, status, message) = match &job.state {
        // The process that sent the request is gone, and the response with it.
        SavedJobState::Sent if !followed => ("may have started", None, None),
        SavedJobState::Queued | SavedJobState::Sent | SavedJobState::Accepted => {
            ("starting", None, None)
        }
        SavedJobState::Running { .. } => ("running", None, None),
        SavedJobState::Completed { .. } => ("completed", completed, None),
        SavedJobState::Downloaded { .. } => ("downloaded", completed, None),
        SavedJobState::Done { status_new } => ("completed", completed, Some(status_new)),
        SavedJobState::Failed { reason, export } => {
            let status = export.as_ref().map_or(FailedExport::STATUS, |it| it.status.as_str());
            ("failed", Some(status), Some(reason))
        }
        SavedJobState::Uncertain { reason } => ("may have started", None, Some(reason)),
        SavedJobState::Unwatched { .. } => ("not watched", None, None),
    };
    let archive = saved_archive(job);
    json!({
        "id": job.state.export(),
        "dataset_id": job.dataset,
        "dataset_name": job.dataset_name.received(),
        "kind": export.map(kind),
        "selection": export.and_then(ExportJob::content).map(|content| content.received().to_owned()),
        "export_format": export.map(|export| export.spec.format.as_str()),
        "include_images": export.map(|export| export.spec.include_images),
        "state": state,
        "status": status,
        "result_message": message.map(SafeText::received),
        "started_at": format_timestamp(job.started_at),
        "ended_at": job.ended_at.map(format_timestamp),
        "file": archive.map(|archive| archive.path.to_string_lossy()),
        "bytes": archive.map(|archive| archive.bytes),
    })
}

async fn status(connection: &Connection<'_>, export: FoundExport) -> CliResult {
    let task = connection.client.export_status(export.dataset, export.task).await?;
    let context = connection.context;
    connection.record_end(&task);
    context.print(&export_document(&export, &task, None))?;
    if connection.is_local() && !task.has_ended() {
        let watch =
            context.suggestion(ShellCommand::new("tessera export watch").word(task.id.to_string()));
        context.messages.warn(format!(
            "the export of a folder continues only while a command or the interface uses the folder; finish it with: \
             {watch}"
        ));
    }
    let exit = context.warn_of_shortfall(&task);
    Ok(if task.failure().is_some() { Exit::Remote } else { exit })
}

async fn watch(
    connection: &Connection<'_>,
    export: FoundExport,
    interval: Option<Duration>,
) -> CliResult {
    let context = connection.context;
    let poller = || Poller::new(context, interval).with_events(EventTarget::Lines);
    let followed = connection.follow_export(&mut export.running_job(), poller()).await;
    let ended = followed.inspect(|task| connection.record_end(task));
    let outcome = ended.and_then(|task| task.failure().map_or(Ok(task), |it| Err(it.into())));
    if context.out.is_jsonl() {
        poller().emit_end(&outcome)?;
        return outcome.map(|task| context.warn_of_shortfall(&task));
    }
    let task = outcome?;
    context.print(&export_document(&export, &task, None))?;
    Ok(context.warn_of_shortfall(&task))
}

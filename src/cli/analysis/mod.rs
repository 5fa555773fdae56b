//! Commands that judge a dataset as a whole: `tessera report` and `check`, and `tessera dataset split` and `leaks`.
//! They read the metadata of an export without images, so they work with every deployment.

mod check;
mod html;
mod leaks;
mod report;
mod selections;

pub use check::CheckOptions;
pub use leaks::LeaksOptions;
pub use report::ReportOptions;
pub use selections::{DatasetSplitOptions, DiverseOptions};

use tessera_interface::job::{Job, JobDataset, JobId};
use tessera_model::{ExportJob, ExportSpec, ExportTask, FailureKind, JobKind, Operation};

use crate::cli::prelude::*;
use crate::{
    cli::{
        LocalService,
        polling::{EventTarget, Poller},
        values::timestamp_now,
    },
    usecase::media_rows::{MediaRow, fetch},
};

const ENDPOINTS: &[Endpoint] =
    &[Endpoint::StartExport, Endpoint::ExportStatus, Endpoint::Download, Endpoint::Picture];

/// What a command of this module judges.
#[derive(Clone, Debug, Args)]
pub struct DatasetArgument {
    /// ID or name of the dataset, or its folder.
    #[arg(value_name = "DATASET|FOLDER")]
    source: Option<String>,
}

impl DatasetArgument {
    /// Runs `work` on the dataset.
    async fn with_dataset(
        &self,
        context: &Context,
        work: impl AsyncFnOnce(&Connection<'_>, &Dataset) -> CliResult,
    ) -> CliResult {
        let work = async |connection: &Connection<'_>, dataset: Dataset| {
            context.require_allowed(&dataset, Operation::Export, false)?;
            work(connection, &dataset).await
        };
        context.with_dataset(self.source.as_deref(), ENDPOINTS, work).await
    }
}

/// The error of a part that cannot be compared, which is a mistake in the arguments and not the answer of a service.
fn part_error(context: &Context, failure: Failure) -> CliError {
    match failure.kind {
        FailureKind::Invalid => CliError::usage(failure.to_string()),
        _ => context.suggest_if_unknown(failure, "tessera selection list"),
    }
}

/// Returns the IDs and paths of media items, for documents.
fn named_media(rows: &[&MediaRow]) -> Vec<Value> {
    rows.iter().map(|row| json!({ "media_id": row.media, "path": row.path })).collect()
}

/// Reads the metadata of all media items of a dataset.
async fn media_rows(connection: &Connection<'_>, dataset: &Dataset) -> CliResult<Vec<MediaRow>> {
    let follow = async |spec: &ExportSpec, task: ExportTask| {
        // The job is not saved, because nothing of it can be used after this command.
        let id = task.id;
        let named = JobDataset { id: dataset.id, name: dataset.name.clone() };
        let kind = JobKind::Export(ExportJob::of_dataset(spec.clone()));
        let mut job = Job::new(JobId::default(), named, kind, timestamp_now());
        job.export_reported(Duration::ZERO, task)?;
        let poller = Poller::new(connection.context, None).with_events(EventTarget::Nowhere);
        let followed = connection.follow_export(&mut job, poller);
        let followed = connection.context.until_interrupted(followed).await;
        if !matches!(followed, Some(Ok(_))) && connection.local.is_some() {
            // An error is ignored, because the export may have ended meanwhile.
            let _ = connection.client.cancel_export(dataset.id, id).await;
        }
        followed.unwrap_or_else(|| Err(CliError::new(Exit::Interrupted, "interrupted")))
    };
    let originals = connection.local.as_ref().map(LocalService::original_paths);
    fetch(&connection.client, dataset.id, originals, follow).await
}

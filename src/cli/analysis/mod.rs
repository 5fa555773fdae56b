//! Commands that judge a dataset as a whole: `tessera report` and `check`, and `tessera dataset split` and `leaks`.
//! They read the metadata of an export without images, so they work with every deployment.

mod check;
mod diverse;
mod html;
mod leaks;
mod report;
mod sarif;
mod split;

pub use check::CheckOptions;
pub use diverse::DiverseOptions;
pub use leaks::LeaksOptions;
pub use report::ReportOptions;
pub use split::DatasetSplitOptions;

use std::{path::Path, time::Duration};

use clap::Args;

use crate::{
    cli::{CliError, CliResult, Connection, Context, LocalService, values::timestamp_now},
    job::{Job, JobDataset, JobId},
    usecase::media_rows::{MediaRow, fetch},
};
use tessera_client::Endpoint;
use tessera_model::{
    Dataset, ExportJob, ExportSpec, ExportTask, Failure, FailureKind, JobKind, Operation,
};

const ENDPOINTS: &[Endpoint] =
    &[Endpoint::StartExport, Endpoint::ExportStatus, Endpoint::Download, Endpoint::Picture];

/// What a command of this module judges.
#[derive(Clone, Debug, Args)]
pub struct DatasetOrFolder {
    /// ID or name of the dataset, or a folder of this machine.
    #[arg(value_name = "DATASET|FOLDER")]
    source: Option<String>,
}

impl DatasetOrFolder {
    /// Runs `work` on the dataset. A folder takes the place of a profile, as with `--folder`.
    async fn with_dataset(
        &self,
        context: &Context,
        work: impl AsyncFnOnce(&Connection<'_>, &Dataset) -> CliResult,
    ) -> CliResult {
        let folder = self.source.as_deref().map(Path::new).filter(|path| path.is_dir());
        let opened = folder.map(|folder| context.at_folder(folder)).transpose()?;
        let name = self.source.as_deref().filter(|_| folder.is_none());
        let context = opened.as_ref().unwrap_or(context);
        let work = async |connection: &Connection<'_>| {
            let dataset = connection.dataset(name).await?;
            context.require_allowed(&dataset, Operation::Export, false)?;
            work(connection, &dataset).await
        };
        context.with_connection(ENDPOINTS, work).await
    }
}

/// The error of a part that cannot be compared, which is a mistake in the arguments and not the answer of a service.
fn part_error(failure: Failure) -> CliError {
    match failure.kind {
        FailureKind::Invalid => CliError::usage(failure.to_string()),
        _ => failure.into(),
    }
}

/// Reads the metadata of all media items of a dataset.
async fn media_rows(connection: &Connection<'_>, dataset: &Dataset) -> CliResult<Vec<MediaRow>> {
    let follow = async |spec: &ExportSpec, task: ExportTask| {
        // The job is not saved, because nothing of it can be used after this command.
        let named = JobDataset { id: dataset.id, name: dataset.name.clone() };
        let kind = JobKind::Export(ExportJob::of_dataset(spec.clone()));
        let mut job = Job::new(JobId::default(), named, kind, timestamp_now());
        job.export_reported(Duration::ZERO, task)?;
        connection.follow_export(&mut job, None).await
    };
    let originals = connection.local.as_ref().map(LocalService::originals);
    fetch(&connection.client, dataset.id, originals, follow).await
}

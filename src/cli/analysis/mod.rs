//! Commands that judge a dataset as a whole: `tessera report` and `check`, and `tessera dataset split` and `leaks`. They
//! read the metadata of an export without images, so they work with every deployment.

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
    usecase::{media_rows::MediaRow, run_blocking},
};
use tessera_client::{Endpoint, ExistingFile};
use tessera_model::{
    ArchiveName, Dataset, ExportFormat, ExportJob, ExportPart, ExportSpec, JobKind, Operation,
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

/// Reads the metadata of all media items of a dataset.
async fn media_rows(connection: &Connection<'_>, dataset: &Dataset) -> CliResult<Vec<MediaRow>> {
    let folder = tempfile::tempdir();
    let folder = folder.map_err(|error| CliError::io("create a temporary folder", &error))?;
    let spec = ExportSpec {
        file_name: ArchiveName::new(dataset.name.as_str()),
        format: ExportFormat::Parquet,
        include_images: false,
    };
    let task = connection.client.start_export(dataset.id, &spec).await?;
    // The job is not saved, because nothing of it can be used after this command.
    let named = JobDataset { id: dataset.id, name: dataset.name.clone() };
    let folder_path = folder.path().to_owned();
    let export = ExportJob {
        spec,
        selection: None,
        part: ExportPart::default(),
        folder: folder_path,
        auto_download: false,
        shortfall: None,
    };
    let mut job = Job::new(JobId::default(), named, JobKind::Export(export), timestamp_now());
    let id = task.id;
    job.export_reported(Duration::ZERO, task)?;
    let task = connection.follow_export(&mut job, None).await?;
    if let Some(failure) = task.failure() {
        return Err(failure.into());
    }
    let archive = folder.path().join("metadata.zip");
    let existing = ExistingFile::Keep;
    connection.client.download(dataset.id, id, &archive, existing, &mut |_, _| {}).await?;
    let originals = connection.local.as_ref().map(LocalService::originals);
    let read = move || {
        let mut rows = Vec::new();
        tessera_client::read_metadata(&archive, |row| {
            let mut row = MediaRow::read(&row);
            row.original = row.media.zip(originals.as_ref()).and_then(|(id, find)| find(id));
            rows.push(row);
        })?;
        // The folder exists until the archive has been read.
        drop(folder);
        Ok(rows)
    };
    run_blocking(read).await
}

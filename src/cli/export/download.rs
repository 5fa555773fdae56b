//! `tessera export download`: the archive of a finished export.

use std::path::PathBuf;

use clap::Args;

use super::{
    archive::{ArchiveOptions, DownloadTarget},
    lookup::{ExportLookup, FoundExport},
    report::export_document,
};
use crate::cli::{CliResult, Connection};
use tessera_model::{ArchiveName, Failure};

/// Where an archive is saved.
#[derive(Debug, Args)]
pub struct DownloadOptions {
    /// Path of the archive.
    #[arg(long, short, value_name = "FILE", conflicts_with = "dir")]
    output: Option<PathBuf>,
    /// Folder for the archive [default: the current folder].
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    #[command(flatten)]
    archive: ArchiveOptions,
}

pub(super) async fn download(
    connection: &Connection<'_>,
    lookup: &ExportLookup,
    options: &DownloadOptions,
) -> CliResult {
    let export = lookup.find(connection).await?;
    let path = archive_path(connection, &export, options).await?;
    let target = DownloadTarget { path, options: &options.archive };
    target.check()?;
    let task = connection.client.export_status(export.dataset, export.task).await?;
    let downloaded = target.download(connection, &export).await?;
    connection.record_download(export.task, &downloaded.archive);
    connection.context.print(&export_document(&export, &task, Some(&downloaded)))?;
    Ok(downloaded.report_problems(connection.context, &export))
}

async fn archive_path(
    connection: &Connection<'_>,
    export: &FoundExport,
    options: &DownloadOptions,
) -> Result<PathBuf, Failure> {
    if let Some(file) = &options.output {
        return Ok(file.clone());
    }
    let folder = options.dir.clone().unwrap_or_else(|| PathBuf::from("."));
    if let Some(request) = export.request() {
        return Ok(folder.join(request.spec.file_name.as_str()));
    }
    let dataset = connection.client.dataset(export.dataset).await?;
    Ok(folder.join(ArchiveName::new(dataset.name.as_str()).as_str()))
}

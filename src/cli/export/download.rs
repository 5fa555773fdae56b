//! Archives on this machine: fetched with a part file, verified, counted, and taken apart.

use std::path::{Path, PathBuf};

use clap::Args;

use super::{
    inspect::{archive_problems, describe_named, inspect_archive},
    lookup::{ExportLookup, FoundExport},
    report::export_document,
};
use crate::cli::{
    CliError, Connection, Context, Exit, job_recorder,
    messages::{Messages, format_bytes},
};
use tessera_client::ExistingFile;
use tessera_model::{Archive, ArchiveName, ExportTaskId, Extraction, Failure, Inspection};

/// Where an archive goes.
#[derive(Debug, Args)]
pub struct DownloadOptions {
    /// The file it becomes.
    #[arg(long, short, value_name = "FILE", conflicts_with = "dir")]
    output: Option<PathBuf>,
    /// The folder it goes to; else this one.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// What happens to it then.
    #[command(flatten)]
    archive: ArchiveOptions,
}

/// What happens to an archive.
#[derive(Debug, Args)]
#[command(next_help_heading = "What happens then")]
pub struct ArchiveOptions {
    /// Replace files that are there: the archive only when the new one is verified.
    #[arg(long)]
    pub force: bool,
    /// Take it apart into this folder.
    #[arg(long, value_name = "DIR")]
    pub extract: Option<PathBuf>,
    /// Write rows.jsonl there: each row of the metadata, with the path of its picture as _path.
    #[arg(long, requires = "extract")]
    pub join: bool,
}

/// An archive as it is wanted.
pub(super) struct DownloadTarget<'a> {
    /// The file it becomes.
    pub path: PathBuf,
    /// What happens to it then.
    pub options: &'a ArchiveOptions,
}

/// An archive that is here.
pub(super) struct DownloadedArchive {
    /// The archive, verified.
    pub archive: Archive,
    /// What is in it.
    pub inspection: Result<Inspection, Failure>,
    /// What came out of it, if it was taken apart.
    pub extraction: Option<Extraction>,
}

impl ArchiveOptions {
    fn existing(&self) -> ExistingFile {
        if self.force { ExistingFile::Replace } else { ExistingFile::Keep }
    }
}

impl DownloadTarget<'_> {
    /// Looks whether the archive can be put where it is wanted.
    ///
    /// # Errors
    /// There is no such folder, or something is there already.
    pub(super) fn check(&self) -> Result<(), CliError> {
        tessera_client::check_target(&self.path, self.options.existing()).map_err(|failure| {
            let replaceable = self.path.is_file() && !self.options.force;
            let ended = CliError::from(failure);
            if replaceable { ended.with_remedy("the same with --force") } else { ended }
        })
    }
}

impl DownloadedArchive {
    /// The exit code, after everything that is wrong with the archive is told.
    pub(super) fn report_problems(&self, context: &Context, found: &FoundExport) -> Exit {
        let mut wrong = match &self.inspection {
            Ok(inside) => {
                archive_problems(inside, found.request().map(|export| export.spec.include_images))
            }
            Err(failure) => vec![failure.to_string()],
        };
        let refused = self.extraction.iter().map(|extraction| &extraction.rejected_entries);
        wrong.extend(
            refused
                .filter(|named| named.count > 0)
                .map(|named| describe_named("entries were refused", named)),
        );
        for words in &wrong {
            context.messages.warn(words);
        }
        if wrong.is_empty() { Exit::Done } else { Exit::Partly }
    }
}

/// Fetches the archive of a finished export.
///
/// # Errors
/// It is not finished, or what keeps the archive away.
pub(super) async fn download(
    context: &Context,
    connection: &Connection,
    which: &ExportLookup,
    place: &DownloadOptions,
) -> Result<Exit, CliError> {
    let found = which.find(context, connection).await?;
    let wanted = DownloadTarget {
        path: archive_path(connection, &found, place).await?,
        options: &place.archive,
    };
    wanted.check()?;
    let task = connection.client.export_status(found.dataset, found.task).await?;
    let fetched = download_archive(context, connection, &found, &wanted).await?;
    job_recorder::record_download(context, connection, found.task, &fetched.archive);
    context.print(&export_document(&found, &task, Some(&fetched)))?;
    Ok(fetched.report_problems(context, &found))
}

/// The file: as it is named, else as it was asked for, else after the dataset.
async fn archive_path(
    connection: &Connection,
    found: &FoundExport,
    place: &DownloadOptions,
) -> Result<PathBuf, Failure> {
    if let Some(file) = &place.output {
        return Ok(file.clone());
    }
    let folder = place.dir.clone().unwrap_or_else(|| PathBuf::from("."));
    let name = if let Some(export) = found.request() {
        export.spec.file_name.clone()
    } else {
        let dataset = connection.client.dataset(found.dataset).await?;
        ArchiveName::new(dataset.name.as_str())
    };
    Ok(folder.join(name.as_str()))
}

/// Fetches an archive, and looks into it.
///
/// # Errors
/// As [`tessera_client::Client::download`].
pub(super) async fn download_archive(
    context: &Context,
    connection: &Connection,
    found: &FoundExport,
    wanted: &DownloadTarget<'_>,
) -> Result<DownloadedArchive, CliError> {
    let DownloadTarget { path: target, options: after } = wanted;
    let archive = {
        let mut going_on =
            ResumeHint { messages: context.messages, task: found.task, target, finished: false };
        let mut bar = context.messages.progress_bar(file_name(target));
        let report = &mut |done, all| bar.set_bytes(done, all);
        let export = (found.dataset, found.task);
        let outcome = connection.client.download(export, (target, after.existing()), report).await;
        going_on.finished = true;
        outcome?
    };
    context.messages.info(format!(
        "{}: {} entries verified, {} of them images",
        archive.path.display(),
        archive.entries,
        archive.images
    ));
    let inside = inspect_archive(archive.path.clone()).await;
    let extraction = match &after.extract {
        Some(folder) => Some(extract_archive(context, &archive.path, folder, after).await?),
        None => None,
    };
    Ok(DownloadedArchive { archive, inspection: inside, extraction })
}

/// Takes an archive apart, on a thread of its own.
async fn extract_archive(
    context: &Context,
    archive: &Path,
    folder: &Path,
    after: &ArchiveOptions,
) -> Result<Extraction, CliError> {
    let (from, to) = (archive.to_owned(), folder.to_owned());
    let (existing, join) = (after.existing(), after.join);
    let work =
        tokio::task::spawn_blocking(move || tessera_client::extract(&from, &to, existing, join));
    let extraction = work.await.unwrap_or_else(|_| Err(Failure::internal_error()))?;
    let (files, bytes) = (extraction.files, format_bytes(extraction.bytes));
    context.messages.info(format!("{}: {files} files, {bytes}", folder.display()));
    Ok(extraction)
}

/// Says, when a person stops a download, that it can go on.
struct ResumeHint<'a> {
    messages: Messages,
    task: ExportTaskId,
    target: &'a Path,
    finished: bool,
}

impl Drop for ResumeHint<'_> {
    fn drop(&mut self) {
        if !self.finished {
            self.messages.info(format!(
                "what has come of {} is kept; `tessera export download {}` goes on with it",
                file_name(self.target),
                self.task
            ));
        }
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

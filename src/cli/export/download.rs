//! Downloads archives: resumable, verified, and optionally extracted.

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

/// What to do with the archive.
#[derive(Debug, Args)]
#[command(next_help_heading = "After the export")]
pub struct ArchiveOptions {
    /// Replace existing files; the archive only after the new one is verified.
    #[arg(long)]
    pub force: bool,
    /// Extract the archive into this folder.
    #[arg(long, value_name = "DIR")]
    pub extract: Option<PathBuf>,
    /// Write rows.jsonl there: each metadata row, with the path of its image as _path.
    #[arg(long, requires = "extract")]
    pub join: bool,
}

pub(super) struct DownloadTarget<'a> {
    pub path: PathBuf,
    pub options: &'a ArchiveOptions,
}

pub(super) struct DownloadedArchive {
    pub archive: Archive,
    pub inspection: Result<Inspection, Failure>,
    pub extraction: Option<Extraction>,
}

impl ArchiveOptions {
    fn existing(&self) -> ExistingFile {
        if self.force { ExistingFile::Replace } else { ExistingFile::Keep }
    }
}

impl DownloadTarget<'_> {
    /// Checks that the archive can be saved at this path.
    pub(super) fn check(&self) -> Result<(), CliError> {
        tessera_client::check_target(&self.path, self.options.existing()).map_err(|failure| {
            let replaceable = self.path.is_file() && !self.options.force;
            let error = CliError::from(failure);
            if replaceable { error.with_remedy("repeat the command with --force") } else { error }
        })
    }
}

impl DownloadedArchive {
    /// Warns about every problem of the archive, and returns the exit code.
    pub(super) fn report_problems(&self, context: &Context, found: &FoundExport) -> Exit {
        let mut wrong = match &self.inspection {
            Ok(inspection) => archive_problems(
                inspection,
                found.request().map(|export| export.spec.include_images),
            ),
            Err(failure) => vec![failure.to_string()],
        };
        let refused = self.extraction.iter().map(|extraction| &extraction.rejected_entries);
        wrong.extend(
            refused
                .filter(|named| named.count > 0)
                .map(|named| describe_named("entries were rejected", named)),
        );
        for words in &wrong {
            context.messages.warn(words);
        }
        if wrong.is_empty() { Exit::Done } else { Exit::Partly }
    }
}

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

/// The path: as given, or named by the export request, or after the dataset.
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

/// Downloads an archive and inspects it.
pub(super) async fn download_archive(
    context: &Context,
    connection: &Connection,
    found: &FoundExport,
    wanted: &DownloadTarget<'_>,
) -> Result<DownloadedArchive, CliError> {
    let DownloadTarget { path: target, options: after } = wanted;
    let archive = {
        let mut hint =
            ResumeHint { messages: context.messages, task: found.task, target, finished: false };
        let mut bar = context.messages.progress_bar(file_name(target));
        let report = &mut |done, all| bar.set_bytes(done, all);
        let export = (found.dataset, found.task);
        let outcome = connection.client.download(export, (target, after.existing()), report).await;
        hint.finished = true;
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

/// On interruption, prints how to resume the download.
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
                "the partial download of {} was kept; resume with `tessera export download {}`",
                file_name(self.target),
                self.task
            ));
        }
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

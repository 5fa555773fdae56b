//! An archive of an export: downloaded, verified, inspected, and optionally extracted.

use std::path::{Path, PathBuf};

use clap::Args;

use super::{
    inspect::{archive_problems, describe_named, inspect_archive},
    lookup::FoundExport,
};
use crate::cli::{
    CliError, CliResult, Connection, Context, Exit,
    messages::{Messages, format_bytes},
};
use tessera_client::ExistingFile;
use tessera_model::{Archive, ExportTaskId, Extraction, Failure, Inspection};

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
    pub(super) fn check(&self) -> CliResult<()> {
        tessera_client::check_target(&self.path, self.options.existing()).map_err(|failure| {
            let replaceable = self.path.is_file() && !self.options.force;
            let error = CliError::from(failure);
            if replaceable { error.with_remedy("repeat the command with --force") } else { error }
        })
    }

    pub(super) async fn download(
        &self,
        connection: &Connection<'_>,
        export: &FoundExport,
    ) -> CliResult<DownloadedArchive> {
        let context = connection.context;
        let archive = {
            let mut hint = ResumeHint {
                messages: context.messages,
                task: export.task,
                target: &self.path,
                finished: false,
            };
            let mut bar = context.messages.progress_bar(file_name(&self.path));
            let report = &mut |done, all| bar.set_bytes(done, all);
            let (client, existing) = (&connection.client, self.options.existing());
            let outcome =
                client.download(export.dataset, export.task, &self.path, existing, report).await;
            hint.finished = true;
            outcome?
        };
        context.messages.info(format!(
            "{}: {} entries verified, {} of them images",
            archive.path.display(),
            archive.entries,
            archive.images
        ));
        let inspection = inspect_archive(archive.path.clone()).await;
        let extraction = match &self.options.extract {
            Some(folder) => Some(self.extract(context, &archive.path, folder).await?),
            None => None,
        };
        Ok(DownloadedArchive { archive, inspection, extraction })
    }

    async fn extract(
        &self,
        context: &Context,
        archive: &Path,
        folder: &Path,
    ) -> CliResult<Extraction> {
        let (from, to) = (archive.to_owned(), folder.to_owned());
        let (existing, join) = (self.options.existing(), self.options.join);
        let work = tokio::task::spawn_blocking(move || {
            tessera_client::extract(&from, &to, existing, join)
        });
        let extraction = work.await.unwrap_or_else(|_| Err(Failure::internal_error()))?;
        let (files, bytes) = (extraction.files, format_bytes(extraction.bytes));
        context.messages.info(format!("{}: {files} files, {bytes}", folder.display()));
        Ok(extraction)
    }
}

impl DownloadedArchive {
    /// Warns about every problem of the archive, and returns the exit code.
    pub(super) fn report_problems(&self, context: &Context, export: &FoundExport) -> Exit {
        let with_images = export.request().map(|request| request.spec.include_images);
        let mut problems = match &self.inspection {
            Ok(inspection) => archive_problems(inspection, with_images),
            Err(failure) => vec![failure.to_string()],
        };
        if let Some(extraction) = &self.extraction
            && extraction.rejected_entries.count > 0
        {
            problems.push(describe_named("entries were rejected", &extraction.rejected_entries));
        }
        let index_failure = self.extraction.as_ref().and_then(|it| it.index_failure.as_ref());
        problems.extend(index_failure.map(|failure| format!("--join: {failure}")));
        context.warn_of_problems(&problems)
    }
}

impl Context {
    pub(super) fn warn_of_problems(&self, problems: &[String]) -> Exit {
        for problem in problems {
            self.messages.warn(problem);
        }
        if problems.is_empty() { Exit::Done } else { Exit::Incomplete }
    }
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

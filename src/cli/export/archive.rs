//! Handles the archive of an export: downloads, verifies, inspects and optionally extracts it.

use tessera_client::{ExistingFile, ExtractOptions, Originals};
use tessera_files::Guarantee;
use tessera_model::{
    Archive, ArchiveName, ExportState, ExportTask, ExportTaskId, Extraction, Inspection,
    export::NameSample,
};

use crate::cli::prelude::*;
use crate::{
    cli::{
        export::lookup::{
            DownloadedArchive, FoundExport, export_document, names_json, sample_json,
        },
        job_recorder::WAITING_FOR_LINK,
        messages::{Messages, format_bytes},
        values::{absolute_path, check_new_file, existing_file},
    },
    usecase::run_blocking,
};

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
    /// Extract images of a local folder as hard links to their originals. Changing such an image changes the original.
    #[arg(long, requires = "extract")]
    pub link: bool,
}

pub(super) struct DownloadTarget<'a> {
    pub path: PathBuf,
    pub options: &'a ArchiveOptions,
}

impl ArchiveOptions {
    pub(super) fn existing(&self) -> ExistingFile {
        existing_file(self.force)
    }

    /// Checks that links to the originals are possible. This is called before the export starts.
    pub(super) fn require_originals(&self, connection: &Connection<'_>) -> CliResult<()> {
        if self.link { connection.local_service("--link").map(drop) } else { Ok(()) }
    }
}

impl DownloadTarget<'_> {
    pub(super) fn check(&self) -> CliResult<()> {
        check_new_file(&self.path, self.options.existing())?;
        let folder = self.options.extract.as_deref();
        Ok(folder.map_or(Ok(()), tessera_client::check_extraction_folder)?)
    }

    pub(super) async fn download(
        &self,
        connection: &Connection<'_>,
        export: &FoundExport,
    ) -> CliResult<Archive> {
        let context = connection.context;
        let mut hint = ResumeHint {
            messages: context.messages,
            command: context.suggestion(
                ShellCommand::new("tessera export download").word(export.task.to_string()),
            ),
            target: &self.path,
            finished: false,
        };
        let mut bar = context.messages.progress_bar(file_name(&self.path));
        let report = &mut |done, all| bar.set_bytes(done, all);
        let (client, existing) = (&connection.client, self.options.existing());
        let outcome = match self.share_archive(connection, export.task).await {
            Ok(None) => {
                let (dataset, task) = (export.dataset, export.task);
                client.download(dataset, task, &self.path, existing, report).await
            }
            Ok(Some(archive)) => Ok(archive),
            Err(failure) => Err(failure),
        };
        hint.finished = true;
        Ok(outcome?)
    }

    /// Inspects the archive, and extracts it if the options say so. This is called when the download is recorded, because
    /// the archive stays if it cannot be extracted.
    pub(super) async fn unpack(
        &self,
        connection: &Connection<'_>,
        export: &FoundExport,
        archive: Archive,
    ) -> CliResult<DownloadedArchive> {
        let context = connection.context;
        let folder = tessera_files::parent_dir(&self.path);
        let needed = [Guarantee::Locks, Guarantee::Durability];
        for sentence in tessera_files::missing_guarantees(folder, &needed) {
            context.messages.warn(sentence);
        }
        let entries = count_with_noun(archive.entries, "entry", "entries");
        // Some formats have their images within other files.
        let images = match archive.images {
            0 => String::new(),
            images => format!(", {images} of them images"),
        };
        let path = archive.path.display();
        context.messages.info(format!("{path}: {entries} verified{images}"));
        let inspection = inspect_archive(archive.path.clone()).await;
        let extraction = match &self.options.extract {
            Some(folder) => {
                let extraction = self.extract(connection, &archive.path, folder).await?;
                warn_if_in_dataset(connection, export.dataset, folder, archive.images)?;
                Some(extraction)
            }
            None => None,
        };
        Ok(DownloadedArchive { archive, inspection, extraction })
    }

    /// Takes the archive of a local deployment without copying it. Returns `None` if it has to be downloaded.
    async fn share_archive(
        &self,
        connection: &Connection<'_>,
        task: ExportTaskId,
    ) -> Result<Option<Archive>, Failure> {
        let source = connection.local.as_ref().and_then(|local| local.archive_file(task));
        let Some(source) = source else { return Ok(None) };
        let (target, existing) = (self.path.clone(), self.options.existing());
        run_blocking(move || tessera_client::share_archive(&source, &target, existing)).await
    }

    async fn extract(
        &self,
        connection: &Connection<'_>,
        archive: &Path,
        folder: &Path,
    ) -> CliResult<Extraction> {
        let (from, to) = (archive.to_owned(), folder.to_owned());
        let originals = connection
            .local
            .as_ref()
            .map(|local| Originals { lookup: local.originals(), hard_links: self.options.link });
        let options = ExtractOptions::new(self.options.existing(), self.options.join);
        let options = ExtractOptions { originals, ..options };
        let extraction =
            run_blocking(move || tessera_client::extract(&from, &to, &options)).await?;
        let (files, bytes) = (extraction.files, format_bytes(extraction.bytes));
        let mut message = format!("{}: {files} files, {bytes}", folder.display());
        if extraction.shared_files > 0 {
            let kind = if self.options.link { "links to" } else { "share their space with" };
            message = format!("{message}; {} {kind} their originals", extraction.shared_files);
        }
        connection.context.messages.info(message);
        Ok(extraction)
    }
}

/// Warns of images that were extracted into the folder of their dataset, because they become media items of it.
fn warn_if_in_dataset(
    connection: &Connection<'_>,
    dataset: DatasetId,
    folder: &Path,
    images: usize,
) -> CliResult<()> {
    let of_dataset = connection.dataset_folder(dataset)?.and_then(|it| it.canonicalize().ok());
    let folder_on_disk = folder.canonicalize().ok();
    let is_inside = folder_on_disk.zip(of_dataset).is_some_and(|(it, of)| it.starts_with(of));
    if images > 0 && is_inside {
        let images = count_with_noun(images, "image is a media item", "images are media items");
        connection.context.messages.warn(format!(
            "{} is in the folder of the dataset, so {images} of the dataset, too; move it elsewhere",
            folder.display()
        ));
    }
    Ok(())
}

/// Writes the rows of an archive with the paths of the originals. Returns the number of rows.
pub(super) async fn list_originals(
    connection: &Connection<'_>,
    archive: PathBuf,
    list: &Path,
    existing: ExistingFile,
) -> CliResult<u64> {
    let lookup = connection.local_service("--list")?.original_paths();
    let target = list.to_owned();
    let list_rows = move || tessera_client::list_originals(&archive, &target, existing, &lookup);
    let rows = run_blocking(list_rows).await?;
    let text = count_with_noun(usize::try_from(rows).unwrap_or(usize::MAX), "row", "rows");
    connection.context.messages.info(format!("{}: {text}", list.display()));
    Ok(rows)
}

impl DownloadedArchive {
    /// Warns about every problem of the archive, and returns the exit code.
    pub(super) fn report_problems(
        &self,
        context: &Context,
        export: &FoundExport,
        task: &ExportTask,
    ) -> Exit {
        let with_images = export.request().map(|request| request.spec.include_images);
        let mut problems = match &self.inspection {
            Ok(inspection) => archive_problems(inspection, with_images),
            Err(failure) => vec![failure.to_string()],
        };
        problems.extend(task.shortfall().map(ToString::to_string));
        if let Some(extraction) = &self.extraction
            && extraction.rejected_entries.count > 0
        {
            problems.push(describe_named("entries were rejected", &extraction.rejected_entries));
        }
        let index_failure = self.extraction.as_ref().and_then(|it| it.index_failure.as_ref());
        problems
            .extend(index_failure.map(|failure| format!("the rows were not written: {failure}")));
        context.warn_of_problems(&problems)
    }
}

impl Context {
    /// Warns about what a completed export lacks, and returns the exit code.
    pub(in crate::cli) fn warn_of_shortfall(&self, task: &ExportTask) -> Exit {
        let problems: Vec<String> = task.shortfall().map(ToString::to_string).into_iter().collect();
        self.warn_of_problems(&problems)
    }

    pub(super) fn warn_of_problems(&self, problems: &[String]) -> Exit {
        for problem in problems {
            self.messages.warn(problem);
        }
        if problems.is_empty() { Exit::Done } else { Exit::Incomplete }
    }
}

/// Prints how to resume the download if it is interrupted.
struct ResumeHint<'a> {
    messages: Messages,
    /// The command that resumes the download.
    command: ShellCommand,
    target: &'a Path,
    finished: bool,
}

impl Drop for ResumeHint<'_> {
    fn drop(&mut self) {
        if !self.finished {
            self.messages.info(format!(
                "the partial download of {} was kept; resume with `{}`",
                file_name(self.target),
                self.command
            ));
        }
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

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
    export: FoundExport,
    options: &DownloadOptions,
) -> CliResult {
    options.archive.require_originals(connection)?;
    let path = absolute_path(&archive_path(connection, &export, options).await?)?;
    let target = DownloadTarget { path, options: &options.archive };
    target.check()?;
    let task = connection.client.export_status(export.dataset, export.task).await?;
    if task.state == ExportState::Completed && !task.has_ended() {
        connection.context.messages.info(WAITING_FOR_LINK);
    }
    let archive = target.download(connection, &export).await?;
    connection.record_download(export.task, &archive);
    let downloaded = target.unpack(connection, &export, archive).await?;
    connection.context.print(&export_document(&export, &task, Some(&downloaded)))?;
    Ok(downloaded.report_problems(connection.context, &export, &task))
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

pub(super) async fn inspect(context: &Context, file: PathBuf) -> CliResult {
    let inspection = inspect_archive(file).await?;
    let fields = inspection_json(&inspection);
    let document = Document::new("tessera.inspection/1", fields);
    let document = if inspection.has_rows() {
        document
    } else {
        // The rows of such an archive are not read.
        document.with_table("archive without rows")
    };
    context.print(&document)?;
    Ok(context.warn_of_problems(&archive_problems(&inspection, None)))
}

pub(super) async fn inspect_archive(file: PathBuf) -> Result<Inspection, Failure> {
    run_blocking(move || tessera_client::inspect_archive(&file)).await
}

/// Fields that depend on rows are null if the rows of the format are not read.
fn inspection_json(inspection: &Inspection) -> Value {
    let has_rows = inspection.has_rows();
    json!({
        "file": inspection.path.to_string_lossy(),
        "bytes": inspection.bytes,
        "export_format": inspection.format.as_str(),
        "metadata": inspection.metadata_file.received(),
        "annotation_files": (!has_rows).then_some(inspection.annotation_files),
        "rows": has_rows.then_some(inspection.rows),
        "columns": has_rows.then(|| names_json(&inspection.columns)),
        "uniqueness": has_rows.then_some(inspection.uniqueness),
        "unscored": has_rows.then_some(inspection.unscored),
        "images": inspection.image_count(),
        "frames": has_rows.then_some(inspection.frames),
        "videos": has_rows.then_some(inspection.videos),
        "rows_without_file": has_rows.then(|| sample_json(&inspection.rows_without_file)),
        "files_without_row": has_rows.then(|| sample_json(&inspection.files_without_row)),
        "refused": sample_json(&inspection.unsafe_entries),
    })
}

/// Describes the problems of an archive, one sentence each. `with_images` is whether images were
/// requested. If that is unknown, an archive without images is complete.
pub(super) fn archive_problems(inspection: &Inspection, with_images: Option<bool>) -> Vec<String> {
    let images = with_images.unwrap_or(inspection.images > 0);
    [
        ("rows have no file in the archive", &inspection.rows_without_file, images),
        ("files have no row in the metadata", &inspection.files_without_row, true),
        ("entries are not extracted, because of their names", &inspection.unsafe_entries, true),
    ]
    .into_iter()
    .filter(|(_, named, counts)| *counts && named.count > 0)
    .map(|(problem, named, _)| describe_named(problem, named))
    .collect()
}

pub(super) fn describe_named(problem: &str, named: &NameSample) -> String {
    format!("{} {problem}: {}", named.count, named.listed())
}

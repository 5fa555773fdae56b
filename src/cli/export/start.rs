//! `tessera export start`: sends the request once, then waits and downloads as requested.

use std::{path::PathBuf, time::Duration};

use clap::Args;

use super::{
    content::ExportContentOptions,
    download::{ArchiveOptions, DownloadTarget, download_archive},
    lookup::FoundExport,
    report::export_document,
};
use crate::{
    cli::{CliError, Connection, Context, Exit, JobRecorder, polling::parse_interval},
    config::{ExportDefaults, expand_home},
};
use tessera_model::{
    ArchiveName, Dataset, ExportFormat, ExportJob, ExportSpec, ExportTask, Failure, JobKind,
    Operation, SafeText, SavedJobState, Selection,
};

#[derive(Debug, Args)]
pub struct ExportStartOptions {
    /// ID or name of the dataset.
    dataset: Option<String>,
    /// Format of the metadata: expected json or parquet [default: from the settings].
    #[arg(long, value_parser = parse_format)]
    format: Option<ExportFormat>,
    /// Include the images [default: from the settings].
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true")]
    images: Option<bool>,
    /// Name of the archive [default: the dataset's name].
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    content: ExportContentOptions,
    /// Wait for the export to finish.
    #[arg(long, help_heading = "After the export")]
    wait: bool,
    /// Polling interval [default: 1 to 15 seconds, depending on the age of the export].
    #[arg(long, value_name = "DURATION", value_parser = parse_interval,
          help_heading = "After the export")]
    interval: Option<Duration>,
    /// Wait for the export, and download the archive to this folder.
    #[arg(long, value_name = "DIR", help_heading = "After the export")]
    download: Option<PathBuf>,
    #[command(flatten)]
    archive: ArchiveOptions,
}

fn parse_format(text: &str) -> Result<ExportFormat, String> {
    ExportFormat::parse(text).ok_or_else(|| "expected json or parquet".to_owned())
}

impl ExportStartOptions {
    pub(super) async fn run(
        self,
        context: &Context,
        connection: &Connection,
    ) -> Result<Exit, CliError> {
        let dataset = context.dataset(connection, self.dataset.as_deref()).await?;
        context.require_allowed(&dataset, Operation::Export, false)?;
        let selection = self.content.selection(context, connection, &dataset)?;
        let export = self.export_spec(&context.settings.export, &dataset, selection.as_ref());
        let wanted = export
            .auto_download
            .then(|| DownloadTarget { path: export.target(), options: &self.archive });
        if let Some(wanted) = &wanted {
            // Check before the export starts that the archive can be saved.
            wanted.check()?;
        }
        let mut record =
            JobRecorder::begin(context, connection, &dataset, JobKind::Export(export.clone()));
        let task = match send_request(connection, &dataset, &export.spec, selection).await {
            Ok(task) => task,
            Err(failure) => return Err(record_failure(&mut record, failure)),
        };
        record.set_state(SavedJobState::Running(task.id));
        if !self.wait && wanted.is_none() {
            let found =
                FoundExport { dataset: dataset.id, task: task.id, job: Some(record.job().clone()) };
            return print_export(context, &found, &task);
        }
        context.messages.info(format!("export {} of {}", task.id, dataset.name));
        let followed = context.follow_export(connection, dataset.id, task.id, self.interval).await;
        let task = followed.inspect_err(|error| {
            if error.exit == Exit::Remote {
                record.set_state(SavedJobState::Failed(SafeText::detail(&error.message)));
            }
        })?;
        record.set_state(SavedJobState::Completed(task.id));
        let mut found =
            FoundExport { dataset: dataset.id, task: task.id, job: Some(record.job().clone()) };
        let Some(wanted) = wanted else { return print_export(context, &found, &task) };
        let fetched = download_archive(context, connection, &found, &wanted).await?;
        record.set_state(SavedJobState::Downloaded(fetched.archive.clone()));
        found.job = Some(record.job().clone());
        context.print(&export_document(&found, &task, Some(&fetched)))?;
        Ok(fetched.report_problems(context, &found))
    }

    fn export_spec(
        &self,
        usual: &ExportDefaults,
        dataset: &Dataset,
        selection: Option<&Selection>,
    ) -> ExportJob {
        let name = self.name.as_deref().or_else(|| self.content.name());
        ExportJob {
            spec: ExportSpec {
                file_name: ArchiveName::new(name.unwrap_or(dataset.name.as_str())),
                format: self.format.unwrap_or(usual.format),
                include_images: self.images.unwrap_or(usual.include_images),
            },
            selection: selection.map(|selection| selection.totals().summary()),
            folder: self
                .download
                .clone()
                .unwrap_or_else(|| expand_home((&usual.download_dir).into())),
            // When waiting, no other process is there to download the archive.
            auto_download: self.download.is_some()
                || self.archive.extract.is_some()
                || self.wait && usual.auto_download,
        }
    }
}

async fn send_request(
    connection: &Connection,
    dataset: &Dataset,
    spec: &ExportSpec,
    selection: Option<Selection>,
) -> Result<ExportTask, Failure> {
    let client = &connection.client;
    let Some(selection) = selection else { return client.start_export(dataset.id, spec).await };
    let items = selection.items();
    client.start_selective_export(dataset.id, spec.format, spec.include_images, &items).await
}

/// The request failed, or its effect is unknown.
fn record_failure(record: &mut JobRecorder<'_>, failure: Failure) -> CliError {
    record.set_failed(&failure);
    let open = failure.may_have_taken_effect();
    let error = CliError::from(failure);
    if open { error.with_code("may_have_started") } else { error }
}

/// Prints the export; with `--quiet`, only its ID.
fn print_export(
    context: &Context,
    found: &FoundExport,
    task: &ExportTask,
) -> Result<Exit, CliError> {
    if context.global.quiet && !context.out.is_machine() {
        context.out.print_text(&format!("{}\n", found.task))?;
    } else {
        context.print(&export_document(found, task, None))?;
    }
    Ok(Exit::Done)
}

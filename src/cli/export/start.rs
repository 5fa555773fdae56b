//! `tessera export start`: sends the request once, for a dataset or a selection in it, then waits and downloads as
//! requested.

use tessera_client::{ExistingFile, LocalAddition};
use tessera_config::expand_home;
use tessera_model::{
    ArchiveName, EntityType, ExportFormat, ExportJob, ExportPart, ExportSelection, ExportSpec,
    ExportTask, FailureKind, Fraction, Granularity, JobKind, Omission, Operation, Query, QueryText,
    SavedView, Search, Selection,
};

use crate::cli::prelude::*;
use crate::{
    cli::{
        JobRecorder,
        export::{
            archive::{ArchiveOptions, DownloadTarget, list_originals},
            lookup::{FoundExport, export_document},
        },
        input_options::ItemOptions,
        query, read_file_or_stdin,
        search::{self, CutOptions, FilterOptions, RankingSource, SearchOptions, SearchRequest},
        values::{absolute_path, check_new_file, parse_interval},
    },
    state,
};

#[derive(Debug, Args)]
pub struct ExportStartOptions {
    /// ID or name of the dataset, or its folder.
    dataset: Option<String>,
    /// Format: json, parquet, and in local services also coco, yolo, yolo-segment, yolo-pose, voc, csv, imagefolder,
    /// webdataset or hf-parquet [default: from the settings].
    #[arg(long)]
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
    /// Export everything else: what the dataset contains, or what the search finds, except the selection. Local
    /// services only.
    #[arg(long, help_heading = "Which media")]
    rest: bool,
    /// Wait for the export to finish. With a local folder, the command always waits.
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
    /// Wait for the export, and write a line of JSON for each row to this file, with the absolute path of its original
    /// as `original_path`. No image is copied, and no archive is kept. Local folders only.
    #[arg(long, value_name = "FILE", help_heading = "After the export",
          conflicts_with_all = ["images", "format", "name", "download", "extract"])]
    list: Option<PathBuf>,
}

impl ExportStartOptions {
    pub(super) async fn run(self, connection: &Connection<'_>) -> CliResult {
        let context = connection.context;
        if let Some(folder) = &self.download {
            tessera_client::check_folder(folder)?;
        }
        self.archive.require_originals(connection)?;
        if let Some(list) = &self.list {
            connection.local_service("--list")?;
            check_new_file(list, self.archive.existing())?;
        }
        let view = self.content.found.view(connection)?;
        let dataset = self.find_dataset(connection, view.as_ref()).await?;
        context.require_allowed(&dataset, Operation::Export, false)?;
        let (selected, selection) = self.selection(connection, &dataset, view).await?;
        let export = self.export_job(connection, &dataset, selected.as_ref())?;
        let omissions = self.omissions(connection, &dataset, &export, selection.as_ref()).await?;
        let target = export
            .auto_download
            .then(|| DownloadTarget { path: export.target(), options: &self.archive });
        if let Some(target) = &target {
            // The target is checked before the export starts, so that the archive can be saved.
            target.check()?;
        }
        let mut recorder =
            JobRecorder::begin(connection, &dataset, JobKind::Export(export.clone()));
        let mut task = send_request(connection, &dataset, &export.spec, selection)
            .await
            .map_err(|failure| record_failure(&mut recorder, failure))?;
        recorder.apply(|job| job.export_reported(Duration::ZERO, task.clone()));
        if !task.has_ended() && (connection.waits(self.wait) || target.is_some()) {
            context.messages.info(format!("export {} of {}", task.id, dataset.name));
            task = recorder.follow_export(self.interval).await?;
        }
        if let Some(failure) = task.failure() {
            return Err(failure.into());
        }
        let mut started = FoundExport::started_by(recorder.job(), task.id, omissions);
        if let Some(list) = &self.list {
            self.write_list(connection, &mut started, list).await?;
        }
        let Some(target) = target else { return print_export(context, &started, &task) };
        let archive = target.download(connection, &started).await?;
        recorder.apply(|job| {
            job.start_download()?;
            job.download_finished(Ok(archive.clone()))
        });
        let downloaded = target.unpack(connection, &started, archive).await?;
        started.job = recorder.job().record();
        context.print(&export_document(&started, &task, Some(&downloaded)))?;
        Ok(downloaded.report_problems(context, &started, &task))
    }

    /// Returns the selection with what is sent of it, or `None` for the whole dataset.
    async fn selection(
        &self,
        connection: &Connection<'_>,
        dataset: &Dataset,
        view: Option<SavedView>,
    ) -> CliResult<(Option<Selection>, Option<ExportSelection>)> {
        let content = &self.content;
        if !self.rest {
            let selection = content.selection(connection, dataset, view).await?;
            let items = selection.as_ref().map(|selection| selection.items().into());
            return Ok((selection, items));
        }
        connection.client.require_local(dataset.id, Some(LocalAddition::Rest)).await?;
        let selection = content.selected(connection, dataset)?.ok_or_else(|| {
            CliError::usage(
                "--rest needs a selection: --selection, --selection-file, --media or --cluster",
            )
        })?;
        let search = if content.found.is_empty() {
            Search::browse(dataset.id)
        } else {
            let request = content.found.request(view, content.items.entity).await?;
            search::search_of(connection, dataset, request).await?
        };
        if content.found.max_score.is_some() && !matches!(search.query, Query::Caption { .. }) {
            return Err(CliError::usage("--rest and --max-score need a search by caption"));
        }
        let sent = ExportSelection { items: selection.items(), rest_of: Some(search) };
        Ok((Some(selection), Some(sent)))
    }

    /// Checks that the format has what other options ask for.
    fn check_format(&self, format: ExportFormat) -> CliResult<()> {
        let name = format.as_str();
        if format.requires_images() && self.images == Some(false) {
            return Err(CliError::usage(format!("{name} has no form without images")));
        }
        if self.archive.join && !format.is_in_api() {
            return Err(CliError::usage(format!("--join needs json or parquet, not {name}")));
        }
        Ok(())
    }

    /// Reports what was not read, and what the format omits or changes, before the export starts. Fails if the
    /// service does not write the format.
    async fn omissions(
        &self,
        connection: &Connection<'_>,
        dataset: &Dataset,
        export: &ExportJob,
        selection: Option<&ExportSelection>,
    ) -> CliResult<Vec<Omission>> {
        connection.unread_files(dataset)?;
        let ExportSpec { format, include_images, .. } = export.spec;
        self.check_format(format)?;
        if format.is_in_api() {
            return Ok(Vec::new());
        }
        let client = &connection.client;
        let preview = client.export_preview(dataset.id, format, include_images, selection);
        let preview = match preview.await {
            Err(failure)
                if failure.kind == FailureKind::NotFound
                    && client.local_dataset(dataset.id).await.is_err() =>
            {
                return Err(CliError::usage(format!(
                    "only local services write {}; this service writes json and parquet",
                    format.as_str()
                )));
            }
            preview => preview?,
        };
        for omission in &preview.omissions {
            connection.context.messages.info(format!("{}: {}", format.as_str(), omission.text));
        }
        Ok(preview.omissions)
    }

    /// Writes the list of originals from an archive that is not kept.
    async fn write_list(
        &self,
        connection: &Connection<'_>,
        export: &mut FoundExport,
        list: &Path,
    ) -> CliResult<()> {
        let folder = tempfile::tempdir();
        let folder = folder.map_err(|error| CliError::io("create a temporary folder", &error))?;
        let archive = folder.path().join("list.zip");
        let (client, kept) = (&connection.client, ExistingFile::Keep);
        client.download(export.dataset, export.task, &archive, kept, &mut |_, _| {}).await?;
        let rows = list_originals(connection, archive, list, self.archive.existing()).await?;
        export.list = Some((list.to_owned(), rows));
        Ok(())
    }

    /// Returns the named dataset, or else that of the view.
    async fn find_dataset(
        &self,
        connection: &Connection<'_>,
        view: Option<&SavedView>,
    ) -> CliResult<Dataset> {
        let of_view = view.and_then(|view| view.dataset).map(|id| id.to_string());
        let of_view = of_view.filter(|_| !connection.context.global.names_dataset());
        connection.dataset(self.dataset.as_deref().or(of_view.as_deref())).await
    }

    fn export_job(
        &self,
        connection: &Connection<'_>,
        dataset: &Dataset,
        selection: Option<&Selection>,
    ) -> CliResult<ExportJob> {
        let defaults = &connection.context.settings.export;
        let name = self.name.as_deref().or(self.content.selection.as_deref());
        let format = match self.list {
            Some(_) => ExportFormat::Parquet,
            None => self.format.unwrap_or(defaults.format),
        };
        let folder = self.download.clone();
        let folder = folder.unwrap_or_else(|| expand_home((&defaults.download_dir).into()));
        Ok(ExportJob {
            spec: ExportSpec {
                file_name: ArchiveName::new(name.unwrap_or(dataset.name.as_str())),
                format,
                include_images: self.list.is_none()
                    && (format.requires_images() || self.images.unwrap_or(defaults.include_images)),
            },
            selection: selection.map(|selection| selection.totals().summary()),
            part: match (self.rest, self.content.found.is_empty()) {
                (false, _) => ExportPart::Selection,
                (true, false) => ExportPart::RestOfSearch,
                (true, true) => ExportPart::RestOfDataset,
            },
            // A later command may run in another folder.
            folder: absolute_path(&folder)?,
            // The setting applies only if the command waits, because otherwise this process ends before the archive is
            // ready.
            auto_download: self.download.is_some()
                || self.archive.extract.is_some()
                || connection.waits(self.wait) && self.list.is_none() && defaults.auto_download,
            shortfall: None,
        })
    }
}

async fn send_request(
    connection: &Connection<'_>,
    dataset: &Dataset,
    spec: &ExportSpec,
    selection: Option<ExportSelection>,
) -> Result<ExportTask, Failure> {
    let client = &connection.client;
    let Some(selection) = selection else { return client.start_export(dataset.id, spec).await };
    client.start_selective_export(dataset.id, spec.format, spec.include_images, &selection).await
}

fn record_failure(recorder: &mut JobRecorder<'_>, failure: Failure) -> CliError {
    recorder.set_failed(&failure);
    let may_have_started = failure.may_have_taken_effect();
    let error = CliError::from(failure);
    if may_have_started { error.with_code("may_have_started") } else { error }
}

/// Prints the export, or only its ID with `--quiet`.
fn print_export(context: &Context, export: &FoundExport, task: &ExportTask) -> CliResult {
    if context.global.quiet && !context.out.is_machine() {
        context.print_line(export.task)?;
    } else {
        context.print(&export_document(export, task, None))?;
    }
    Ok(context.warn_of_shortfall(task))
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Which media")]
pub struct ExportContentOptions {
    /// The saved selection of this name.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["media", "cluster", "selection_file"])]
    selection: Option<String>,
    /// A selection file; `-` for standard input.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["media", "cluster"])]
    selection_file: Option<PathBuf>,
    #[command(flatten)]
    pub items: ItemOptions,
    #[command(flatten)]
    found: FoundOptions,
}

/// A search. Everything that it finds is exported, and nothing else.
#[derive(Debug, Args)]
pub struct FoundOptions {
    /// What the saved view of this name finds.
    #[arg(long = "search", value_name = "VIEW", conflicts_with = "caption")]
    view: Option<String>,
    /// Media items whose captions have a similar meaning.
    #[arg(long, value_name = "TEXT", value_parser = search::parse_text)]
    caption: Option<QueryText>,
    /// Keep only scores below this, 0.0 to 1.0: lower is stricter.
    #[arg(long, value_name = "SCORE", value_parser = search::parse_fraction)]
    max_score: Option<Fraction>,
    #[command(flatten)]
    filters: FilterOptions,
}

impl FoundOptions {
    fn is_empty(&self) -> bool {
        self.view.is_none()
            && self.caption.is_none()
            && self.max_score.is_none()
            && self.filters.is_empty()
    }

    fn view(&self, connection: &Connection<'_>) -> CliResult<Option<SavedView>> {
        let find = |name| query::find_view(connection.context, &connection.state, name);
        self.view.as_deref().map(find).transpose()
    }

    async fn request(
        &self,
        view: Option<SavedView>,
        entity: EntityType,
    ) -> CliResult<SearchRequest> {
        let filters = self.filters.clone();
        if let Some(mut view) = view {
            if let (Query::Caption { max_score, .. }, Some(max)) = (&mut view.query, self.max_score)
            {
                *max_score = Some(max);
            }
            let options = SearchOptions { filters, ..SearchOptions::default() };
            let request = SearchRequest::from_view(view, options).await?;
            return Ok(SearchRequest { cut: CutOptions { max_score: self.max_score }, ..request });
        }
        let query = match &self.caption {
            Some(text) => Query::Caption { text: text.clone(), max_score: self.max_score },
            None if self.max_score.is_some() => {
                return Err(CliError::usage("--max-score needs --caption or --search"));
            }
            None => Query::Browse,
        };
        // The coarsest clusters are the fewest, and any granularity has all media items.
        let granularity = Granularity::new(4);
        let (entity, read) = (Some(entity), filters.read()?);
        let options = SearchOptions { entity, granularity, filters, ..SearchOptions::default() };
        Ok(SearchRequest {
            kind: "export",
            ranking: RankingSource::Query(query),
            filters: read,
            path: None,
            cut: CutOptions::default(),
            dataset: None,
            options,
        })
    }
}

impl ExportContentOptions {
    fn names_selection(&self) -> bool {
        self.selection.is_some() || self.selection_file.is_some() || !self.items.is_empty()
    }

    /// Fails if media are chosen although another option of the command names them all, because a choice that is
    /// ignored would change more media than the user wants.
    pub fn require_unused_with(&self, option: &str) -> CliResult<()> {
        if self.names_selection() || !self.found.is_empty() {
            let message = format!("give either {option}, or a search or a selection, not both");
            return Err(CliError::usage(message));
        }
        Ok(())
    }

    /// Returns the media that the options select, or `None` without options.
    pub async fn found_or_selected(
        &self,
        connection: &Connection<'_>,
        dataset: &Dataset,
    ) -> CliResult<Option<Selection>> {
        self.selection(connection, dataset, self.found.view(connection)?).await
    }

    /// Returns the selection to export, or `None` for the whole dataset.
    async fn selection(
        &self,
        connection: &Connection<'_>,
        dataset: &Dataset,
        view: Option<SavedView>,
    ) -> CliResult<Option<Selection>> {
        let searches = !self.found.is_empty();
        if self.names_selection() && searches {
            let message = "give either a search or a selection, not both";
            return Err(CliError::usage(message));
        }
        if searches {
            let request = self.found.request(view, self.items.entity).await?;
            let found = search::find_all(connection, dataset, request).await?;
            let nothing = || CliError::not_found("nothing was found, so nothing was done");
            return if found.is_empty() { Err(nothing()) } else { Ok(Some(found)) };
        }
        match self.selected(connection, dataset)? {
            // The user has just named these items, so a missing one is an error.
            Some(selection) if self.items.is_empty() => {
                connection.without_missing(dataset.id, selection).await.map(Some)
            }
            selected => Ok(selected),
        }
    }

    /// Returns the selection that the options name, or `None` if they name none.
    fn selected(
        &self,
        connection: &Connection<'_>,
        dataset: &Dataset,
    ) -> CliResult<Option<Selection>> {
        let selection = if let Some(name) = &self.selection {
            connection.context.named_selection(&connection.state, name, dataset.id)?
        } else if let Some(path) = &self.selection_file {
            let source = read_file_or_stdin(path)?;
            state::read_selection(&source, dataset.id)
                .map_err(|reason| CliError::usage(format!("{}: {reason}", path.display())))?
        } else if self.items.is_empty() {
            return Ok(None);
        } else {
            self.items.entries().collect()
        };
        if selection.is_empty() {
            return Err(CliError::usage("this selection is empty"));
        }
        let stale = selection.totals().stale;
        if stale > 0 {
            connection.context.messages.warn(format!(
                "{stale} clusters were selected before the last reindex and may no longer exist"
            ));
        }
        Ok(Some(selection))
    }
}

//! Runs a search page by page, until a limit or the last page is reached.

use crate::cli::prelude::*;
use crate::{
    cli::{
        output::table::plot_clusters,
        search::{
            self,
            document::{self, ContactSheet, RowFormat, SearchResults},
            found_media::{FoundMedia, MediaCollector, MediaLimits, PathPrinter},
            pages::PageCursor,
            request::{self, CutOptions, PageOptions, RankingSource, SearchOptions, SearchRequest},
        },
    },
    usecase::MemberReader,
};
use tessera_client::{LocalAddition, RawPage};
use tessera_model::{
    Cluster, EnrichmentModel, FailureKind, Filter, HistoryEntry, ModelStatus, Operation, Query,
    Status, basket::cluster_entry, vql::MAX_FILTERS,
};
use tessera_wire::preview::LinkForm;

/// A search that is ready to be sent. An image anchor is already registered.
struct PreparedSearch<'a> {
    connection: &'a Connection<'a>,
    kind: &'static str,
    dataset: Dataset,
    entry: HistoryEntry,
    cut: CutOptions,
    options: SearchOptions,
}

pub async fn execute(connection: &Connection<'_>, request: SearchRequest) -> CliResult {
    let context = connection.context;
    let SearchRequest { kind, ranking, filters, cut, dataset, options, .. } = request;
    if options.display.plot {
        context.out.require_text("--plot draws")?;
    }
    let sheet = options.display.show.then(|| ContactSheet::new(context)).transpose()?;
    let dataset_of_view = dataset.map(|id| id.to_string());
    let dataset = connection.dataset(dataset_of_view.as_deref()).await?;
    let addition = LocalAddition::in_filters(&filters);
    let addition = addition.or(options.order().map(LocalAddition::Order));
    let saves_max_score = options.save.is_some() && cut.max_score.is_some();
    let addition = addition.or(saves_max_score.then_some(LocalAddition::MaxScore));
    connection.client.require_local(dataset.id, addition).await?;
    let replaced_count = match &options.mark {
        Some(name) => search::selection_size(connection, name, &dataset)?,
        None => None,
    };
    let only_anchor = matches!(ranking, RankingSource::Picture(_, true));
    let entry = prepare_ranking(connection, &dataset, ranking, filters, &options).await?;
    context.require_allowed(&dataset, entry.search.required_operation(), options.force)?;
    let repeatable = repeatable_entry(connection, &entry, cut, saves_max_score);
    if repeatable.search.filters.len() > MAX_FILTERS {
        let message = format!(
            "a search has at most {MAX_FILTERS} filters, and --max-score is one: remove one of the filters"
        );
        return Err(CliError::new(Exit::Invalid, message));
    }
    search::add_to_history(connection, &repeatable);
    if only_anchor {
        return context.print(&document::anchor_document(&entry));
    }
    let search = PreparedSearch { connection, kind, dataset, entry, cut, options };
    let mut results = search.fetch_pages(sheet).await?;
    if let Some(name) = &search.options.save {
        search::save_view(connection, name, &repeatable)?;
    }
    if let Some(name) = &search.options.mark {
        search::save_selection(connection, name, &search.dataset, &mut results, replaced_count)?;
    }
    let sheet = results.contact_sheet.take();
    let exit = search.print(results).await?;
    if let Some(sheet) = sheet {
        sheet.draw(connection).await?;
    }
    Ok(exit)
}

/// Returns the entry of the history, with the maximum score of a search by a picture if the service knows its filter.
fn repeatable_entry(
    connection: &Connection<'_>,
    entry: &HistoryEntry,
    cut: CutOptions,
    is_checked: bool,
) -> HistoryEntry {
    let mut entry = entry.clone();
    if cut.max_score.is_some() && (is_checked || connection.link_form() == LinkForm::Files) {
        entry.search = entry.search.with_max_score(cut.max_score);
    }
    entry
}

/// Returns the search with its ranking. An image is registered with the service.
pub(super) async fn prepare_ranking(
    connection: &Connection<'_>,
    dataset: &Dataset,
    ranking: RankingSource,
    mut filters: Vec<Filter>,
    options: &SearchOptions,
) -> CliResult<HistoryEntry> {
    let context = connection.context;
    filters.extend(options.filters.tag_filter(connection, dataset.id).await?);
    let search = options.search(dataset.id, filters, &context.settings.search);
    match ranking {
        RankingSource::Query(query) => {
            let search = Search { query, ..search };
            Ok(HistoryEntry::new(search))
        }
        RankingSource::Anchor(anchor) => {
            search::search_by_anchor(connection, anchor, search, options)
        }
        RankingSource::Picture(picture, _) => {
            context.require_allowed(dataset, Operation::VisualSearch, options.force)?;
            picture.register(connection, dataset, search).await
        }
    }
}

impl PreparedSearch<'_> {
    /// Fetches the pages. With `--jsonl` and `--paths`, prints each page immediately.
    async fn fetch_pages(&self, sheet: Option<ContactSheet>) -> CliResult<SearchResults> {
        let Self { connection, options, .. } = self;
        let mut collector = self.collector();
        let mut printer = self.path_printer()?;
        let mut results = SearchResults::new(self.page_cursor(), sheet, options.display.plot);
        let mut progress = connection.context.messages.progress_bar("search");
        while let Some(search) = results.pages.next().cloned() {
            let Some((clusters, body)) = self.fetch_page(&search, &mut results).await? else {
                break;
            };
            match &mut collector {
                None => self.accept_clusters(&clusters, &search, &body, &mut results)?,
                Some(collector) => {
                    let found = collector.add_page(&clusters, &search).await;
                    self.accept_media(&found, &mut results, &mut printer)?;
                    if collector.is_full() && results.pages.next().is_some() {
                        results.pages.stop();
                    }
                }
            }
            if results.pages.next().is_some() {
                progress.set_text(&results.progress());
            }
        }
        drop(progress);
        if let Some(mut collector) = collector {
            let found = collector.finish();
            self.accept_media(&found, &mut results, &mut printer)?;
            if collector.is_cut {
                results.pages.stop();
            }
            results.missing_media = collector.reader.missing;
            self.report_missing(&collector.reader, &mut results);
        }
        if let Some(printer) = printer {
            results.is_incomplete |= !printer.report(connection.context);
        }
        Ok(results)
    }

    fn page_cursor(&self) -> PageCursor {
        let is_flat = self.options.display.is_flat();
        let PageOptions { page, all, limit } = self.options.pages;
        // The collector counts media items, so the cursor must not count clusters.
        let pages = if is_flat {
            PageOptions { page, all: all || limit.is_some(), limit: None }
        } else {
            self.options.pages
        };
        PageCursor::new(self.entry.search.clone(), pages, self.cut)
    }

    /// Returns what collects the media items, if the rows are media items.
    fn collector(&self) -> Option<MediaCollector<'_>> {
        let display = self.options.display;
        let limits = MediaLimits {
            order: self.options.order(),
            count: self.options.pages.limit.map(Into::into),
            max_score: self.cut.max_score,
            one_per_file: display.prints_paths(),
        };
        display.is_flat().then(|| MediaCollector::new(&self.connection.client, limits))
    }

    fn path_printer(&self) -> CliResult<Option<PathPrinter>> {
        let display = self.options.display;
        if !display.prints_paths() {
            return Ok(None);
        }
        if self.connection.link_form() != LinkForm::Files {
            let message = "this service does not send the paths of originals; --paths needs a local \
                           folder: --folder DIR, or a local profile";
            return Err(CliError::usage(message));
        }
        PathPrinter::new(self.connection.context, display.print0).map(Some)
    }

    /// Fetches a page. Returns its new clusters and the page as the service sent it, or `None` if the page failed after
    /// others had succeeded.
    async fn fetch_page(
        &self,
        search: &Search,
        results: &mut SearchResults,
    ) -> CliResult<Option<(Vec<Cluster>, Value)>> {
        let RawPage { body, page } = match self.connection.client.explore_raw(search).await {
            Ok(page) => page,
            Err(failure) if results.pages.fetched == 0 => {
                return Err(match search.required_operation() {
                    Operation::VisualSearch => {
                        request::refused(self.connection, &self.dataset, failure)
                    }
                    _ => failure.into(),
                });
            }
            Err(failure) => {
                results.missing_page = Some((search.page, failure));
                return Ok(None);
            }
        };
        match page {
            Some(page) => Ok(Some((results.accept(page, search), body))),
            None if results.pages.fetched == 0 => Err(self.missing_clusters_error(&body)?),
            None => {
                let failure = Failure::new(FailureKind::Unexpected, NO_CLUSTERS);
                results.missing_page = Some((search.page, failure));
                Ok(None)
            }
        }
    }

    fn accept_clusters(
        &self,
        clusters: &[Cluster],
        search: &Search,
        body: &Value,
        results: &mut SearchResults,
    ) -> CliResult<()> {
        let Self { connection, options, .. } = self;
        if options.mark.is_some() {
            let entries = clusters.iter().map(|cluster| cluster_entry(cluster, search));
            results.selected.extend(entries);
        }
        let format = RowFormat::new(options.display);
        let (links, scale) = (connection.link_form(), search.query.score_scale());
        let rows = format.rows(clusters, links, scale, search.page, body);
        if connection.context.out.is_jsonl() {
            return connection.context.out.print_rows(&format.rows_document(rows));
        }
        results.add_rows(rows, body);
        Ok(())
    }

    fn accept_media(
        &self,
        found: &[FoundMedia],
        results: &mut SearchResults,
        printer: &mut Option<PathPrinter>,
    ) -> CliResult<()> {
        let Self { connection, options, entry, .. } = self;
        *results.media.get_or_insert(0) += found.len();
        if options.mark.is_some() {
            results.selected.extend(found.iter().map(|found| found.entry(&entry.search)));
        }
        if let Some(printer) = printer {
            return printer.print(connection.context, found);
        }
        let scale = entry.search.query.score_scale();
        let rows = RowFormat::media_rows(found, connection.link_form(), scale);
        if connection.context.out.is_jsonl() {
            return connection.context.out.print_rows(&RowFormat::Media.rows_document(rows));
        }
        results.rows.extend(rows);
        Ok(())
    }

    /// Warns about matching media items that the service did not list.
    fn report_missing(&self, reader: &MemberReader, results: &mut SearchResults) {
        results.is_incomplete |= !reader.is_complete();
        if let Some(warning) = reader.missing_warning() {
            self.connection.context.messages.warn(warning);
        }
    }

    /// Returns the error for a response without clusters. The response format of text searches is
    /// not documented, so this can happen.
    fn missing_clusters_error(&self, body: &Value) -> CliResult<CliError> {
        if self.options.display.raw {
            self.connection
                .context
                .print(&Document::new("tessera.body/1", json!({ "body": body })))?;
            return Ok(CliError::failed(format!("{NO_CLUSTERS}; printed the response as it is")));
        }
        Ok(CliError::failed(format!("{NO_CLUSTERS}; use --raw to see it")))
    }

    async fn print(self, results: SearchResults) -> CliResult {
        let context = self.connection.context;
        let has_limit = self.options.pages.limit.is_some();
        results.report(context, &self.dataset, self.entry.search.page, has_limit);
        let is_incomplete = results.missing_page.is_some() || results.is_incomplete;
        let exit = match (is_incomplete, results.media.unwrap_or(results.clusters)) {
            (true, _) => Exit::Incomplete,
            (false, 0) if self.dataset.status == Status::Error => {
                let cause = self.dataset.error.as_ref().map_or("", |error| error.as_str());
                let name = &self.dataset.name;
                context
                    .messages
                    .warn(format!("nothing was found, because {name} is ERROR: {cause}"));
                Exit::Incomplete
            }
            (false, 0) => {
                self.report_no_results().await;
                if self.options.fail_empty { Exit::Empty } else { Exit::Done }
            }
            (false, _) => Exit::Done,
        };
        if self.options.display.prints_paths() {
            return Ok(exit);
        }
        if let Some(clusters) = &results.plotted {
            context.out.print_text(&plot_clusters(clusters))?;
        } else if !context.out.is_jsonl() {
            let format = RowFormat::new(self.options.display);
            let document = format.search_document(self.kind, &self.entry, results);
            if format == RowFormat::Raw {
                context.out.print_whole(&document)?;
            } else {
                context.print(&document)?;
            }
        }
        Ok(exit)
    }

    async fn report_no_results(&self) {
        let messages = self.connection.context.messages;
        messages.info("nothing was found");
        // The messages only explain, so a failure is ignored: the output is valid without them.
        if let Query::Caption { .. } = self.entry.search.query
            && let Ok(enrichment) = self.connection.client.enrichment(self.dataset.id).await
        {
            let coverage = enrichment.caption_coverage(self.dataset.media_count());
            if let Some(coverage) = coverage {
                messages.info(coverage.captions_text());
            }
            let is_local = self.connection.link_form() == LinkForm::Files;
            let has_model = enrichment.status_of(EnrichmentModel::MultimodelImageEncoding)
                == ModelStatus::Applied;
            if enrichment.imported_embeddings().is_some() {
                messages.info(IMPORTED_EMBEDDINGS_HINT);
            } else if is_local && !has_model {
                messages.info(MODEL_HINT);
            }
        }
    }
}

const NO_CLUSTERS: &str = "the response of the service has no `clusters`";

/// Why a text finds no more pictures.
const IMPORTED_EMBEDDINGS_HINT: &str = "names of files and folders were searched as well; the imported embeddings have no text encoder, so a text is not \
                                        compared with them";
/// What finds more pictures by a text.
const MODEL_HINT: &str = "names of files and folders were searched as well; with a model, a text finds pictures by what \
                          they show: tessera model list --available";

//! Runs a search page by page, until a limit or the last page is reached.

use serde_json::Value;
use tessera_client::RawPage;
use tessera_model::{
    Dataset, EnrichmentModel, Filter, HistoryEntry, ModelStatus, Operation, Query, Search,
    basket::cluster_entry,
};

use crate::cli::{
    CliError, CliResult, Connection, Exit,
    output::table::plot_clusters,
    search::{
        self,
        document::{self, ContactSheet, SearchResults},
        pages::PageCursor,
        request::{self, CutOptions, RankingSource, SearchOptions, SearchRequest},
    },
};

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
        context.out.require_text("--plot")?;
    }
    let sheet = options.display.show.then(|| ContactSheet::new(context)).transpose()?;
    let dataset_of_view = dataset.map(|id| id.to_string());
    let dataset = connection.dataset(dataset_of_view.as_deref()).await?;
    let replaced_count = match &options.mark {
        Some(name) => search::selection_size(connection, name, &dataset)?,
        None => None,
    };
    let only_anchor = matches!(ranking, RankingSource::Picture(_, true));
    let entry = prepare_ranking(connection, &dataset, ranking, filters, &options).await?;
    context.require_allowed(&dataset, entry.search.required_operation(), options.force)?;
    search::add_to_history(connection, &entry);
    if only_anchor {
        return context.print(&document::anchor_document(&entry));
    }
    let search = PreparedSearch { connection, kind, dataset, entry, cut, options };
    let mut results = search.fetch_pages(sheet).await?;
    if let Some(name) = &search.options.save {
        search::save_view(connection, name, &search.entry)?;
    }
    if let Some(name) = &search.options.mark {
        let entries = std::mem::take(&mut results.selected);
        search::save_selection(connection, name, &search.dataset, entries, replaced_count)?;
    }
    let sheet = results.contact_sheet.take();
    let exit = search.print(results).await?;
    if let Some(sheet) = sheet {
        sheet.draw(connection).await?;
    }
    Ok(exit)
}

/// Returns the search with its ranking. An image is registered with the service.
async fn prepare_ranking(
    connection: &Connection<'_>,
    dataset: &Dataset,
    ranking: RankingSource,
    filters: Vec<Filter>,
    options: &SearchOptions,
) -> CliResult<HistoryEntry> {
    let context = connection.context;
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
            picture.register(&connection.client, dataset, search).await
        }
    }
}

impl PreparedSearch<'_> {
    /// Fetches the pages. With `--jsonl`, prints each page immediately.
    async fn fetch_pages(&self, sheet: Option<ContactSheet>) -> CliResult<SearchResults> {
        let Self { connection, options, .. } = self;
        let context = connection.context;
        let format = document::RowFormat::new(options.display);
        let cursor = PageCursor::new(self.entry.search.clone(), options.pages, self.cut);
        let mut results = SearchResults::new(cursor, sheet, options.display.plot);
        let mut progress = context.messages.progress_bar("search");
        while let Some(search) = results.pages.next().cloned() {
            let RawPage { body, page } = match connection.client.explore_raw(&search).await {
                Ok(page) => page,
                Err(failure) if results.pages.fetched == 0 => {
                    return Err(match search.required_operation() {
                        Operation::VisualSearch => request::refused(&self.dataset, failure),
                        _ => failure.into(),
                    });
                }
                Err(failure) => {
                    results.missing_page = Some((search.page, failure));
                    break;
                }
            };
            let Some(page) = page else {
                return Err(self.missing_clusters_error(&body)?);
            };
            let clusters = results.accept(page, &search);
            if options.mark.is_some() {
                let entries = clusters.iter().map(|cluster| cluster_entry(cluster, &search));
                results.selected.extend(entries);
            }
            let (links, scale) = (connection.link_form(), search.query.score_scale());
            let rows = format.rows(&clusters, links, scale, search.page, &body);
            if context.out.is_jsonl() {
                context.print(&format.rows_document(rows))?;
                continue;
            }
            results.add_rows(rows, &body);
            if results.pages.next().is_some() {
                progress.set_percent(None, &results.progress());
            }
        }
        Ok(results)
    }

    /// Returns the error for a response without clusters. The response format of text searches is
    /// not documented, so this can happen.
    fn missing_clusters_error(&self, body: &Value) -> CliResult<CliError> {
        let message = "the response of the service has no `clusters`";
        if self.options.display.raw {
            self.connection.context.print(&document::body_document(body))?;
            return Ok(CliError::failed(format!("{message}; printed the response as it is")));
        }
        Ok(CliError::failed(format!("{message}; use --raw to see it")))
    }

    async fn print(self, results: SearchResults) -> CliResult {
        let context = self.connection.context;
        results.report(context, &self.dataset, self.entry.search.page);
        let exit = match (&results.missing_page, results.clusters) {
            (Some(_), _) => Exit::Incomplete,
            (None, 0) => {
                self.report_no_results().await;
                if self.options.fail_empty { Exit::Empty } else { Exit::Done }
            }
            (None, _) => Exit::Done,
        };
        if let Some(clusters) = &results.plotted {
            context.out.print_text(&plot_clusters(clusters))?;
        } else if !context.out.is_jsonl() {
            let format = document::RowFormat::new(self.options.display);
            context.print(&format.search_document(self.kind, &self.entry, results))?;
        }
        Ok(exit)
    }

    async fn report_no_results(&self) {
        let messages = self.connection.context.messages;
        messages.info("nothing was found");
        // The message is only an explanation, so a failure is ignored: the output is valid without
        // it.
        if let Query::Caption { .. } = self.entry.search.query
            && let Ok(enrichment) = self.connection.client.enrichment(self.dataset.id).await
            && enrichment.status_of(EnrichmentModel::CaptionImages) == ModelStatus::NotApplied
        {
            messages.info("the dataset has no captions: CAPTION_IMAGES was not applied");
        }
    }
}

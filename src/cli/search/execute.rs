//! Runs a search: status check, anchor, pages, output, and messages.

use serde_json::Value;

use super::{
    RankingSource, SearchRequest, anchor,
    contact_sheet::ContactSheet,
    document::{self, RowFormat},
    options::{DisplayOptions, SearchOptions},
    page_cursor::{PageCursor, PageState},
    query_image, save,
};
use crate::cli::{CliError, Connection, Context, Exit};
use tessera_model::{
    Dataset, EnrichmentModel, Failure, HistoryEntry, ModelStatus, Operation, Query, Search,
    SelectionEntry, Status, basket::cluster_entry, text::count_with_noun,
};
use tessera_wire::explore::read_page;

/// The results so far.
pub struct SearchResults {
    pub pages: PageCursor,
    /// The rows, unless they are already printed.
    pub rows: Vec<Value>,
    clusters: usize,
    selected: Vec<SelectionEntry>,
    /// The pictures for `--show`.
    contact_sheet: Option<ContactSheet>,
    /// The number of the page that failed, and why.
    pub missing_page: Option<(u32, Failure)>,
    /// Whether the service interprets the maximum score inversely.
    max_score_inverted: bool,
    /// What the service sent beside the clusters of the first page.
    pub metadata: Value,
}

pub async fn execute(
    context: &Context,
    connection: &Connection,
    question: SearchRequest,
) -> Result<Exit, CliError> {
    let SearchRequest { kind, ranking, filters, dataset, options, .. } = question;
    let sheet = options.display.show.then(|| ContactSheet::new(context)).transpose()?;
    let dataset_of_view = dataset.map(|id| id.to_string());
    let dataset = context.dataset(connection, dataset_of_view.as_deref()).await?;
    let before = match &options.mark {
        Some(name) => save::selection_size(connection, name, &dataset)?,
        None => None,
    };
    let only_anchor = matches!(ranking, RankingSource::Picture(_, true));
    let search = options.search(dataset.id, filters, &context.settings.search);
    let past = match ranking {
        RankingSource::Query(query) => {
            let search = Search { query, ..search };
            HistoryEntry { search, similar_to: None, file: None, region: None }
        }
        RankingSource::Anchor(anchor) => {
            anchor::search_by_anchor(context, connection, anchor, search, &options)?
        }
        RankingSource::Picture(picture, _) => {
            context.require_allowed(&dataset, Operation::VisualSearch, options.force)?;
            picture.register(&connection.client, &dataset, search).await?
        }
    };
    context.require_allowed(&dataset, past.search.required_operation(), options.force)?;
    save::add_to_history(context, connection, &past);
    if only_anchor {
        return context.print(&document::anchor_document(&past));
    }
    let mut found = fetch_pages(context, connection, &dataset, &past, (&options, sheet)).await?;
    if let Some(name) = &options.save {
        save::save_view(context, connection, name, &past)?;
    }
    let sheet = found.contact_sheet.take();
    let asked = CompletedSearch { kind, dataset, past, options, replaced_count: before };
    let exit = finish(context, connection, asked, found).await?;
    if let Some(sheet) = sheet {
        sheet.draw(context, connection).await?;
    }
    Ok(exit)
}

/// Fetches the pages. With `--jsonl`, prints each page immediately.
async fn fetch_pages(
    context: &Context,
    connection: &Connection,
    dataset: &Dataset,
    past: &HistoryEntry,
    (options, sheet): (&SearchOptions, Option<ContactSheet>),
) -> Result<SearchResults, CliError> {
    let rows = options.display.row_format();
    let scale = past.search.query.score_scale();
    let mut found = SearchResults::new(PageCursor::new(past.search.clone(), options.pages), sheet);
    let mut progress = context.messages.progress_bar("search");
    while let Some(search) = found.pages.next().cloned() {
        let body = match connection.client.explore_raw(&search).await {
            Ok(body) => body,
            Err(failure) if found.pages.fetched == 0 => {
                return Err(match search.required_operation() {
                    Operation::VisualSearch => query_image::refused(dataset, failure),
                    _ => failure.into(),
                });
            }
            Err(failure) => {
                found.missing_page = Some((search.page, failure));
                break;
            }
        };
        let Some(page) = read_page(&body) else {
            return Err(missing_clusters_error(context, options, &body)?);
        };
        found.max_score_inverted |= page.violates_max_score(&search);
        let clusters = found.pages.accept(page);
        found.clusters += clusters.len();
        if let Some(sheet) = &mut found.contact_sheet {
            sheet.add_clusters(&clusters);
        }
        if options.mark.is_some() {
            found.selected.extend(clusters.iter().map(|cluster| cluster_entry(cluster, &search)));
        }
        let new = rows.rows(&clusters, scale, search.page, &body);
        if context.out.is_jsonl() {
            context.print(&rows.rows_document(new))?;
            continue;
        }
        found.rows.extend(new);
        if found.metadata.is_null() {
            found.metadata = body.get("metadata").cloned().unwrap_or_default();
        }
        if found.pages.next().is_some() {
            let pages = found.pages.fetched;
            progress.set_percent(
                None,
                &format!("{} so far, from {pages} pages", count_clusters(found.clusters)),
            );
        }
    }
    Ok(found)
}

/// The response format of text searches is not documented, so it may lack clusters.
fn missing_clusters_error(
    context: &Context,
    options: &SearchOptions,
    body: &Value,
) -> Result<CliError, CliError> {
    let message = "the response of the service has no `clusters`";
    if options.display.raw {
        context.print(&document::body_document(body))?;
        return Ok(CliError::failed(format!("{message}; printed the response as it is")));
    }
    Ok(CliError::failed(format!("{message}; use --raw to see it")))
}

struct CompletedSearch {
    kind: &'static str,
    dataset: Dataset,
    past: HistoryEntry,
    options: SearchOptions,
    /// Size of the saved selection that the results replace.
    replaced_count: Option<usize>,
}

/// Saves the selection, prints the results, and reports what they omit.
async fn finish(
    context: &Context,
    connection: &Connection,
    asked: CompletedSearch,
    mut found: SearchResults,
) -> Result<Exit, CliError> {
    let CompletedSearch { kind, dataset, past, options, replaced_count: before } = asked;
    if let Some(name) = &options.mark {
        let marks = std::mem::take(&mut found.selected);
        save::save_selection(context, connection, name, &dataset, marks, before)?;
    }
    report(context, &dataset, &past, &found);
    let exit = match (&found.missing_page, found.clusters) {
        (Some(_), _) => Exit::Partly,
        (None, 0) => {
            report_no_results(context, connection, &past).await;
            if options.fail_empty { Exit::Empty } else { Exit::Done }
        }
        (None, _) => Exit::Done,
    };
    if !context.out.is_jsonl() {
        context.print(&options.display.row_format().search_document(kind, &past, found))?;
    }
    Ok(exit)
}

/// Reports whatever the rows omit.
fn report(context: &Context, dataset: &Dataset, past: &HistoryEntry, found: &SearchResults) {
    let note = context.messages;
    let PageCursor { repeated, skipped, fetched, state: reach, .. } = found.pages;
    let clusters = count_clusters(found.clusters);
    if dataset.status == Status::PartialIndex {
        note.info(format!(
            "{}: new media are not clustered yet; searches may show them separately",
            dataset.name
        ));
    }
    if found.max_score_inverted {
        note.warn("this service interprets the maximum score inversely: it keeps scores above it");
    }
    if repeated > 0 {
        let repeated = count_clusters(repeated);
        note.info(format!("skipped {repeated} repeated on later pages"));
    }
    if skipped > 0 {
        note.warn(format!("skipped {} that could not be read", count_clusters(skipped)));
    }
    match (&found.missing_page, reach) {
        (Some((page, failure)), _) => {
            note.warn(format!(
                "page {page} failed, so the results end after {clusters}: {failure}"
            ));
        }
        (None, PageState::PageLimitReached) => note.warn(format!(
            "stopped after {fetched} pages; continue with --page {}",
            past.search.page.saturating_add(fetched)
        )),
        (None, PageState::LimitReached) => {
            note.warn(format!("{clusters} shown; more may exist (use --all)"));
        }
        (None, PageState::Last | PageState::Next) => {}
    }
}

pub fn count_clusters(count: usize) -> String {
    count_with_noun(count, "cluster", "clusters")
}

/// Explains why nothing may have been found.
async fn report_no_results(context: &Context, connection: &Connection, past: &HistoryEntry) {
    context.messages.info("nothing was found");
    if !matches!(past.search.query, Query::Caption { .. }) {
        return;
    }
    // Only an explanation: without it the output is just as valid.
    if let Ok(enrichment) = connection.client.enrichment(past.search.dataset).await
        && enrichment.status_of(EnrichmentModel::CaptionImages) == ModelStatus::NotApplied
    {
        context.messages.info("the dataset has no captions: CAPTION_IMAGES was not applied");
    }
}

impl SearchResults {
    fn new(pages: PageCursor, contact_sheet: Option<ContactSheet>) -> Self {
        Self {
            pages,
            rows: Vec::new(),
            clusters: 0,
            selected: Vec::new(),
            contact_sheet,
            missing_page: None,
            max_score_inverted: false,
            metadata: Value::Null,
        }
    }
}

impl DisplayOptions {
    fn row_format(self) -> RowFormat {
        match (self.flat, self.raw) {
            (true, _) => RowFormat::Previews,
            (false, true) => RowFormat::Raw,
            (false, false) => RowFormat::Clusters,
        }
    }
}

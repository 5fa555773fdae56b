//! `tessera search`: searches a dataset, saves what was found, and draws the first pictures. Exports search for everything
//! that they send.

mod document;
mod execute;
mod found_media;
mod pages;
mod request;
pub mod saved_search;

pub use request::{
    CutOptions, FilterOptions, RankingSource, SearchCommand, SearchOptions, SearchRequest,
    parse_fraction, parse_text,
};

use document::{RowFormat, SearchResults, count_clusters};
use tessera_client::ExistingFile;
use tessera_model::{
    Anchor, AnchorKind, Cluster, HistoryEntry, Query, SavedView, Selection, SelectionEntry,
    StateValue, basket::cluster_entry,
};
use tessera_wire::selection::MAX_ITEMS;

use crate::cli::prelude::*;
use crate::cli::{
    search::{
        execute::prepare_ranking,
        found_media::{MediaCollector, MediaLimits},
        pages::{PageCursor, PageState},
        request::PageOptions,
    },
    values::timestamp_now,
};

pub async fn run(context: &Context, command: SearchCommand) -> CliResult {
    connect_and_execute(context, SearchRequest::from_command(command).await?).await
}

/// Runs a saved view. Options override the view's entity type and granularity, and add filters.
pub async fn run_view(context: &Context, view: SavedView, options: SearchOptions) -> CliResult {
    let mut request = SearchRequest::from_view(view, options).await?;
    request.dataset = request.dataset.filter(|_| !context.global.names_dataset());
    connect_and_execute(context, request).await
}

async fn connect_and_execute(context: &Context, request: SearchRequest) -> CliResult {
    let endpoints: &[Endpoint] = match request.ranking {
        RankingSource::Picture(..) => &[Endpoint::RegisterAnchor],
        RankingSource::Query(_) | RankingSource::Anchor(_) => &[Endpoint::Explore],
    };
    if !context.is_dry_run() {
        // A search may save what it finds, so its output is checked before.
        let schema = match request.ranking {
            RankingSource::Picture(_, true) => "tessera.anchor/1",
            _ => RowFormat::new(request.options.display).schema(),
        };
        context.out.require_fields_of(schema)?;
    }
    let mut connection = context.connect(endpoints).await?;
    if let Some(path) = &request.path {
        connection.client = connection.client.with_text_search(path.clone());
    }
    let outcome = execute::execute(&connection, request).await;
    connection.close(outcome).await
}

/// Searches by `anchor`. The options must not contradict the anchor's registration.
pub fn search_by_anchor(
    connection: &Connection<'_>,
    anchor: Anchor,
    search: Search,
    options: &SearchOptions,
) -> CliResult<HistoryEntry> {
    let search = Search { query: Query::Similar(anchor), ..search };
    if anchor.kind == AnchorKind::Media {
        let similar_to = Some(SafeText::name(&format!("media {}", anchor.media.short())));
        return Ok(HistoryEntry { similar_to, ..HistoryEntry::new(search) });
    }
    let Some(known) = find_registered(connection, &search)? else {
        let level = search.granularity.level();
        connection.context.messages.warn(format!(
            "this anchor was not registered from this machine; assuming {} at granularity {level}",
            search.entity.as_str()
        ));
        return Ok(HistoryEntry::new(search));
    };
    let (entity, granularity) = (known.search.entity, known.search.granularity);
    if options.entity.is_none_or(|chosen| chosen == entity)
        && options.granularity.is_none_or(|chosen| chosen == granularity)
    {
        return Ok(HistoryEntry { search: Search { entity, granularity, ..search }, ..known });
    }
    let (level, entity) = (granularity.level(), entity.as_str());
    let error =
        CliError::usage(format!("this anchor is valid only for {entity} at granularity {level}"));
    Err(match &known.file {
        Some(file) => {
            let command = ShellCommand::new("tessera search image")
                .word(file)
                .option("--entity", search.entity.as_str().to_lowercase())
                .option("--granularity", search.granularity.level().to_string());
            error.with_remedy(connection.context.suggestion(command))
        }
        None => error,
    })
}

/// Returns the search that the uploaded anchor was registered for, if the history contains it.
fn find_registered(
    connection: &Connection<'_>,
    search: &Search,
) -> CliResult<Option<HistoryEntry>> {
    let is_same = |entry: &HistoryEntry| {
        entry.search.query == search.query && entry.search.dataset == search.dataset
    };
    Ok(connection.state.history()?.into_iter().rev().find(is_same))
}

/// Adds the search to the history. If it cannot be saved, only a warning is printed.
pub fn add_to_history(connection: &Connection<'_>, entry: &HistoryEntry) {
    let Search { query, filters, .. } = &entry.search;
    let is_unfiltered_browse = *query == Query::Browse && filters.is_empty();
    if connection.context.is_dry_run() || is_unfiltered_browse {
        return;
    }
    let write = || {
        let mut searches = connection.state.history()?;
        let first_page = Search { page: 0, ..entry.search.clone() };
        let searched_at = Some(timestamp_now());
        HistoryEntry { search: first_page, searched_at, ..entry.clone() }.append_to(&mut searches);
        connection.state.replace(&StateValue::History(searches))
    };
    if let Err(failure) = write() {
        let messages = connection.context.messages;
        messages.warn(format!("the search was not saved in the history: {failure}"));
    }
}

pub fn save_view(connection: &Connection<'_>, name: &str, entry: &HistoryEntry) -> CliResult<()> {
    let mut views = connection.state.views()?;
    let name = SafeText::name(name.trim());
    let replaced = views.iter().any(|view| view.name == name);
    let view = SavedView {
        name: name.clone(),
        dataset: Some(entry.search.dataset),
        query: entry.search.query.clone(),
        filters: entry.search.filters.clone(),
        disabled_filters: Vec::new(),
        entity: entry.search.entity,
        granularity: entry.search.granularity,
        order: entry.search.order,
        similar_to: entry.similar_to.clone(),
        file: entry.file.clone(),
        region: entry.region,
    };
    view.insert_into(&mut views);
    connection.state.replace(&StateValue::Views(views))?;
    let older = if replaced { ", replacing an existing one" } else { "" };
    connection.context.messages.info(format!("saved as the view `{name}`{older}"));
    Ok(())
}

/// Returns the size of the existing selection, which must be read before the search replaces it.
pub fn selection_size(
    connection: &Connection<'_>,
    name: &str,
    dataset: &Dataset,
) -> CliResult<Option<usize>> {
    let before = connection.state.load_named_selection(name, dataset.id);
    let before = before.map_err(|failure| CliError::usage(failure.to_string()))?;
    Ok(before.map(|selection| selection.len()))
}

/// Saves the clusters or media items as a selection. Empty results save an empty selection, because the next
/// command would otherwise use an outdated one. Results that lack a page replace no selection.
pub fn save_selection(
    connection: &Connection<'_>,
    name: &str,
    dataset: &Dataset,
    results: &mut SearchResults,
    replaced_count: Option<usize>,
) -> CliResult<()> {
    if results.missing_page.is_some() {
        let message = format!("the selection `{name}` was not saved, because a page is missing");
        connection.context.messages.warn(message);
        return Ok(());
    }
    let selection: Selection = std::mem::take(&mut results.selected).into_iter().collect();
    let replaced = ExistingFile::Replace;
    connection.state.save_named_selection(name, dataset.id, &selection, replaced)?;
    let is_media = selection.totals().clusters == 0 && !selection.is_empty();
    let found = if is_media {
        count_with_noun(selection.len(), "media item", "media items")
    } else {
        count_clusters(selection.len())
    };
    let older = replaced_count
        .map(|count| format!(", replacing one with {}", count_with_noun(count, "entry", "entries")))
        .unwrap_or_default();
    connection.context.messages.info(format!("saved {found} as the selection `{name}`{older}"));
    Ok(())
}

/// Returns exactly what the search matches. Fails if the service does not list everything.
pub async fn find_all(
    connection: &Connection<'_>,
    dataset: &Dataset,
    request: SearchRequest,
) -> CliResult<Selection> {
    let cut = request.cut;
    let search = &search_of(connection, dataset, request).await?;
    let pages = all_pages(connection, search, cut).await?;
    let clusters = pages.iter().map(|(_, clusters)| clusters.len()).sum::<usize>();
    // An export applies the filters of a cluster, but it does not rank.
    if search.query == Query::Browse && clusters <= MAX_ITEMS {
        let entries = pages.iter().flat_map(|(search, clusters)| {
            clusters.iter().map(move |cluster| cluster_entry(cluster, search))
        });
        return Ok(entries.collect());
    }
    let limits = MediaLimits { max_score: cut.max_score, ..MediaLimits::default() };
    let mut collector = MediaCollector::new(&connection.client, limits);
    let mut entries: Vec<SelectionEntry> = Vec::new();
    for (page, clusters) in &pages {
        let found = collector.add_page(clusters, page).await;
        entries.extend(found.iter().map(|found| found.entry(search)));
    }
    entries.extend(collector.finish().iter().map(|found| found.entry(search)));
    match collector.reader.missing_warning() {
        Some(warning) => Err(incomplete(&warning)),
        None => Ok(entries.into_iter().collect()),
    }
}

/// Returns the search of a request. A query image is registered first.
pub async fn search_of(
    connection: &Connection<'_>,
    dataset: &Dataset,
    request: SearchRequest,
) -> CliResult<Search> {
    let SearchRequest { ranking, filters, options, .. } = request;
    let entry = prepare_ranking(connection, dataset, ranking, filters, &options).await?;
    let operation = entry.search.required_operation();
    connection.context.require_allowed(dataset, operation, options.force)?;
    Ok(entry.search)
}

async fn all_pages(
    connection: &Connection<'_>,
    search: &Search,
    cut: CutOptions,
) -> CliResult<Vec<(Search, Vec<Cluster>)>> {
    let every_page = PageOptions { page: 0, all: true, limit: None };
    let mut cursor = PageCursor::new(search.clone(), every_page, cut);
    let mut pages = Vec::new();
    while let Some(search) = cursor.next().cloned() {
        let page = connection.client.explore(&search).await?;
        pages.push((search, cursor.accept(page)));
    }
    if cursor.state != PageState::Last || cursor.skipped > 0 {
        return Err(incomplete("the service did not list all clusters"));
    }
    Ok(pages)
}

fn incomplete(reason: &str) -> CliError {
    CliError::new(Exit::Incomplete, format!("{reason}; nothing was exported"))
}

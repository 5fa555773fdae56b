//! Finds everything that a search matches, as a selection for an export.

use tessera_model::{Cluster, Query, Selection, SelectionEntry, basket::cluster_entry};
use tessera_wire::selection::MAX_ITEMS;

use crate::cli::prelude::*;
use crate::cli::search::{
    execute::prepare_ranking,
    found_media::{MediaCollector, MediaLimits},
    pages::{PageCursor, PageState},
    request::{CutOptions, PageOptions, SearchRequest},
};

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

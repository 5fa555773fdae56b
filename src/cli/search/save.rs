//! Saves a search in files shared with the interface: in the history, as view, as selection.

use super::results::count_clusters;
use crate::cli::{CliError, CliResult, Connection, timestamps::timestamp_now};
use tessera_model::{
    Dataset, HistoryEntry, Query, SafeText, SavedView, Search, Selection, SelectionEntry,
    StateValue, text::count_with_noun,
};

/// Adds the search to the history. Failing to save it is only a warning.
pub fn add_to_history(connection: &Connection<'_>, entry: &HistoryEntry) {
    let Search { query, filters, .. } = &entry.search;
    let is_unfiltered_browse = *query == Query::Browse && filters.is_empty();
    if connection.context.is_dry_run() || is_unfiltered_browse {
        return;
    }
    let write = || {
        let mut searches = connection.journal.history()?;
        let first_page = Search { page: 0, ..entry.search.clone() };
        let searched_at = Some(timestamp_now());
        HistoryEntry { search: first_page, searched_at, ..entry.clone() }.append_to(&mut searches);
        connection.journal.replace(&StateValue::History(searches))
    };
    if let Err(failure) = write() {
        let messages = connection.context.messages;
        messages.warn(format!("the search was not saved in the history: {failure}"));
    }
}

pub fn save_view(connection: &Connection<'_>, name: &str, entry: &HistoryEntry) -> CliResult<()> {
    let mut views = connection.journal.views()?;
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
        similar_to: entry.similar_to.clone(),
        query_image: entry.file.clone().map(|file| (file, entry.region)),
    };
    view.insert_into(&mut views);
    connection.journal.replace(&StateValue::Views(views))?;
    let older = if replaced { ", replacing an existing one" } else { "" };
    connection.context.messages.info(format!("saved as the view `{name}`{older}"));
    Ok(())
}

/// Size of the existing selection, read before the search that replaces it.
pub fn selection_size(
    connection: &Connection<'_>,
    name: &str,
    dataset: &Dataset,
) -> CliResult<Option<usize>> {
    let before = connection.journal.load_named_selection(name, dataset.id);
    let before = before.map_err(|failure| CliError::usage(failure.to_string()))?;
    Ok(before.map(|selection| selection.len()))
}

/// Empty results save an empty selection: the next command would otherwise use an outdated one.
pub fn save_selection(
    connection: &Connection<'_>,
    name: &str,
    dataset: &Dataset,
    entries: Vec<SelectionEntry>,
    replaced_count: Option<usize>,
) -> CliResult<()> {
    let selection: Selection = entries.into_iter().collect();
    connection.journal.save_named_selection(name, dataset.id, &selection)?;
    let clusters = count_clusters(selection.len());
    let older = replaced_count
        .map(|count| format!(", replacing one with {}", count_with_noun(count, "entry", "entries")))
        .unwrap_or_default();
    connection.context.messages.info(format!("saved {clusters} as the selection `{name}`{older}"));
    Ok(())
}

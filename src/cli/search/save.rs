//! Saves a search: in the history, as a view, as a selection. The files are shared with the
//! interface.

use super::execute::count_clusters;
use crate::cli::{CliError, Connection, Context};
use tessera_model::{
    Dataset, Failure, HistoryEntry, Query, SafeText, SavedView, Search, Selection, SelectionEntry,
    StateKey, StateValue,
};

/// Adds the search to the history. Failing to save it is only a warning.
pub fn add_to_history(context: &Context, connection: &Connection, past: &HistoryEntry) {
    let rehearsing = context.global.dry_run || context.global.print.is_some();
    if rehearsing || past.search.query == Query::Browse && past.search.filters.is_empty() {
        return;
    }
    if let Err(failure) = write_history(connection, past) {
        context.messages.warn(format!("the search was not saved in the history: {failure}"));
    }
}

fn write_history(connection: &Connection, past: &HistoryEntry) -> Result<(), Failure> {
    let mut searches = match connection.journal.load(&StateKey::History)? {
        Some(StateValue::History(searches)) => searches,
        _ => Vec::new(),
    };
    first_page(past).append_to(&mut searches);
    connection.journal.save(connection.next_sequence(), &StateValue::History(searches))
}

fn first_page(past: &HistoryEntry) -> HistoryEntry {
    HistoryEntry { search: Search { page: 0, ..past.search.clone() }, ..past.clone() }
}

pub fn save_view(
    context: &Context,
    connection: &Connection,
    name: &str,
    past: &HistoryEntry,
) -> Result<(), CliError> {
    let mut views = match connection.journal.load(&StateKey::Views)? {
        Some(StateValue::Views(views)) => views,
        _ => Vec::new(),
    };
    let name = SafeText::name(name.trim());
    let replaced = views.iter().any(|view| view.name == name);
    let view = SavedView {
        name: name.clone(),
        dataset: Some(past.search.dataset),
        query: past.search.query.clone(),
        filters: past.search.filters.clone(),
        disabled_filters: Vec::new(),
        entity: past.search.entity,
        granularity: past.search.granularity,
        similar_to: past.similar_to.clone(),
        query_image: past.file.clone().map(|file| (file, past.region)),
    };
    view.insert_into(&mut views);
    connection.journal.save(connection.next_sequence(), &StateValue::Views(views))?;
    let older = if replaced { ", replacing an existing one" } else { "" };
    context.messages.info(format!("saved as the view `{name}`{older}"));
    Ok(())
}

/// Size of the existing selection, read before the search that replaces it.
pub fn selection_size(
    connection: &Connection,
    name: &str,
    dataset: &Dataset,
) -> Result<Option<usize>, CliError> {
    let before = connection.journal.load_named_selection(name, dataset.id);
    let before = before.map_err(|failure| CliError::usage(failure.to_string()))?;
    Ok(before.map(|selection| selection.len()))
}

/// Saves the clusters as a selection. Empty results save an empty selection: otherwise a following
/// command would use an outdated one.
pub fn save_selection(
    context: &Context,
    connection: &Connection,
    name: &str,
    dataset: &Dataset,
    marks: Vec<SelectionEntry>,
    before: Option<usize>,
) -> Result<(), CliError> {
    let selection: Selection = marks.into_iter().collect();
    connection.journal.save_named_selection(name, dataset.id, &selection)?;
    let clusters = count_clusters(selection.len());
    let older =
        before.map_or_else(String::new, |marks| format!(", replacing one with {marks} entries"));
    context.messages.info(format!("saved {clusters} as the selection `{name}`{older}"));
    Ok(())
}

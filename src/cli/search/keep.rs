//! What a search leaves behind: an entry in the history, a saved view, a named selection. The same
//! files that the interface reads.

use super::ask::clusters_in_words;
use crate::cli::{Connection, Context, Ended, Exit};
use tessera_model::{
    Book, Dataset, Entry, Failure, Mark, PastSearch, Query, SafeText, SavedView, Search, Selection,
};

/// Adds it to the searches of the past. A history that cannot be kept is no reason to keep an answer
/// back.
pub fn in_history(context: &Context, connection: &Connection, past: &PastSearch) {
    let rehearsing = context.global.dry_run || context.global.print.is_some();
    if rehearsing || past.search.query == Query::Browse && past.search.filters.is_empty() {
        return;
    }
    if let Err(failure) = remember(connection, past) {
        context.note.warn(format!("the search is not in the history: {failure}"));
    }
}

fn remember(connection: &Connection, past: &PastSearch) -> Result<(), Failure> {
    let mut searches = match connection.journal.recall(&Book::History)? {
        Some(Entry::History(searches)) => searches,
        _ => Vec::new(),
    };
    first_page(past).join(&mut searches);
    connection.journal.keep(connection.next_entry(), &Entry::History(searches))
}

fn first_page(past: &PastSearch) -> PastSearch {
    PastSearch { search: Search { page: 0, ..past.search.clone() }, ..past.clone() }
}

/// Keeps the question as a saved view.
///
/// # Errors
/// The views cannot be read or written.
pub fn as_view(
    context: &Context,
    connection: &Connection,
    name: &str,
    past: &PastSearch,
) -> Result<(), Ended> {
    let mut views = match connection.journal.recall(&Book::Views)? {
        Some(Entry::Views(views)) => views,
        _ => Vec::new(),
    };
    let name = SafeText::name(name.trim());
    let replaced = views.iter().any(|view| view.name == name);
    let view = SavedView {
        name: name.clone(),
        dataset: Some(past.search.dataset),
        query: past.search.query.clone(),
        filters: past.search.filters.clone(),
        off: Vec::new(),
        entity: past.search.entity,
        granularity: past.search.granularity,
        similar_to: past.similar_to.clone(),
        image: past.file.clone().map(|file| (file, past.region)),
    };
    view.join(&mut views);
    connection.journal.keep(connection.next_entry(), &Entry::Views(views))?;
    let older = if replaced { ", in the place of an older one" } else { "" };
    context.note.say(format!("saved as the view `{name}`{older}"));
    Ok(())
}

/// How many marks the selection of a name has, looked at before a search that is to replace it.
///
/// # Errors
/// The name is none, or belongs to a selection of another dataset.
pub fn marked_before(
    connection: &Connection,
    name: &str,
    dataset: &Dataset,
) -> Result<Option<usize>, Ended> {
    let before = connection.journal.named(name, dataset.id);
    let before = before.map_err(|failure| Ended::new(Exit::Usage, failure.to_string()))?;
    Ok(before.map(|selection| selection.len()))
}

/// Keeps the clusters that were found as a named selection; an empty answer empties it, because what
/// comes next would else take an older one for this one.
///
/// # Errors
/// It cannot be written.
pub fn as_selection(
    context: &Context,
    connection: &Connection,
    name: &str,
    dataset: &Dataset,
    marks: Vec<Mark>,
    before: Option<usize>,
) -> Result<(), Ended> {
    let selection: Selection = marks.into_iter().collect();
    connection.journal.keep_named(name, dataset.id, &selection)?;
    let clusters = clusters_in_words(selection.len());
    let older = before.map_or_else(String::new, |marks| {
        format!(", in the place of an older one with {marks} marks")
    });
    context.note.say(format!("marked {clusters} as the selection `{name}`{older}"));
    Ok(())
}

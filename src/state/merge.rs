//! Merges what another window or a command has saved meanwhile, so that an open interface does not undo the decisions of
//! others on the same deployment.

use std::collections::BTreeMap;

use tessera_model::{HistoryEntry, KeptTags, Selection, SelectionEntry, StateKey, StateValue};

/// Whether values of this kind are merged. Of every other value, the latest one counts.
pub(super) fn is_merged(key: &StateKey) -> bool {
    matches!(key, StateKey::Basket(_) | StateKey::KeptTags(_) | StateKey::Views | StateKey::History)
}

/// Returns the value to store: `stored`, with the changes from `known`, which this process has read or saved last, to
/// `updated`.
pub(super) fn merged(
    known: Option<&StateValue>,
    stored: &StateValue,
    updated: &StateValue,
) -> StateValue {
    use StateValue::{Basket, History, KeptTags, Views};
    match (known.unwrap_or(&without_content(stored)), stored, updated) {
        (Basket(_, known), Basket(dataset, stored), Basket(_, updated)) => {
            Basket(*dataset, merged_selection(known, stored, updated))
        }
        (KeptTags(_, known), KeptTags(dataset, stored), KeptTags(_, updated)) => {
            KeptTags(*dataset, merged_tags(known, stored, updated))
        }
        (Views(known), Views(stored), Views(updated)) => {
            Views(merged_list(known, stored, updated, |view| view.name.clone()))
        }
        (History(known), History(stored), History(updated)) => {
            History(merged_history(known, stored, updated))
        }
        _ => updated.clone(),
    }
}

fn without_content(value: &StateValue) -> StateValue {
    match value {
        StateValue::Basket(dataset, _) => StateValue::Basket(*dataset, Selection::default()),
        StateValue::KeptTags(dataset, _) => StateValue::KeptTags(*dataset, KeptTags::new()),
        StateValue::Views(_) => StateValue::Views(Vec::new()),
        StateValue::History(_) => StateValue::History(Vec::new()),
        other => other.clone(),
    }
}

/// Adds the searches to `stored` that this process has made since. Searches are never removed from a history.
fn merged_history(
    known: &[HistoryEntry],
    stored: &[HistoryEntry],
    updated: &[HistoryEntry],
) -> Vec<HistoryEntry> {
    let mut merged = stored.to_vec();
    for entry in updated.iter().filter(|entry| !known.contains(entry)) {
        entry.clone().append_to(&mut merged);
    }
    merged
}

fn merged_tags(known: &KeptTags, stored: &KeptTags, updated: &KeptTags) -> KeptTags {
    let stored_only = stored.keys().filter(|name| !updated.contains_key(*name));
    let names = updated.keys().chain(stored_only);
    let nothing = Selection::default();
    let merge = |name| match (known.get(name), stored.get(name), updated.get(name)) {
        (known, Some(stored), Some(updated)) => {
            Some(merged_selection(known.unwrap_or(&nothing), stored, updated))
        }
        // A tag that both knew was removed by the one that does not have it.
        (Some(known), stored, updated) => stored.or(updated).filter(|it| *it != known).cloned(),
        (None, stored, updated) => stored.or(updated).cloned(),
    };
    names.filter_map(|name| Some((name.clone(), merge(name)?))).collect()
}

fn merged_selection(known: &Selection, stored: &Selection, updated: &Selection) -> Selection {
    let entries = |selection: &Selection| -> Vec<SelectionEntry> {
        selection.ordered_entries().into_iter().cloned().collect()
    };
    let (known, stored, updated) = (entries(known), entries(stored), entries(updated));
    merged_list(&known, &stored, &updated, SelectionEntry::id).into_iter().collect()
}

/// Merges lists whose items have a key, in the order of `stored`. New items come last.
fn merged_list<T: Clone + PartialEq, K: Ord>(
    known: &[T],
    stored: &[T],
    updated: &[T],
    key: impl Fn(&T) -> K,
) -> Vec<T> {
    let by_key =
        |list| -> BTreeMap<K, &T> { Iterator::map(list, |item| (key(item), item)).collect() };
    let [known, stored_keys, updated_items] =
        [known, stored, updated].map(|list| by_key(list.iter()));
    let is_changed = |item: &T| known.get(&key(item)) != Some(&item);
    let current = |item: &T| match updated_items.get(&key(item)) {
        Some(updated) if is_changed(updated) => Some(T::clone(updated)),
        Some(_) => Some(item.clone()),
        // An item that another window has added or changed meanwhile stays.
        None => Some(item.clone()).filter(&is_changed),
    };
    let is_added = |item: &&T| !stored_keys.contains_key(&key(item)) && is_changed(item);
    stored.iter().filter_map(current).chain(updated.iter().filter(is_added).cloned()).collect()
}

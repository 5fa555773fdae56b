//! Tags of datasets whose service has no requests that change tags. They are kept on this machine: each tag of a
//! dataset is a selection, which commands and the basket load by the name `tag:NAME`. Ratings are not kept, because a
//! selection cannot represent them.

use std::collections::BTreeMap;

use tessera_model::{
    Basket, ClusterPart, KeptTags, MediaId, Selection, StateKey, StateValue, TagDefinitionChange,
    tag::{PICKED, REJECTED, opposite},
    text::count_with_noun,
};

use crate::app::prelude::*;
use crate::app::{bounded_list::push_bounded, service_data::LoadedState};

/// The number of changes of tags that can be undone. The local service keeps the same number of changes for each
/// dataset.
pub(in crate::app) const MAX_UNDO: usize = 50;

#[derive(Debug, Default)]
pub struct KeptTagsState {
    by_dataset: BTreeMap<DatasetId, Remote<KeptTags>>,
    /// The tags before each change, the latest last.
    before: Vec<(DatasetId, KeptTags)>,
}

impl KeptTagsState {
    pub fn remote(&self, dataset: DatasetId) -> Option<&Remote<KeptTags>> {
        self.by_dataset.get(&dataset)
    }

    pub fn get(&self, dataset: DatasetId) -> Option<&KeptTags> {
        self.remote(dataset)?.value()
    }

    pub fn can_undo(&self, dataset: DatasetId) -> bool {
        self.before.iter().any(|(changed, _)| *changed == dataset)
    }

    /// Returns the name of the tag with this key, in the order of their creation.
    pub fn name_of_key(&self, dataset: DatasetId, key: usize) -> Option<&SafeText> {
        let mut names = self.get(dataset)?.keys();
        names.by_ref().filter(|name| ![PICKED, REJECTED].contains(&name.as_str())).nth(key)
    }

    /// Returns the tags of a part of a cluster, or of a media item in it.
    pub fn names_of(
        &self,
        dataset: DatasetId,
        part: ClusterPart,
        media: Option<MediaId>,
    ) -> impl Iterator<Item = &SafeText> {
        let has_tag = move |selection: &Selection| match media {
            Some(media) => selection.includes_item(media, Some(&part)),
            None => selection.cluster(&part).is_some(),
        };
        let tags = self.get(dataset).into_iter().flatten();
        tags.filter(move |(_, selection)| has_tag(selection)).map(|(name, _)| name)
    }

    pub(in crate::app) fn loaded(&mut self, dataset: DatasetId, result: LoadedState, now: Uptime) {
        let tags = result.map(|value| match value {
            Some(StateValue::KeptTags(_, tags)) => tags,
            // No other state is stored under this key.
            _ => KeptTags::default(),
        });
        self.by_dataset.entry(dataset).or_default().finish(now, tags);
    }

    /// Marks the tagged clusters as stale after the dataset was reindexed.
    pub(in crate::app) fn flag_stale(&mut self, dataset: DatasetId, outbox: &mut Outbox) {
        let before = self.before.iter_mut().filter(|(changed, _)| *changed == dataset);
        before.flat_map(|(_, tags)| tags.values_mut()).for_each(Selection::mark_stale);
        let Some(mut tags) = self.get(dataset).filter(|tags| !tags.is_empty()).cloned() else {
            return;
        };
        tags.values_mut().for_each(Selection::mark_stale);
        self.replace(dataset, tags, outbox);
    }

    pub(in crate::app) fn retry(&mut self, dataset: DatasetId) {
        if let Some(tags) = self.by_dataset.get_mut(&dataset).filter(|it| it.value().is_none()) {
            tags.invalidate();
        }
    }

    /// Replaces the tags of a dataset, and saves them.
    fn replace(&mut self, dataset: DatasetId, tags: KeptTags, outbox: &mut Outbox) {
        outbox.save(StateValue::KeptTags(dataset, tags.clone()));
        self.by_dataset.entry(dataset).or_default().replace(tags);
    }

    fn change(&mut self, dataset: DatasetId, tags: KeptTags, outbox: &mut Outbox) {
        if let Some(before) = self.get(dataset).cloned() {
            push_bounded(&mut self.before, (dataset, before), MAX_UNDO);
        }
        self.replace(dataset, tags, outbox);
    }
}

/// Whether the tags of this deployment are kept on this machine.
pub(in crate::app) fn are_kept(app: &App) -> bool {
    !app.has_local_service()
}

pub(in crate::app) fn state_to_load(app: &App) -> Option<StateKey> {
    let is_needed = are_kept(app) && !app.awaits_kind_of_service();
    let dataset = app.results.view().filter(|_| is_needed)?.search.dataset;
    let known = app.tagging.kept.remote(dataset);
    known.is_none_or(|tags| tags.due(None).is_some()).then_some(StateKey::KeptTags(dataset))
}

/// Adds a tag to the selection, or to what is under the cursor unless that has the tag already.
pub(in crate::app) fn tag(app: &mut App, name: Option<SafeText>) {
    let Some(dataset) = app.dataset().map(|dataset| dataset.id) else { return };
    let Some(mut tags) = app.tagging.kept.get(dataset).cloned() else { return };
    let Some(name) = name else {
        return app.outbox.notify(Level::Warning, "no tag has this key; + creates a tag");
    };
    let selected = app.baskets.selection(&app.results).filter(|it| !it.is_empty()).cloned();
    let under_cursor = app.under_cursor().map(|it| it.selection());
    let is_selection = selected.is_some();
    let Some(target) = selected.or(under_cursor) else { return };
    // On a selection, a key always adds.
    let tagged = tags.get(&name);
    let has = |entry| tagged.is_some_and(|selection| selection.includes(entry));
    let is_removed = !is_selection && target.ordered_entries().into_iter().all(has);
    give(&mut tags, &name, &target, !is_removed);
    app.tagging.kept.change(dataset, tags, &mut app.outbox);
    let entries = count_with_noun(target.len(), "entry", "entries");
    let text = if is_removed {
        format!("no longer {name}: {entries}")
    } else {
        format!("tagged {name}: {entries}; on this machine, as the selection tag:{name}")
    };
    app.outbox.notify(Level::Success, text);
}

/// Creates, renames or deletes a tag. Tags on this machine have no colors.
pub(in crate::app) fn define_tag(app: &mut App, name: &str, definition: &TagDefinitionChange) {
    let Some(dataset) = app.dataset().map(|dataset| dataset.id) else { return };
    let Some(mut tags) = app.tagging.kept.get(dataset).cloned() else { return };
    let name = SafeText::name(name);
    let text = match definition {
        TagDefinitionChange::Create(_) => {
            if tags.contains_key(&name) {
                return app.outbox.notify(Level::Warning, format!("the tag {name} already exists"));
            }
            tags.insert(name.clone(), Selection::default());
            format!("the tag {name} exists on this machine")
        }
        TagDefinitionChange::Rename(to) => {
            let Some((position, _, renamed)) = tags.shift_remove_full(&name) else { return };
            let to = SafeText::name(to);
            if !tags.contains_key(&to) {
                tags.shift_insert(position, to.clone(), Selection::default());
            }
            give(&mut tags, &to, &renamed, true);
            format!("renamed the tag {name} to {to}; u undoes this")
        }
        TagDefinitionChange::Delete => {
            tags.shift_remove(&name);
            format!("deleted the tag {name}; u undoes this")
        }
    };
    app.tagging.kept.change(dataset, tags, &mut app.outbox);
    app.outbox.notify(Level::Success, text);
}

pub(in crate::app) fn undo(app: &mut App) {
    let Some(dataset) = app.dataset().map(|dataset| dataset.id) else { return };
    let changes = &mut app.tagging.kept.before;
    let Some(last) = changes.iter().rposition(|(changed, _)| *changed == dataset) else { return };
    let (_, before) = changes.remove(last);
    app.tagging.kept.replace(dataset, before, &mut app.outbox);
    app.outbox.notify(Level::Success, "undone");
}

/// Adds a tag to a selection, which then loses the opposite tag, or removes the tag.
fn give(tags: &mut KeptTags, name: &SafeText, target: &Selection, adds: bool) {
    let opposite = opposite(name.as_str()).filter(|_| adds);
    if let Some(selection) = opposite.and_then(|other| tags.get_mut(&SafeText::name(other))) {
        *selection = changed(selection, target, false);
    }
    let selection = tags.entry(name.clone()).or_default();
    *selection = changed(selection, target, adds);
}

/// Returns a selection with the entries of another one, or without them.
fn changed(selection: &Selection, by: &Selection, adds: bool) -> Selection {
    let mut basket = Basket::new(selection.clone());
    for entry in by.ordered_entries() {
        if adds {
            basket.add(entry.clone());
        } else {
            basket.subtract(entry);
        }
    }
    basket.selection().clone()
}

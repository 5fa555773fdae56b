//! The basket of a dataset: a [`Selection`] with undo and redo.
//!
//! Selecting a cluster absorbs its members that were selected one by one. Toggling a member of a selected cluster
//! excludes or includes the member, so that no item is ever selected twice.

use std::collections::BTreeSet;

use crate::{
    Cluster, ClusterId, ClusterPart, EntryContent, EntryId, MediaId, Preview, Query, SafeText,
    Search, SelectedCluster, Selection, SelectionEntry, selection::PositionedEntry,
};

const MAX_UNDO_STEPS: usize = 200;

/// The new content of each entry. Applying an edit yields the edit that undoes it.
type SelectionEdit = Vec<(EntryId, Option<PositionedEntry>)>;

type EditPlan = Vec<(EntryId, Option<SelectionEntry>)>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Basket {
    selection: Selection,
    undo_stack: Vec<SelectionEdit>,
    redo_stack: Vec<SelectionEdit>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SelectionChange {
    pub added: usize,
    pub removed: usize,
    /// Individually selected items that became part of a newly selected cluster.
    pub absorbed: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToggleOutcome {
    Selected,
    Deselected,
    Excluded,
    Included,
}

pub fn cluster_entry(cluster: &Cluster, search: &Search) -> SelectionEntry {
    let first = cluster.previews.first();
    SelectionEntry {
        name: first.map_or_else(|| SafeText::name(&cluster.id.short()), Preview::title),
        entity: cluster.entity,
        granularity: search.granularity,
        content: EntryContent::Cluster(SelectedCluster {
            id: cluster.id,
            filters: search.filters.clone(),
            member_count: cluster.size(),
            count_is_minimum: matches!(search.query, Query::Caption { .. }),
            previewed: cluster.previews.iter().map(|preview| preview.media).collect(),
            excluded: [].into(),
            stale: false,
        }),
    }
}

pub fn media_item_entry(preview: &Preview, cluster: &Cluster, search: &Search) -> SelectionEntry {
    SelectionEntry {
        name: preview.title(),
        entity: cluster.entity,
        granularity: search.granularity,
        content: EntryContent::MediaItem(
            preview.media,
            Some(ClusterPart::new(cluster.id, &search.filters)),
        ),
    }
}

impl Basket {
    pub fn new(selection: Selection) -> Self {
        Self { selection, ..Self::default() }
    }

    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Selects clusters that are not selected yet. Their members that were selected one by one are absorbed.
    pub fn select(
        &mut self,
        clusters: impl IntoIterator<Item = SelectionEntry>,
    ) -> SelectionChange {
        let (plan, change) = self.plan(clusters, false);
        self.apply_plan(plan);
        change
    }

    /// Like [`Basket::select`], but merged into the last undo step.
    pub fn select_in_last_step(
        &mut self,
        clusters: impl IntoIterator<Item = SelectionEntry>,
    ) -> SelectionChange {
        let (plan, change) = self.plan(clusters, false);
        self.apply_in_last_step(plan);
        change
    }

    /// Selects the media items of these clusters that are not selected, instead of those that are. If some members of a
    /// cluster are selected, the cluster is selected without these members. If a cluster is selected with exclusions,
    /// only the excluded members are selected. Returns the number of clusters that another search has selected with
    /// other filters. Such clusters stay as they are, because only the service knows their members. The entries that
    /// these clusters contain are removed from `unplaced`. The change is merged into the last undo step unless it
    /// begins one.
    pub fn select_rest(
        &mut self,
        clusters: &[Cluster],
        search: &Search,
        unplaced: &mut BTreeSet<EntryId>,
        begins_step: bool,
    ) -> usize {
        let mut plan = EditPlan::new();
        let mut unchanged = 0;
        for cluster in clusters {
            let mut parts = self.selection.parts_of(cluster.id).peekable();
            if parts.peek().is_none() {
                plan.extend(self.rest_of_cluster(cluster_entry(cluster, search)));
            }
            let mut is_unchanged = false;
            for selected in parts {
                unplaced.remove(&selected.id());
                match selected.cluster() {
                    Some(part) if part.filters == search.filters => {
                        plan.push((selected.id(), None));
                        plan.extend(excluded_items(part, cluster, search));
                    }
                    _ => is_unchanged = true,
                }
            }
            unchanged += usize::from(is_unchanged);
        }
        for (id, _) in &plan {
            unplaced.remove(id);
        }
        if begins_step {
            self.apply_plan(plan);
        } else {
            self.apply_in_last_step(plan);
        }
        unchanged
    }

    /// Plans the selection of a cluster without its members that were selected one by one.
    fn rest_of_cluster(&self, mut entry: SelectionEntry) -> EditPlan {
        let items = entry.cluster().map_or(Vec::new(), |it| self.selection.entries_within(it));
        let mut plan: EditPlan = items.iter().map(|id| (id.clone(), None)).collect();
        let EntryContent::Cluster(cluster) = &mut entry.content else { return plan };
        cluster.excluded = items.iter().filter_map(EntryId::media_item).collect();
        if cluster.member_count != Some(cluster.excluded.len() as u64) {
            plan.push((entry.id(), Some(entry)));
        }
        plan
    }

    fn apply_in_last_step(&mut self, plan: EditPlan) {
        let mut undo = self.apply_edit(self.with_positions(plan));
        if let Some(last) = self.undo_stack.last_mut() {
            undo.append(last);
            *last = undo;
        } else if !undo.is_empty() {
            self.undo_stack.push(undo);
        }
        self.redo_stack.clear();
    }

    /// Selects the clusters that are not selected, and deselects the others.
    pub fn toggle(
        &mut self,
        clusters: impl IntoIterator<Item = SelectionEntry>,
    ) -> SelectionChange {
        let (plan, change) = self.plan(clusters, true);
        self.apply_plan(plan);
        change
    }

    /// Plans the edits that select these clusters. If `toggled`, clusters that are selected already are deselected.
    fn plan(
        &self,
        clusters: impl IntoIterator<Item = SelectionEntry>,
        toggled: bool,
    ) -> (EditPlan, SelectionChange) {
        let mut plan = EditPlan::new();
        let mut change = SelectionChange::default();
        for entry in clusters {
            let selected = match entry.cluster() {
                Some(it) => {
                    self.selection.cluster(&it.part()).map(|it| EntryId::Cluster(it.part()))
                }
                None => self.selection.get(&entry.id()).map(SelectionEntry::id),
            };
            match (selected, toggled) {
                (Some(_), false) => {}
                (Some(id), true) => {
                    change.removed += 1;
                    plan.push((id, None));
                }
                (None, _) => {
                    let cluster = entry.cluster();
                    let absorbed = cluster
                        .map_or(Vec::new(), |cluster| self.selection.entries_within(cluster));
                    change.absorbed += absorbed.iter().filter_map(EntryId::media_item).count();
                    change.added += 1;
                    plan.extend(absorbed.into_iter().map(|id| (id, None)));
                    plan.push((entry.id(), Some(entry)));
                }
            }
        }
        (plan, change)
    }

    /// Selects or deselects an item or a cluster. An item inside a selected cluster is excluded or included instead.
    pub fn toggle_media_item(&mut self, entry: SelectionEntry) -> ToggleOutcome {
        let EntryContent::MediaItem(item, within) = &entry.content else {
            let deselected = self.toggle([entry]).removed > 0;
            return if deselected { ToggleOutcome::Deselected } else { ToggleOutcome::Selected };
        };
        if let Some(cluster) = self.selection.cluster_containing(*item, within.as_ref()) {
            return self.toggle_member(cluster, *item, within.as_ref());
        }
        let id = entry.id();
        let selected = self.selection.get(&id).is_some();
        self.apply_plan(vec![(id, (!selected).then_some(entry))]);
        if selected { ToggleOutcome::Deselected } else { ToggleOutcome::Selected }
    }

    /// Selects an item, or a cluster except the items that `entry` excludes.
    pub fn add(&mut self, entry: SelectionEntry) {
        if self.selection.includes(&entry) {
            return;
        }
        let id = entry.id();
        let SelectionEntry { name, entity, granularity, content } = entry;
        let EntryContent::Cluster(mut cluster) = content else {
            self.toggle_media_item(SelectionEntry { name, entity, granularity, content });
            return;
        };
        let part = cluster.part();
        let within = self.selection.entries_within(&cluster).into_iter();
        let mut plan: EditPlan = within.map(|id| (id, None)).collect();
        cluster.excluded.retain(|item| !self.selection.includes_item(*item, Some(&part)));
        let content = EntryContent::Cluster(cluster);
        plan.push((id, Some(SelectionEntry { name, entity, granularity, content })));
        self.apply_plan(plan);
    }

    /// Deselects an item, or all items of a cluster except those that `entry` excludes. What other searches have
    /// selected of the cluster stays, except for the items that are known to be in `entry`.
    pub fn subtract(&mut self, entry: &SelectionEntry) {
        let EntryContent::Cluster(cluster) = &entry.content else {
            if self.selection.includes(entry) {
                self.toggle_media_item(entry.clone());
            }
            return;
        };
        let part = cluster.part();
        let is_left_out = |item: MediaId| cluster.excluded.contains(&item);
        let within = self.selection.entries_within(cluster).into_iter();
        let mut plan: EditPlan = within
            .filter(|id| !id.media_item().is_some_and(is_left_out))
            .map(|id| (id, None))
            .collect();
        for selected in self.selection.parts_of(cluster.id) {
            let mut wider = selected.clone();
            let is_narrower = selected.cluster().is_some_and(|it| cluster.covers(&it.part()));
            if let (false, EntryContent::Cluster(wider)) = (is_narrower, &mut wider.content) {
                let removed = cluster.previewed.iter().filter(|item| !is_left_out(**item));
                wider.excluded.extend(removed.copied());
            }
            plan.push((selected.id(), (!is_narrower).then_some(wider)));
        }
        // A wider part that stays contains the item anyway.
        let is_in_wider = |item: &MediaId| {
            let mut parts = self.selection.parts_of(cluster.id).filter_map(SelectionEntry::cluster);
            parts.any(|it| {
                !cluster.covers(&it.part()) && it.covers(&part) && !it.excluded.contains(item)
            })
        };
        let stays = |item: &&MediaId| {
            self.selection.includes_item(**item, Some(&part)) && !is_in_wider(item)
        };
        for item in cluster.excluded.iter().filter(stays) {
            let content = EntryContent::MediaItem(*item, Some(part.clone()));
            let SelectionEntry { entity, granularity, .. } = *entry;
            let name = SafeText::name(&item.short());
            let kept = SelectionEntry { name, entity, granularity, content };
            plan.push((kept.id(), Some(kept)));
        }
        self.apply_plan(plan);
    }

    /// Excludes an item from all selected parts of a cluster, because any of them may contain it, or includes it again.
    fn toggle_member(
        &mut self,
        cluster: ClusterId,
        item: MediaId,
        within: Option<&ClusterPart>,
    ) -> ToggleOutcome {
        let excluded = self.selection.includes_item(item, within);
        let mut plan: EditPlan = vec![(EntryId::MediaItem(item), None)];
        for entry in self.selection.parts_of(cluster) {
            let mut entry = entry.clone();
            let EntryContent::Cluster(part) = &mut entry.content else { continue };
            let is_member = within.is_some_and(|within| part.covers(within));
            if is_member && !part.previewed.contains(&item) {
                part.previewed.push(item);
            }
            if excluded {
                part.excluded.insert(item);
            } else {
                part.excluded.remove(&item);
            }
            plan.push((entry.id(), Some(entry)));
        }
        plan.retain(|(id, entry)| self.selection.get(id) != entry.as_ref());
        self.apply_plan(plan);
        if excluded { ToggleOutcome::Excluded } else { ToggleOutcome::Included }
    }

    pub fn remove(&mut self, entries: impl IntoIterator<Item = EntryId>) -> usize {
        let entries = entries.into_iter().filter(|id| self.selection.get(id).is_some());
        let plan: EditPlan = entries.map(|id| (id, None)).collect();
        let removed = plan.len();
        self.apply_plan(plan);
        removed
    }

    /// Replaces the whole selection, in one undo step.
    pub fn replace(&mut self, selection: &Selection) {
        let removed = self.selection.ordered_entries().into_iter().map(|entry| (entry.id(), None));
        // Every entry moves to its position in the new selection, even if the old selection has the entry too.
        let added = (0..).zip(selection.ordered_entries().into_iter().cloned());
        let added = added.map(|(position, entry)| (entry.id(), Some((position, entry))));
        self.apply_step(removed.chain(added).collect());
    }

    /// Returns `false` if there is nothing to undo.
    pub fn undo(&mut self) -> bool {
        let Some(edit) = self.undo_stack.pop() else { return false };
        let redo = self.apply_edit(edit);
        self.redo_stack.push(redo);
        true
    }

    pub fn redo(&mut self) -> bool {
        let Some(edit) = self.redo_stack.pop() else { return false };
        let undo = self.apply_edit(edit);
        self.undo_stack.push(undo);
        true
    }

    /// Merges the last steps into one, so that they are undone together.
    pub fn merge_last_steps(&mut self, count: usize) {
        let start = self.undo_stack.len().saturating_sub(count);
        let merged: SelectionEdit = self.undo_stack.drain(start..).rev().flatten().collect();
        if !merged.is_empty() {
            self.undo_stack.push(merged);
        }
    }

    pub fn can_undo(&self) -> bool {
        !self.undo_stack.is_empty()
    }

    pub fn can_redo(&self) -> bool {
        !self.redo_stack.is_empty()
    }

    /// Marks all clusters as stale, in the undo history as well. Returns the number of stale entries.
    pub fn mark_stale(&mut self) -> usize {
        self.selection.mark_stale();
        let edits = self.undo_stack.iter_mut().chain(&mut self.redo_stack).flatten();
        let entries = edits.filter_map(|(_, entry)| entry.as_mut());
        entries.for_each(|(_, entry)| entry.mark_stale());
        self.selection.totals().stale
    }

    /// Clears the stale flag of clusters that the service just returned. Returns how many of the clusters were stale.
    pub fn confirm_clusters(&mut self, clusters: &[Cluster]) -> usize {
        self.selection.confirm_clusters(clusters)
    }

    fn apply_plan(&mut self, plan: EditPlan) {
        self.apply_step(self.with_positions(plan));
    }

    fn apply_step(&mut self, edit: SelectionEdit) {
        if edit.is_empty() {
            return;
        }
        let undo = self.apply_edit(edit);
        self.undo_stack.push(undo);
        self.redo_stack.clear();
        if self.undo_stack.len() > MAX_UNDO_STEPS {
            self.undo_stack.remove(0);
        }
    }

    /// Keeps the position of existing entries and appends new ones.
    fn with_positions(&self, plan: EditPlan) -> SelectionEdit {
        let mut end = self.selection.next_position();
        let mut position = |id: &EntryId| {
            self.selection.position_of(id).unwrap_or_else(|| {
                end += 1;
                end - 1
            })
        };
        let place = |(id, entry): (EntryId, Option<SelectionEntry>)| {
            let placed = entry.map(|entry| (position(&id), entry));
            (id, placed)
        };
        plan.into_iter().map(place).collect()
    }

    fn apply_edit(&mut self, edit: SelectionEdit) -> SelectionEdit {
        let replace = |(id, entry): (EntryId, _)| {
            let before = self.selection.replace_entry(id.clone(), entry);
            (id, before)
        };
        let mut undo: SelectionEdit = edit.into_iter().map(replace).collect();
        undo.reverse();
        undo
    }
}

/// Plans the selection of the members that were excluded from a selected cluster.
fn excluded_items(selected: &SelectedCluster, cluster: &Cluster, search: &Search) -> EditPlan {
    let item = |id: &MediaId| {
        let preview = cluster.previews.iter().find(|preview| preview.media == *id);
        preview.map_or_else(
            || SelectionEntry {
                name: SafeText::name(&id.short()),
                content: EntryContent::MediaItem(*id, Some(selected.part())),
                ..cluster_entry(cluster, search)
            },
            |preview| media_item_entry(preview, cluster, search),
        )
    };
    selected.excluded.iter().map(item).map(|entry| (entry.id(), Some(entry))).collect()
}

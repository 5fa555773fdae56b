//! Keeps the basket, which is what the user has selected in a dataset, across pages and searches. A basket is loaded
//! when its dataset opens and saved after every change, so that it survives a crash.

pub(in crate::app) mod select;

pub use tessera_model::text::count_with_noun;

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::RangeInclusive,
    slice,
};

use tessera_model::{
    Basket, ClusterId, ClusterPart, EntryContent, EntryId, SelectedCluster, Selection,
    SelectionEntry, StateKey, StateValue,
};

use crate::app::prelude::*;
use crate::app::{Tile, pane::moved_cursor, service_data::LoadedState};

#[derive(Debug, Default)]
pub struct Baskets {
    by_dataset: BTreeMap<DatasetId, Remote<Basket>>,
    cursor: usize,
    pub pending: PendingSelection,
    /// The items that the planned action on files will remove from each dataset.
    pub(in crate::app) leaving: BTreeMap<DatasetId, Selection>,
}

impl Baskets {
    pub fn remote(&self, dataset: DatasetId) -> Option<&Remote<Basket>> {
        self.by_dataset.get(&dataset)
    }

    pub fn get(&self, dataset: DatasetId) -> Option<&Basket> {
        self.remote(dataset)?.value()
    }

    pub fn cursor(&self) -> usize {
        self.cursor
    }

    fn get_mut(&mut self, dataset: DatasetId) -> Option<&mut Basket> {
        self.by_dataset.get_mut(&dataset)?.value_mut()
    }

    pub(in crate::app) fn retry(&mut self, dataset: DatasetId) {
        if let Some(basket) = self.by_dataset.get_mut(&dataset).filter(|it| it.value().is_none()) {
            basket.invalidate();
        }
    }

    pub fn current(&self, results: &Results) -> Option<&Basket> {
        self.get(results.view()?.search.dataset)
    }

    pub fn selection(&self, results: &Results) -> Option<&Selection> {
        self.current(results).map(Basket::selection)
    }

    /// Changes the basket of the open dataset and saves it.
    pub(in crate::app) fn edit<T>(
        &mut self,
        change: impl FnOnce(&mut Basket) -> T,
        results: &Results,
        outbox: &mut Outbox,
    ) -> Option<T> {
        let dataset = results.view()?.search.dataset;
        self.edit_of(dataset, change, outbox)
    }

    pub(in crate::app) fn edit_of<T>(
        &mut self,
        dataset: DatasetId,
        change: impl FnOnce(&mut Basket) -> T,
        outbox: &mut Outbox,
    ) -> Option<T> {
        let outcome = change(self.get_mut(dataset)?);
        self.save(dataset, outbox);
        // A selection that was requested before would replace what the user has just changed.
        for lane in [Lane::Rest(dataset), Lane::SelectDiverse(dataset), Lane::LoadSelection] {
            if outbox.tickets.is_open(&lane) {
                outbox.cancel(lane);
                let text = "the selection was changed, so the requested one does not replace it";
                outbox.notify(Level::Warning, text);
            }
        }
        Some(outcome)
    }

    /// Replaces the selection of a dataset, and says what is selected instead.
    pub(in crate::app) fn replace(
        &mut self,
        dataset: DatasetId,
        selection: &Selection,
        text: &str,
        outbox: &mut Outbox,
    ) {
        if self.edit_of(dataset, |basket| basket.replace(selection), outbox).is_some() {
            return outbox.notify(Level::Success, text);
        }
        let text = "nothing was selected, because the selection is not loaded; r loads it";
        outbox.notify(Level::Warning, text);
    }

    fn save(&mut self, dataset: DatasetId, outbox: &mut Outbox) {
        let Some(basket) = self.get(dataset) else { return };
        outbox.save(StateValue::Basket(dataset, basket.selection().clone()));
    }

    pub(in crate::app) fn loaded(&mut self, dataset: DatasetId, result: LoadedState, now: Uptime) {
        let basket = result.map(|value| match value {
            Some(StateValue::Basket(_, selection)) => Basket::new(selection),
            // No other state is stored under this key.
            _ => Basket::default(),
        });
        self.by_dataset.entry(dataset).or_default().finish(now, basket);
    }

    pub(in crate::app) fn to_load(&self, results: &Results) -> Option<StateKey> {
        let dataset = results.view()?.search.dataset;
        let is_due = self.remote(dataset).is_none_or(|basket| basket.due(None).is_some());
        is_due.then_some(StateKey::Basket(dataset))
    }

    /// Marks the selected clusters as stale after the dataset was reindexed, or after the service
    /// could not find what is selected.
    pub(in crate::app) fn flag_stale(&mut self, dataset: DatasetId, outbox: &mut Outbox) {
        let stale = self.get_mut(dataset).map_or(0, Basket::mark_stale);
        if stale > 0 {
            let clusters = cluster_count(stale);
            let text = format!("{clusters} in the basket may no longer exist: 5 lists them");
            outbox.notify(Level::Warning, text);
            self.save(dataset, outbox);
        }
    }

    /// Confirms that the selected clusters on a loaded page still exist.
    pub(in crate::app) fn confirm_selected(
        &mut self,
        dataset: DatasetId,
        page: &Page,
        outbox: &mut Outbox,
    ) {
        let basket = self.get_mut(dataset);
        let confirmed = basket.map_or(0, |basket| basket.confirm_clusters(&page.clusters));
        if confirmed > 0 {
            let text =
                format!("{} in the basket rechecked: they still exist", cluster_count(confirmed));
            outbox.notify(Level::Success, text);
            self.save(dataset, outbox);
        }
    }

    pub fn rows(&self, results: &Results) -> Vec<&SelectionEntry> {
        self.selection(results).map_or_else(Vec::new, Selection::ordered_entries)
    }

    pub fn selected_entry(&self, results: &Results) -> Option<&SelectionEntry> {
        let rows = self.rows(results);
        rows.get(self.cursor.min(rows.len().saturating_sub(1))).copied()
    }

    pub(in crate::app) fn select_row(&mut self, index: usize, results: &Results) {
        self.cursor = index;
        self.move_cursor(0, results);
    }

    pub(in crate::app) fn move_cursor(&mut self, by: isize, results: &Results) {
        let count = self.selection(results).map_or(0, Selection::len);
        self.cursor = moved_cursor(self.cursor.min(count.saturating_sub(1)), by, count);
    }

    pub(in crate::app) fn remove_selected_entry(&mut self, results: &Results, outbox: &mut Outbox) {
        if let Some(id) = self.selected_entry(results).map(SelectionEntry::id) {
            self.edit(|basket| basket.remove([id]), results, outbox);
            self.move_cursor(0, results);
        }
    }

    pub(in crate::app) fn clear(&mut self, results: &Results, outbox: &mut Outbox) {
        let clear = |basket: &mut Basket| {
            let entries: Vec<EntryId> =
                basket.selection().ordered_entries().into_iter().map(SelectionEntry::id).collect();
            basket.remove(entries)
        };
        let cleared = self.edit(clear, results, outbox).unwrap_or(0);
        self.cursor = 0;
        let text =
            format!("{} removed; u restores them", count_with_noun(cleared, "entry", "entries"));
        outbox.notify(Level::Success, text);
    }
}

/// A selection that takes more than one key or mouse event.
#[derive(Debug, Default)]
pub struct PendingSelection {
    /// The cluster at which a range starts, while a range is being selected.
    pub range: Option<ClusterId>,
    pub all_pages: Option<SelectAllPages>,
    pub drag: Option<TileDrag>,
}

/// A press of the mouse button on a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileDrag {
    pub start: usize,
    /// Whether the mouse has been moved over another tile since.
    pub moved: bool,
}

pub(in crate::app) fn cluster_count(count: usize) -> String {
    count_with_noun(count, "cluster", "clusters")
}

impl Results {
    /// Returns the members of a cluster on screen that the search has found.
    pub fn part_of(&self, cluster: &Cluster) -> ClusterPart {
        ClusterPart::new(cluster.id, self.view().map_or(&[], |view| view.filters_of(cluster.id)))
    }

    pub fn tile_of_entry(&self, entry: &SelectionEntry) -> Option<usize> {
        let tile = self.page()?.clusters.iter().position(|cluster| match &entry.content {
            EntryContent::Cluster(selected) => cluster.id == selected.id,
            EntryContent::MediaItem(id, _) => cluster.previews.iter().any(|it| it.media == *id),
        })?;
        self.visible_clusters().iter().position(|visible| visible.contains(tile))
    }

    /// Returns the clusters of the tiles at these positions, including folded clusters.
    pub fn clusters_of_tiles(&self, tiles: RangeInclusive<usize>) -> Vec<&Cluster> {
        let Some(page) = self.page() else { return Vec::new() };
        let visible = self.visible_clusters().into_iter().enumerate();
        let visible = visible.filter(|(tile, _)| tiles.contains(tile)).map(|(_, visible)| visible);
        let indexes = visible.flat_map(|visible| [vec![visible.index], visible.folded].concat());
        indexes.map(|index| &page.clusters[index]).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectionState {
    Unselected,
    /// This many items of the cluster are selected individually, or by another search.
    Items(usize),
    Whole,
    /// The cluster is selected without this many excluded items.
    Partial(usize),
    /// The cluster is selected, but was selected before the dataset was reindexed.
    Stale,
}

impl SelectionState {
    /// Returns the state of a selected cluster that is shown with this many excluded items.
    pub(in crate::app) fn of_cluster(cluster: &SelectedCluster, excluded: usize) -> Self {
        match excluded {
            _ if cluster.stale => Self::Stale,
            0 => Self::Whole,
            excluded => Self::Partial(excluded),
        }
    }
}

impl Baskets {
    /// Returns the state of the cluster that a tile shows, or of the member if the tile shows one.
    pub fn tile_selection_state(&self, tile: &Tile, results: &Results) -> SelectionState {
        self.selection_state(
            tile.cluster,
            tile.preview.filter(|_| results.shows_members()),
            results,
        )
    }

    /// Returns the state of a cluster, or of one of its members.
    pub fn selection_state(
        &self,
        cluster: &Cluster,
        member: Option<&Preview>,
        results: &Results,
    ) -> SelectionState {
        let Some(selection) = self.selection(results) else { return SelectionState::Unselected };
        let part = results.part_of(cluster);
        let Some(selected) = selection.cluster(&part) else {
            let previews = member.map_or(cluster.previews.as_slice(), slice::from_ref);
            let is_selected = |it: &&Preview| selection.includes_member(it.media, &part);
            return match previews.iter().filter(is_selected).count() {
                0 => SelectionState::Unselected,
                items => SelectionState::Items(items),
            };
        };
        let excluded = match member {
            None => selected.excluded.len(),
            Some(member) => usize::from(selected.excluded.contains(&member.media)),
        };
        SelectionState::of_cluster(selected, excluded)
    }

    pub fn selected_entries(&self, results: &Results) -> SelectedEntries {
        let Some(selection) = self.selection(results) else { return SelectedEntries::default() };
        let count = |cluster: &Cluster| match self.selection_state(cluster, None, results) {
            SelectionState::Unselected => 0,
            SelectionState::Items(items) => items,
            SelectionState::Whole | SelectionState::Partial(_) | SelectionState::Stale => 1,
        };
        let on_page = results.clusters_of_tiles(0..=usize::MAX).into_iter().map(count).sum();
        SelectedEntries { on_page, hidden: selection.len().saturating_sub(on_page) }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectAllPages {
    pub next_page: Search,
    pub pages_done: usize,
    /// Whether the selection is inverted: what the search finds and is not selected replaces the selection.
    pub rest: bool,
    /// The number of clusters whose selection has changed.
    pub clusters_changed: usize,
    /// The number of clusters that stay as another search has selected them, while the rest is selected.
    pub unchanged: usize,
    /// The entries of the previous selection that no page has shown so far, while the rest is selected.
    pub unplaced: BTreeSet<EntryId>,
    /// The number of these entries, which are deselected at the last page.
    pub deselected: usize,
    /// Whether the selection waits for the user's confirmation.
    pub paused: bool,
}

/// How many selected entries are on the page, and how many are not visible in this search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SelectedEntries {
    pub on_page: usize,
    pub hidden: usize,
}

//! The basket: what is selected across pages and searches, per dataset. It is loaded when the
//! dataset opens and saved after every change, so that it survives a crash.

mod entries;
mod select_all_pages;
mod select_items;

pub use select_all_pages::SelectAllPages;

use std::{collections::BTreeMap, ops::RangeInclusive};

use crate::{
    app::{App, Level, Remote, Tile},
    message::{Lane, Request},
};
pub use tessera_model::text::count_with_noun;
use tessera_model::{
    Basket, Cluster, ClusterId, DatasetId, EntryId, Failure, Page, Preview, Selection, StateKey,
    StateValue,
};

#[derive(Debug, Default)]
pub struct Baskets {
    by_dataset: BTreeMap<DatasetId, Remote<Basket>>,
    cursor: usize,
    pub pending: PendingSelection,
}

impl Baskets {
    /// The basket of a dataset as loaded from the state of the program.
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

    fn needs_load(&self, dataset: DatasetId) -> bool {
        self.remote(dataset).is_none_or(|basket| basket.due(None).is_some())
    }
}

/// A selection that takes more than one key.
#[derive(Debug, Default)]
pub struct PendingSelection {
    /// Where a range starts, while one is being selected.
    pub range: Option<ClusterId>,
    /// Selecting all pages, one after the other.
    pub all_pages: Option<SelectAllPages>,
}

/// How much of a cluster is in the basket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectionState {
    Unselected,
    /// This many of its items are selected individually.
    Items(usize),
    Whole,
    /// The cluster is selected, without this many excluded items.
    Partial(usize),
    /// The cluster is selected, but from before the dataset was reindexed.
    Stale,
}

impl App {
    pub fn basket(&self) -> Option<&Basket> {
        self.baskets.get(self.view()?.search.dataset)
    }

    pub fn selection(&self) -> Option<&Selection> {
        self.basket().map(Basket::selection)
    }

    pub fn cluster_selection_state(&self, cluster: &Cluster) -> SelectionState {
        let Some(selection) = self.selection() else { return SelectionState::Unselected };
        match selection.cluster(cluster.id) {
            Some(selected) if selected.stale => SelectionState::Stale,
            Some(selected) if selected.excluded.is_empty() => SelectionState::Whole,
            Some(selected) => SelectionState::Partial(selected.excluded.len()),
            None => {
                let is_selected =
                    |it: &&Preview| selection.get(EntryId::MediaItem(it.media)).is_some();
                match cluster.previews.iter().filter(is_selected).count() {
                    0 => SelectionState::Unselected,
                    items => SelectionState::Items(items),
                }
            }
        }
    }

    /// The clusters behind the tiles at these positions, folded ones included.
    pub fn clusters_of_tiles(&self, tiles: RangeInclusive<usize>) -> Vec<&Cluster> {
        let Some(page) = self.page() else { return Vec::new() };
        let visible = self.visible_clusters().into_iter().enumerate();
        let visible = visible.filter(|(tile, _)| tiles.contains(tile)).map(|(_, visible)| visible);
        let indexes = visible.flat_map(|visible| [vec![visible.index], visible.folded].concat());
        indexes.map(|index| &page.clusters[index]).collect()
    }

    /// The state of its cluster, or of the member that it shows.
    pub fn tile_selection_state(&self, tile: &Tile) -> SelectionState {
        let state = self.cluster_selection_state(tile.cluster);
        let (true, Some(member)) = (self.shows_members(), tile.preview) else { return state };
        let selection = self.selection();
        let selected = selection.and_then(|selection| selection.cluster(tile.cluster.id));
        let item = EntryId::MediaItem(member.media);
        match state {
            SelectionState::Unselected | SelectionState::Items(_) => {
                match selection.and_then(|selection| selection.get(item)) {
                    Some(_) => SelectionState::Items(1),
                    None => SelectionState::Unselected,
                }
            }
            SelectionState::Partial(_) => {
                let excluded =
                    selected.is_some_and(|selected| selected.excluded.contains(&member.media));
                if excluded { SelectionState::Partial(1) } else { SelectionState::Whole }
            }
            SelectionState::Whole | SelectionState::Stale => state,
        }
    }

    /// How many entries are on the page, and how many this search hides.
    pub fn visible_and_hidden_selected(&self) -> (usize, usize) {
        let Some(selection) = self.selection() else { return (0, 0) };
        let count = |cluster: &Cluster| match self.cluster_selection_state(cluster) {
            SelectionState::Unselected => 0,
            SelectionState::Items(items) => items,
            SelectionState::Whole | SelectionState::Partial(_) | SelectionState::Stale => 1,
        };
        let on_page = self.clusters_of_tiles(0..=usize::MAX).into_iter().map(count).sum();
        (on_page, selection.len().saturating_sub(on_page))
    }

    /// Changes the basket of the open dataset and saves it.
    pub(in crate::app) fn edit_basket<T>(
        &mut self,
        change: impl FnOnce(&mut Basket) -> T,
    ) -> Option<T> {
        let dataset = self.view()?.search.dataset;
        self.edit_basket_of(dataset, change)
    }

    pub(in crate::app) fn edit_basket_of<T>(
        &mut self,
        dataset: DatasetId,
        change: impl FnOnce(&mut Basket) -> T,
    ) -> Option<T> {
        let outcome = change(self.baskets.get_mut(dataset)?);
        self.save_basket(dataset);
        Some(outcome)
    }

    fn save_basket(&mut self, dataset: DatasetId) {
        let Some(basket) = self.baskets.get(dataset) else { return };
        let entry = StateValue::Basket(dataset, basket.selection().clone());
        self.send(Lane::SaveState(entry.key()), Request::SaveState(entry));
    }

    /// The saved basket was loaded, or could not be.
    pub(in crate::app) fn basket_loaded(
        &mut self,
        dataset: DatasetId,
        result: Result<Option<StateValue>, Failure>,
    ) {
        let basket = result.map(|value| match value {
            Some(StateValue::Basket(_, selection)) => Basket::new(selection),
            // Other state is not stored under this key.
            _ => Basket::default(),
        });
        self.baskets.by_dataset.entry(dataset).or_default().finish(self.now, basket);
    }

    /// The basket to load: that of the open dataset, once.
    pub(in crate::app) fn basket_to_load(&self) -> Option<StateKey> {
        let dataset = self.view()?.search.dataset;
        self.baskets.needs_load(dataset).then_some(StateKey::Basket(dataset))
    }

    /// The dataset was reindexed, or the service does not find what is selected.
    pub(in crate::app) fn flag_basket_stale(&mut self, dataset: DatasetId) {
        let stale = self.baskets.get_mut(dataset).map_or(0, Basket::mark_stale);
        if stale > 0 {
            let text =
                format!("{} in the basket may no longer exist: 5 lists them", cluster_count(stale));
            self.notify(Level::Warning, text);
            self.save_basket(dataset);
        }
    }

    /// Confirms that the selected clusters on a loaded page still exist.
    pub(in crate::app) fn confirm_selected(&mut self, dataset: DatasetId, page: &Page) {
        let basket = self.baskets.get_mut(dataset);
        let confirmed = basket.map_or(0, |basket| basket.confirm_clusters(&page.clusters));
        if confirmed > 0 {
            let text =
                format!("{} in the basket rechecked: they still exist", cluster_count(confirmed));
            self.notify(Level::Success, text);
            self.save_basket(dataset);
        }
    }
}

pub(in crate::app) fn cluster_count(count: usize) -> String {
    count_with_noun(count, "cluster", "clusters")
}

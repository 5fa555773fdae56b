//! How much of a cluster or a tile is selected.

use std::{ops::RangeInclusive, slice};

use crate::app::{App, Tile};
use tessera_model::{Cluster, EntryId, Preview};

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

impl Baskets {
    /// The state of its cluster, or of the member that it shows.
    pub fn tile_selection_state(&self, tile: &Tile, results: &Results) -> SelectionState {
        self.selection_state(tile.cluster, tile.preview.filter(|_| results.shows_members()), results)
    }

    /// The state of a cluster, or of one of its members.
    pub fn selection_state(&self, cluster: &Cluster, member: Option<&Preview>, results: &Results) -> SelectionState {
        let Some(selection) = self.selection(results) else { return SelectionState::Unselected };
        let Some(selected) = selection.cluster(cluster.id) else {
            let previews = member.map_or(cluster.previews.as_slice(), slice::from_ref);
            let is_selected = |it: &&Preview| selection.get(EntryId::MediaItem(it.media)).is_some();
            return match previews.iter().filter(is_selected).count() {
                0 => SelectionState::Unselected,
                items => SelectionState::Items(items),
            };
        };
        let excluded = match member {
            None => selected.excluded.len(),
            Some(member) => usize::from(selected.excluded.contains(&member.media)),
        };
        match excluded {
            _ if selected.stale => SelectionState::Stale,
            0 => SelectionState::Whole,
            excluded => SelectionState::Partial(excluded),
        }
    }

    /// How many entries are on the page, and how many this search hides.
    pub fn visible_and_hidden_selected(&self, results: &Results) -> (usize, usize) {
        let Some(selection) = self.selection(results) else { return (0, 0) };
        let count = |cluster: &Cluster| match self.selection_state(cluster, None, results) {
            SelectionState::Unselected => 0,
            SelectionState::Items(items) => items,
            SelectionState::Whole | SelectionState::Partial(_) | SelectionState::Stale => 1,
        };
        let on_page = results.clusters_of_tiles(0..=usize::MAX).into_iter().map(count).sum();
        (on_page, selection.len().saturating_sub(on_page))
    }
}

impl Results {
    /// The clusters behind the tiles at these positions, folded ones included.
    pub fn clusters_of_tiles(&self, tiles: RangeInclusive<usize>) -> Vec<&Cluster> {
        let Some(page) = self.page() else { return Vec::new() };
        let visible = self.visible_clusters().into_iter().enumerate();
        let visible = visible.filter(|(tile, _)| tiles.contains(tile)).map(|(_, visible)| visible);
        let indexes = visible.flat_map(|visible| [vec![visible.index], visible.folded].concat());
        indexes.map(|index| &page.clusters[index]).collect()
    }
}

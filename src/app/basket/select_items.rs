//! Selecting with keys: an item, a range, a page; excluding members; undo.

use std::ops::RangeInclusive;

use crate::app::{
    App, Level, Pane,
    basket::{cluster_count, count_with_noun},
};
use tessera_model::{
    Basket, SelectionChange, SelectionEntry, ToggleOutcome,
    basket::{cluster_entry, media_item_entry},
};

type BasketChange = fn(&mut Basket, Vec<SelectionEntry>) -> SelectionChange;

impl App {
    /// Toggles what is under the cursor: a cluster, or in the detail an item.
    pub(in crate::app) fn toggle_selected(&mut self) {
        if self.panes.focus == Pane::Detail || self.shows_members() {
            self.toggle_preview_selected();
        } else if self.baskets.pending.range.is_some() {
            self.select_range();
        } else {
            let cursor = self.view().map_or(0, |view| view.cursor);
            let change = self.change_tiles(cursor..=cursor, Basket::invert);
            match change {
                Some(SelectionChange { added: 0 | 1, removed: 0 | 1, absorbed: 0 }) => {}
                _ => self.notify_selection_change(change),
            }
        }
    }

    /// Toggles the preview; inside a selected cluster, excludes or includes it.
    pub(in crate::app) fn toggle_preview_selected(&mut self) {
        let (Some(view), Some(cluster), Some(preview)) =
            (self.view(), self.cluster(), self.preview())
        else {
            return;
        };
        let entry = media_item_entry(preview, cluster, &view.search);
        let name = preview.file_name.clone();
        let outcome = self.edit_basket(|basket| basket.toggle_media_item(entry));
        let text = match outcome {
            Some(ToggleOutcome::Excluded) => {
                format!("{name} is excluded from its selected cluster")
            }
            Some(ToggleOutcome::Included) => format!("{name} is included in its cluster again"),
            Some(ToggleOutcome::Selected | ToggleOutcome::Deselected) | None => return,
        };
        self.outbox.notify(Level::Success, text);
    }

    /// Starts a range at the cursor; the second time selects it.
    pub(in crate::app) fn select_range(&mut self) {
        let Some(range) = self.selected_tile_range() else {
            self.baskets.pending.range = self.cluster().map(|cluster| cluster.id);
            return;
        };
        self.baskets.pending.range = None;
        let change = self.change_tiles(range, Basket::select);
        self.notify_selection_change(change);
    }

    pub fn selected_tile_range(&self) -> Option<RangeInclusive<usize>> {
        let from = self.baskets.pending.range?;
        let page = self.page()?;
        let from = page.clusters.iter().position(|cluster| cluster.id == from)?;
        let from = self.visible_clusters().iter().position(|visible| visible.contains(from))?;
        let to = self.view()?.cursor;
        Some(from.min(to)..=from.max(to))
    }

    /// Changes the basket by the clusters of the page that the filter shows.
    pub(in crate::app) fn change_page(&mut self, change: BasketChange) {
        let change = self.change_tiles(0..=usize::MAX, change);
        self.notify_selection_change(change);
    }

    fn change_tiles(
        &mut self,
        tiles: RangeInclusive<usize>,
        change: BasketChange,
    ) -> Option<SelectionChange> {
        let search = &self.view()?.search;
        let clusters = self.clusters_of_tiles(tiles).into_iter();
        let entries = clusters.map(|cluster| cluster_entry(cluster, search)).collect();
        self.edit_basket(|basket| change(basket, entries))
    }

    fn notify_selection_change(&mut self, change: Option<SelectionChange>) {
        let Some(SelectionChange { added, removed, absorbed }) = change else { return };
        let mut text = match (added, removed) {
            (0, 0) => "already selected".to_owned(),
            (added, 0) => format!("{} selected", cluster_count(added)),
            (0, removed) => format!("{} deselected", cluster_count(removed)),
            (added, removed) => format!("{} selected, {removed} deselected", cluster_count(added)),
        };
        if absorbed > 0 {
            text += ", replacing ";
            text += &count_with_noun(absorbed, "selected item", "selected items");
        }
        self.outbox.notify(Level::Success, text + "; u undoes it");
    }
}

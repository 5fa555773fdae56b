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

impl Baskets {
    /// Toggles what is under the cursor: a cluster, or in the detail an item.
    pub(in crate::app) fn toggle_selected(&mut self, focus: Pane, results: &Results, outbox: &mut Outbox) {
        if focus == Pane::Detail || results.shows_members() {
            self.toggle_preview_selected(results, outbox);
        } else if self.pending.range.is_some() {
            self.select_range(results, outbox);
        } else {
            let cursor = results.view().map_or(0, |view| view.cursor);
            let change = self.change_tiles(cursor..=cursor, Basket::invert, results, outbox);
            match change {
                Some(SelectionChange { added: 0 | 1, removed: 0 | 1, absorbed: 0 }) => {}
                _ => outbox.notify_selection_change(change),
            }
        }
    }

    /// Toggles the preview; inside a selected cluster, excludes or includes it.
    pub(in crate::app) fn toggle_preview_selected(&mut self, results: &Results, outbox: &mut Outbox) {
        let (Some(view), Some(cluster), Some(preview)) =
            (results.view(), results.cluster(), results.preview())
        else {
            return;
        };
        let entry = media_item_entry(preview, cluster, &view.search);
        let name = preview.file_name.clone();
        let outcome = self.edit(|basket| basket.toggle_media_item(entry), results, outbox);
        let text = match outcome {
            Some(ToggleOutcome::Excluded) => {
                format!("{name} is excluded from its selected cluster")
            }
            Some(ToggleOutcome::Included) => format!("{name} is included in its cluster again"),
            Some(ToggleOutcome::Selected | ToggleOutcome::Deselected) | None => return,
        };
        outbox.notify(Level::Success, text);
    }

    /// Starts a range at the cursor; the second time selects it.
    pub(in crate::app) fn select_range(&mut self, results: &Results, outbox: &mut Outbox) {
        let Some(range) = self.selected_tile_range(results) else {
            self.pending.range = results.cluster().map(|cluster| cluster.id);
            return;
        };
        self.pending.range = None;
        let change = self.change_tiles(range, Basket::select, results, outbox);
        outbox.notify_selection_change(change);
    }

    pub fn selected_tile_range(&self, results: &Results) -> Option<RangeInclusive<usize>> {
        let from = self.pending.range?;
        let page = results.page()?;
        let from = page.clusters.iter().position(|cluster| cluster.id == from)?;
        let from = results.visible_clusters().iter().position(|visible| visible.contains(from))?;
        let to = results.view()?.cursor;
        Some(from.min(to)..=from.max(to))
    }

    /// Changes the basket by the clusters of the page that the filter shows.
    pub(in crate::app) fn change_page(&mut self, change: BasketChange, results: &Results, outbox: &mut Outbox) {
        let change = self.change_tiles(0..=usize::MAX, change, results, outbox);
        outbox.notify_selection_change(change);
    }

    fn change_tiles(
        &mut self,
        tiles: RangeInclusive<usize>,
        change: BasketChange, results: &Results, outbox: &mut Outbox) -> Option<SelectionChange> {
        let search = &results.view()?.search;
        let clusters = results.clusters_of_tiles(tiles).into_iter();
        let entries = clusters.map(|cluster| cluster_entry(cluster, search)).collect();
        self.edit(|basket| change(basket, entries), results, outbox)
    }
}

impl Outbox {
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
        self.notify(Level::Success, text + "; u undoes it");
    }
}

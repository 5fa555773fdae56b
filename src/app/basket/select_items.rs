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

impl App {
    /// Toggles what is under the cursor: a cluster, or in the detail an item.
    pub(in crate::app) fn toggle_selected(&mut self) {
        if self.focus == Pane::Detail || self.shows_members() {
            self.toggle_preview_selected();
        } else if self.baskets.pending.range.is_some() {
            self.select_range();
        } else {
            let cursor = self.view().map_or(0, |view| view.cursor);
            let entries = self.entries_of_tiles(cursor..=cursor);
            let change = self.edit_basket(|basket| basket.invert(entries));
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
        self.notify(Level::Success, text);
    }

    /// Starts a range at the cursor; the second time selects it.
    pub(in crate::app) fn select_range(&mut self) {
        let Some(range) = self.selected_tile_range() else {
            self.baskets.pending.range = self.cluster().map(|cluster| cluster.id);
            return;
        };
        self.baskets.pending.range = None;
        let entries = self.entries_of_tiles(range);
        let change = self.edit_basket(|basket| basket.select(entries));
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

    /// Selects the clusters of the page that the filter shows.
    pub(in crate::app) fn select_page(&mut self) {
        let entries = self.entries_of_tiles(0..=usize::MAX);
        let change = self.edit_basket(|basket| basket.select(entries));
        self.notify_selection_change(change);
    }

    /// Inverts the selection on the page.
    pub(in crate::app) fn invert_selection(&mut self) {
        let entries = self.entries_of_tiles(0..=usize::MAX);
        let change = self.edit_basket(|basket| basket.invert(entries));
        self.notify_selection_change(change);
    }

    pub(in crate::app) fn undo_selection(&mut self) {
        self.edit_basket(Basket::undo);
    }

    pub(in crate::app) fn redo_selection(&mut self) {
        self.edit_basket(Basket::redo);
    }

    fn entries_of_tiles(&self, tiles: RangeInclusive<usize>) -> Vec<SelectionEntry> {
        let Some(view) = self.view() else { return Vec::new() };
        let chosen = self.clusters_of_tiles(tiles).into_iter();
        chosen.map(|cluster| cluster_entry(cluster, &view.search)).collect()
    }

    pub(in crate::app::basket) fn notify_selection_change(
        &mut self,
        change: Option<SelectionChange>,
    ) {
        let Some(change) = change else { return };
        let mut text = match (change.added, change.removed) {
            (0, 0) => "already selected".to_owned(),
            (added, 0) => format!("{} selected", cluster_count(added)),
            (0, removed) => format!("{} deselected", cluster_count(removed)),
            (added, removed) => format!("{} selected, {removed} deselected", cluster_count(added)),
        };
        text.push_str(&merged_items_text(change));
        self.notify(Level::Success, text + "; u undoes it");
    }
}

fn merged_items_text(change: SelectionChange) -> String {
    match change.absorbed {
        0 => String::new(),
        singles => {
            format!(", replacing {}", count_with_noun(singles, "selected item", "selected items"))
        }
    }
}

//! Marking with a key: one, a range, a page; leaving members out; taking it back.

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
    /// Marks what is under the cursor: a cluster, in the detail a medium.
    pub(in crate::app) fn toggle_selected(&mut self) {
        if self.focus == Pane::Detail || self.shows_members() {
            self.toggle_preview_selected();
        } else if self.pending_selection.range.is_some() {
            self.select_range();
        } else {
            let here = self.view().map_or(0, |view| view.cursor);
            let marks = self.entries_of_tiles(here..=here);
            let change = self.edit_basket(|basket| basket.invert(marks));
            match change {
                Some(SelectionChange { added: 0 | 1, removed: 0 | 1, absorbed: 0 }) => {}
                _ => self.notify_selection_change(change),
            }
        }
    }

    /// Marks the preview, or inside a marked cluster leaves it out or takes it in again.
    pub(in crate::app) fn toggle_preview_selected(&mut self) {
        let (Some(view), Some(cluster), Some(preview)) =
            (self.view(), self.cluster(), self.preview())
        else {
            return;
        };
        let mark = media_item_entry(preview, cluster, &view.search);
        let name = preview.file_name.clone();
        let toggled = self.edit_basket(|basket| basket.toggle_media_item(mark));
        let text = match toggled {
            Some(ToggleOutcome::Excluded) => format!("{name} is left out of its marked cluster"),
            Some(ToggleOutcome::Included) => format!("{name} is exported with its cluster again"),
            Some(ToggleOutcome::Selected | ToggleOutcome::Deselected) | None => return,
        };
        self.notify(Level::Success, text);
    }

    /// Begins a range at the cursor; the second time marks it.
    pub(in crate::app) fn select_range(&mut self) {
        let Some(range) = self.selected_tile_range() else {
            self.pending_selection.range = self.cluster().map(|cluster| cluster.id);
            return;
        };
        self.pending_selection.range = None;
        let marks = self.entries_of_tiles(range);
        let change = self.edit_basket(|basket| basket.select(marks));
        self.notify_selection_change(change);
    }

    /// The tiles of the range that is being chosen.
    #[must_use]
    pub fn selected_tile_range(&self) -> Option<RangeInclusive<usize>> {
        let from = self.pending_selection.range?;
        let page = self.page()?;
        let from = page.clusters.iter().position(|cluster| cluster.id == from)?;
        let from = self.visible_clusters().iter().position(|shown| shown.contains(from))?;
        let to = self.view()?.cursor;
        Some(from.min(to)..=from.max(to))
    }

    /// Marks the clusters of the page, as far as a filter shows them.
    pub(in crate::app) fn select_page(&mut self) {
        let marks = self.entries_of_tiles(0..=usize::MAX);
        let change = self.edit_basket(|basket| basket.select(marks));
        self.notify_selection_change(change);
    }

    /// Turns the marks of the page over.
    pub(in crate::app) fn invert_selection(&mut self) {
        let marks = self.entries_of_tiles(0..=usize::MAX);
        let change = self.edit_basket(|basket| basket.invert(marks));
        self.notify_selection_change(change);
    }

    /// Takes the last marking back.
    pub(in crate::app) fn undo_selection(&mut self) {
        self.edit_basket(Basket::undo);
    }

    /// Does again what was taken back.
    pub(in crate::app) fn redo_selection(&mut self) {
        self.edit_basket(Basket::redo);
    }

    /// Marks of the clusters that these tiles stand for.
    fn entries_of_tiles(&self, tiles: RangeInclusive<usize>) -> Vec<SelectionEntry> {
        let Some(view) = self.view() else { return Vec::new() };
        let chosen = self.clusters_of_tiles(tiles).into_iter();
        chosen.map(|cluster| cluster_entry(cluster, &view.search)).collect()
    }

    /// Tells what a key that marks many did.
    pub(in crate::app::basket) fn notify_selection_change(
        &mut self,
        change: Option<SelectionChange>,
    ) {
        let Some(change) = change else { return };
        let mut words = match (change.added, change.removed) {
            (0, 0) => "they are marked already".to_owned(),
            (added, 0) => format!("{} marked", cluster_count(added)),
            (0, removed) => format!("{} not marked any more", cluster_count(removed)),
            (added, removed) => format!("{} marked, {removed} not any more", cluster_count(added)),
        };
        words.push_str(&merged_items_text(change));
        self.notify(Level::Success, words + "; u takes it back");
    }
}

fn merged_items_text(change: SelectionChange) -> String {
    match change.absorbed {
        0 => String::new(),
        singles => {
            format!(" with {} in it", count_with_noun(singles, "single mark", "single marks"))
        }
    }
}

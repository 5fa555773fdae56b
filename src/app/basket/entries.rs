//! The rows of the basket pane and their actions.

use crate::app::{App, Level, Pane, basket::count_with_noun, pane::moved_cursor};
use tessera_model::{
    Anchor, AnchorKind, Basket, EntryContent, EntryId, Search, Selection, SelectionEntry,
};

impl App {
    pub fn basket_rows(&self) -> Vec<&SelectionEntry> {
        self.selection().map_or_else(Vec::new, Selection::ordered_entries)
    }

    pub fn selected_entry(&self) -> Option<&SelectionEntry> {
        let rows = self.basket_rows();
        rows.get(self.baskets.cursor.min(rows.len().saturating_sub(1))).copied()
    }

    pub fn tile_of_entry(&self, entry: &SelectionEntry) -> Option<usize> {
        let tile = self.page()?.clusters.iter().position(|cluster| match &entry.content {
            EntryContent::Cluster(selected) => cluster.id == selected.id,
            EntryContent::MediaItem(id, _) => cluster.previews.iter().any(|it| it.media == *id),
        })?;
        self.visible_clusters().iter().position(|visible| visible.contains(tile))
    }

    pub(in crate::app) fn move_in_basket(&mut self, by: isize) {
        let count = self.selection().map_or(0, Selection::len);
        self.baskets.cursor =
            moved_cursor(self.baskets.cursor.min(count.saturating_sub(1)), by, count);
    }

    pub(in crate::app) fn remove_selected_entry(&mut self) {
        if let Some(id) = self.selected_entry().map(SelectionEntry::id) {
            self.edit_basket(|basket| basket.remove([id]));
            self.move_in_basket(0);
        }
    }

    pub(in crate::app) fn clear_basket(&mut self) {
        let clear = |basket: &mut Basket| {
            let entries: Vec<EntryId> =
                basket.selection().ordered_entries().into_iter().map(SelectionEntry::id).collect();
            basket.remove(entries)
        };
        let cleared = self.edit_basket(clear).unwrap_or(0);
        self.baskets.cursor = 0;
        let text =
            format!("{} removed; u restores them", count_with_noun(cleared, "entry", "entries"));
        self.outbox.notify(Level::Success, text);
    }

    /// Goes to the entry on the open page, or searches for similar items: there it comes first.
    pub(in crate::app) fn open_selected_entry(&mut self) {
        let (Some(entry), Some(view)) = (self.selected_entry(), self.view()) else { return };
        let tile = self.tile_of_entry(entry);
        let (entity, granularity, name) = (entry.entity, entry.granularity, entry.name.clone());
        let search = Search { entity, granularity, ..Search::browse(view.search.dataset) };
        let media = entry.representative();
        self.results.edit_view(|view| view.members_top_row = None);
        match (tile, media) {
            (Some(tile), _) => self.select_tile(tile),
            (None, Some(media)) => {
                let anchor = Anchor { media, kind: AnchorKind::Media };
                self.open_similar_search(search, anchor, name, None);
            }
            (None, None) => {
                let text = "no member of this cluster was loaded, so it cannot be opened";
                return self.outbox.notify(Level::Warning, text);
            }
        }
        self.panes.focus = Pane::Results;
    }
}

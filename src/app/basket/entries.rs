//! The rows of the basket pane and their actions.

use crate::app::{App, Level, Pane, basket::count_with_noun, pane::moved_cursor};
use tessera_model::{Basket, EntryContent, EntryId, MediaId, Selection, SelectionEntry};

impl App {
    /// The rows of the pane, in the order of selection.
    #[must_use]
    pub fn basket_rows(&self) -> Vec<&SelectionEntry> {
        self.selection().map_or_else(Vec::new, Selection::ordered_entries)
    }

    #[must_use]
    pub fn selected_entry(&self) -> Option<&SelectionEntry> {
        let rows = self.basket_rows();
        rows.get(self.baskets.cursor.min(rows.len().saturating_sub(1))).copied()
    }

    /// The tile of an entry, if the open page shows it.
    #[must_use]
    pub fn tile_of_entry(&self, mark: &SelectionEntry) -> Option<usize> {
        let place = self.page()?.clusters.iter().position(|cluster| match &mark.content {
            EntryContent::Cluster(marked) => cluster.id == marked.id,
            EntryContent::MediaItem(id, _) => cluster.previews.iter().any(|it| it.media == *id),
        })?;
        self.visible_clusters().iter().position(|shown| shown.contains(place))
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
            let marks: Vec<EntryId> =
                basket.selection().ordered_entries().into_iter().map(SelectionEntry::id).collect();
            basket.remove(marks)
        };
        let cleared = self.edit_basket(clear).unwrap_or(0);
        self.baskets.cursor = 0;
        let text =
            format!("{} removed; u restores them", count_with_noun(cleared, "entry", "entries"));
        self.notify(Level::Success, text);
    }

    /// Goes to the entry under the cursor: on the open page, or else in a search for similar items,
    /// where it comes first.
    pub(in crate::app) fn open_selected_entry(&mut self) {
        let Some(mark) = self.selected_entry() else { return };
        let found: Option<(MediaId, _)> =
            mark.representative().map(|face| (face, mark.name.clone()));
        let (place, entity, level) = (self.tile_of_entry(mark), mark.entity, mark.granularity);
        if let Some(view) = self.results.view_mut() {
            view.members_top_row = None;
        }
        match (place, found) {
            (Some(place), _) => self.select_tile(place),
            (None, Some((face, name))) => self.search_by_media(face, name, entity, level),
            (None, None) => {
                let text = "no member of this cluster was loaded, so it cannot be opened";
                return self.notify(Level::Warning, text);
            }
        }
        self.focus = Pane::Results;
    }
}

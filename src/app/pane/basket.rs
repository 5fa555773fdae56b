//! The basket pane: the selected row, and what can be done with it.

use crate::app::{App, Effect, Level, Pane, basket::counted, pane::moved};
use tessera_model::{Basket, Mark, MarkId, Marked, MediaId, Selection};

impl App {
    /// The rows of the pane, in the order of marking.
    #[must_use]
    pub fn basket_rows(&self) -> Vec<&Mark> {
        self.selection().map_or_else(Vec::new, Selection::rows)
    }

    /// The mark under the cursor.
    #[must_use]
    pub fn selected_mark(&self) -> Option<&Mark> {
        let rows = self.basket_rows();
        rows.get(self.basket_row.min(rows.len().saturating_sub(1))).copied()
    }

    /// The tile of a mark, if the page that is open shows it.
    #[must_use]
    pub fn place_of(&self, mark: &Mark) -> Option<usize> {
        let place = self.page()?.clusters.iter().position(|cluster| match &mark.what {
            Marked::Cluster(marked) => cluster.id == marked.id,
            Marked::Medium(id, _) => cluster.previews.iter().any(|it| it.media == *id),
        })?;
        self.shown().iter().position(|shown| shown.holds(place))
    }

    /// Moves the selection by some rows.
    pub(in crate::app) fn move_in_basket(&mut self, by: isize) {
        let count = self.selection().map_or(0, Selection::len);
        self.basket_row = moved(self.basket_row.min(count.saturating_sub(1)), by, count);
    }

    /// Takes the mark of the selected row away.
    pub(in crate::app) fn unmark(&mut self, effects: &mut Vec<Effect>) {
        if let Some(id) = self.selected_mark().map(Mark::id) {
            self.change_basket(effects, |basket| basket.remove([id]));
            self.move_in_basket(0);
        }
    }

    /// Takes all marks away.
    pub(in crate::app) fn clear_basket(&mut self, effects: &mut Vec<Effect>) {
        let clear = |basket: &mut Basket| {
            let marks: Vec<MarkId> = basket.selection().rows().into_iter().map(Mark::id).collect();
            basket.remove(marks)
        };
        let cleared = self.change_basket(effects, clear).unwrap_or(0);
        self.basket_row = 0;
        let text = format!("{} taken away; u brings them back", counted(cleared, "mark", "marks"));
        self.notices.add(self.now, Level::Success, text);
    }

    /// Goes to where the selected mark is: on the page that is open, or among what is similar to
    /// it, where it comes first.
    pub(in crate::app) fn open_mark(&mut self) {
        let Some(mark) = self.selected_mark() else { return };
        let found: Option<(MediaId, _)> = mark.face().map(|face| (face, mark.name.clone()));
        let (place, entity, level) = (self.place_of(mark), mark.entity, mark.granularity);
        if let Some(view) = self.results.view_mut() {
            view.members = None;
        }
        match (place, found) {
            (Some(place), _) => self.point_at(place),
            (None, Some((face, name))) => self.search_around(face, name, entity, level),
            (None, None) => {
                let text = "no member of this cluster was seen, so there is no way to it";
                return self.notices.add(self.now, Level::Warning, text);
            }
        }
        self.focus = Pane::Results;
    }
}

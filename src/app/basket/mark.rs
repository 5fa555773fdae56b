//! Marking with a key: one, a range, a page; leaving members out; taking it back.

use std::ops::RangeInclusive;

use crate::app::{
    App, Effect, Level, Pane,
    basket::{clusters, counted},
};
use tessera_model::{
    Basket, Change, Mark, Toggled,
    basket::{cluster_mark, medium_mark},
};

impl App {
    /// Marks what is under the cursor: a cluster, in the detail a medium.
    pub(in crate::app) fn mark(&mut self, effects: &mut Vec<Effect>) {
        if self.focus == Pane::Detail || self.shows_members() {
            self.mark_preview(effects);
        } else if self.marking.range.is_some() {
            self.mark_range(effects);
        } else {
            let here = self.view().map_or(0, |view| view.cursor);
            let marks = self.marks_at(here..=here);
            let change = self.change_basket(effects, |basket| basket.invert(marks));
            match change {
                Some(Change { added: 0 | 1, removed: 0 | 1, swallowed: 0 }) => {}
                _ => self.tell_marked(change),
            }
        }
    }

    /// Marks the preview, or inside a marked cluster leaves it out or takes it in again.
    pub(in crate::app) fn mark_preview(&mut self, effects: &mut Vec<Effect>) {
        let (Some(view), Some(cluster), Some(preview)) =
            (self.view(), self.cluster(), self.preview())
        else {
            return;
        };
        let mark = medium_mark(preview, cluster, &view.search);
        let name = preview.file_name.clone();
        let toggled = self.change_basket(effects, |basket| basket.toggle_medium(mark));
        let text = match toggled {
            Some(Toggled::Excluded) => format!("{name} is left out of its marked cluster"),
            Some(Toggled::Included) => format!("{name} is exported with its cluster again"),
            Some(Toggled::Marked | Toggled::Unmarked) | None => return,
        };
        self.notices.add(self.now, Level::Success, text);
    }

    /// Begins a range at the cursor; the second time marks it.
    pub(in crate::app) fn mark_range(&mut self, effects: &mut Vec<Effect>) {
        let Some(range) = self.range() else {
            self.marking.range = self.cluster().map(|cluster| cluster.id);
            return;
        };
        self.marking.range = None;
        let marks = self.marks_at(range);
        let change = self.change_basket(effects, |basket| basket.mark(marks));
        self.tell_marked(change);
    }

    /// The tiles of the range that is being chosen.
    #[must_use]
    pub fn range(&self) -> Option<RangeInclusive<usize>> {
        let from = self.marking.range?;
        let page = self.page()?;
        let from = page.clusters.iter().position(|cluster| cluster.id == from)?;
        let from = self.shown().iter().position(|shown| shown.holds(from))?;
        let to = self.view()?.cursor;
        Some(from.min(to)..=from.max(to))
    }

    /// Marks the clusters of the page, as far as a filter shows them.
    pub(in crate::app) fn mark_page(&mut self, effects: &mut Vec<Effect>) {
        let marks = self.marks_at(0..=usize::MAX);
        let change = self.change_basket(effects, |basket| basket.mark(marks));
        self.tell_marked(change);
    }

    /// Turns the marks of the page over.
    pub(in crate::app) fn invert_marks(&mut self, effects: &mut Vec<Effect>) {
        let marks = self.marks_at(0..=usize::MAX);
        let change = self.change_basket(effects, |basket| basket.invert(marks));
        self.tell_marked(change);
    }

    /// Takes the last marking back.
    pub(in crate::app) fn undo(&mut self, effects: &mut Vec<Effect>) {
        self.change_basket(effects, Basket::undo);
    }

    /// Does again what was taken back.
    pub(in crate::app) fn redo(&mut self, effects: &mut Vec<Effect>) {
        self.change_basket(effects, Basket::redo);
    }

    /// Marks of the clusters that these tiles stand for.
    fn marks_at(&self, tiles: RangeInclusive<usize>) -> Vec<Mark> {
        let Some(view) = self.view() else { return Vec::new() };
        let chosen = self.clusters_shown(tiles).into_iter();
        chosen.map(|cluster| cluster_mark(cluster, &view.search)).collect()
    }

    /// Tells what a key that marks many did.
    pub(in crate::app::basket) fn tell_marked(&mut self, change: Option<Change>) {
        let Some(change) = change else { return };
        let mut words = match (change.added, change.removed) {
            (0, 0) => "they are marked already".to_owned(),
            (added, 0) => format!("{} marked", clusters(added)),
            (0, removed) => format!("{} not marked any more", clusters(removed)),
            (added, removed) => format!("{} marked, {removed} not any more", clusters(added)),
        };
        words.push_str(&swallowed(change));
        self.notices.add(self.now, Level::Success, words + "; u takes it back");
    }
}

fn swallowed(change: Change) -> String {
    match change.swallowed {
        0 => String::new(),
        singles => format!(" with {} in it", counted(singles, "single mark", "single marks")),
    }
}

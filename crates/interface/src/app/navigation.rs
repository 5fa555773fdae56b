//! Moves cursors, opens what is selected, and goes back. The same few keys work in every pane, on what is selected
//! there.

use std::slice;

use tessera_model::{
    Anchor, AnchorKind, Dataset, Selection,
    basket::{cluster_entry, media_item_entry},
};

use crate::app::prelude::*;
use crate::app::{
    areas::DetailLayout,
    overlay::{job_detail::JobDetail, selection_rows::BasketRows},
    pane::{inner_area, moved_cursor},
    view::sort_filter::filter_and_sort_datasets,
    viewer::{PictureList, Viewer, focused_list},
};

/// The picture under the cursor, which an action applies to if nothing is selected.
pub(in crate::app) struct UnderCursor<'a> {
    search: &'a Search,
    pub(in crate::app) cluster: &'a Cluster,
    pub(in crate::app) preview: &'a Preview,
    /// Whether the action applies to the preview, and not to its whole cluster.
    pub(in crate::app) is_single: bool,
}

impl UnderCursor<'_> {
    pub(in crate::app) fn previews(&self) -> &[Preview] {
        if self.is_single { slice::from_ref(self.preview) } else { &self.cluster.previews }
    }

    pub(in crate::app) fn selection(&self) -> Selection {
        if self.is_single {
            return self.media_item();
        }
        [cluster_entry(self.cluster, self.search)].into_iter().collect()
    }

    pub(in crate::app) fn media_item(&self) -> Selection {
        [media_item_entry(self.preview, self.cluster, self.search)].into_iter().collect()
    }
}

impl App {
    /// Returns the media item under the cursor where single pictures are shown, otherwise its cluster.
    pub(in crate::app) fn under_cursor(&self) -> Option<UnderCursor<'_>> {
        let is_single = self.shows_single_pictures();
        let (cluster, preview) = (self.results.cluster()?, self.results.preview()?);
        Some(UnderCursor { search: &self.results.view()?.search, cluster, preview, is_single })
    }

    fn shows_single_pictures(&self) -> bool {
        self.viewer.is_some() || self.shows_open_cluster()
    }

    /// Returns whether the pictures of the cluster under the cursor are shown, in a pane or at full size.
    pub(in crate::app) fn shows_open_cluster(&self) -> bool {
        self.viewer.as_ref().is_some_and(Viewer::shows_open_cluster)
            || self.panes.focus == Pane::Detail
            || self.results.shows_members()
    }

    pub(in crate::app) fn move_cursor(&mut self, action: Action) {
        let by: isize = if matches!(action, Action::Up | Action::Left) { -1 } else { 1 };
        let vertical = matches!(action, Action::Up | Action::Down);
        match self.panes.focus {
            Pane::Query if !vertical => {
                self.query.edit_draft(|draft| draft.cycle_choice(by), &self.results);
            }
            Pane::Results => {
                let cursor = self.results.tile_cursor().tile;
                let step = self.grid().filter(|_| vertical);
                let step = step.map(|grid| grid.vertical_step(cursor, by > 0));
                self.results.move_across_pages(step.unwrap_or(by));
            }
            Pane::Detail if vertical => {
                self.results.move_cursor(by);
            }
            Pane::Datasets | Pane::Jobs | Pane::Basket if !vertical => {}
            Pane::Datasets | Pane::Detail | Pane::Query | Pane::Jobs | Pane::Basket => {
                self.move_in_list(by);
            }
        }
    }

    /// Moves the cursor of the focused pane by rows, or by previews in the detail.
    fn move_in_list(&mut self, by: isize) {
        match self.panes.focus {
            Pane::Datasets => self.move_in_datasets(by),
            Pane::Results => self.results.move_cursor(by),
            Pane::Detail => self.results.step_preview(by),
            Pane::Query => self.query.edit_draft(|draft| draft.move_cursor(by), &self.results),
            Pane::Jobs => self.jobs.move_cursor(by),
            Pane::Basket => self.baskets.move_cursor(by, &self.results),
        }
    }

    pub(in crate::app) fn move_by_page(&mut self, action: Action) {
        let screen = self.items_on_screen().max(1).cast_signed();
        let all = isize::MAX / 2;
        let by = match action {
            Action::ScreenUp => -screen,
            Action::ScreenDown => screen,
            Action::First => -all,
            _ => all,
        };
        if self.panes.focus == Pane::Results && by.abs() == screen {
            self.results.move_across_pages(by);
        } else {
            self.move_in_list(by);
        }
    }

    /// Returns the number of items of the focused pane that fit on the screen.
    fn items_on_screen(&self) -> usize {
        let area = self.areas().pane(self.panes.focus).unwrap_or_default();
        match self.panes.focus {
            Pane::Results => self.grid().map_or(0, |grid| grid.visible().len()),
            Pane::Detail => DetailLayout::new(self, area).strip.len(),
            Pane::Basket => BasketRows::new(self, area).entries.len(),
            Pane::Datasets | Pane::Query | Pane::Jobs => usize::from(inner_area(area).height),
        }
    }

    /// Handles Enter. A dataset opens its results, a cluster its previews, and a preview its full
    /// size.
    pub(in crate::app) fn open_selected(&mut self) {
        match self.panes.focus {
            Pane::Datasets => {
                if let Some(id) = self.selected_dataset().map(|dataset| dataset.id) {
                    self.open_whole_dataset(id);
                }
            }
            Pane::Results if self.results.can_open_members() => {
                self.results.edit_view(|view| view.members_top_row = Some(0));
            }
            Pane::Results if self.results.cluster().is_some() => self.panes.focus = Pane::Detail,
            Pane::Detail if self.results.preview().is_some() => self.perform(Action::FullSize),
            Pane::Jobs => JobDetail::open(&mut self.overlays, &self.jobs),
            Pane::Basket => self.open_selected_entry(),
            Pane::Query => self.edit_selected_filter(),
            Pane::Results | Pane::Detail => {}
        }
    }

    /// Goes to the entry if it is on the open page. Otherwise searches for similar items, because
    /// the entry comes first in that search.
    pub(in crate::app) fn open_selected_entry(&mut self) {
        let (Some(entry), Some(view)) =
            (self.baskets.selected_entry(&self.results), self.results.view())
        else {
            return;
        };
        let tile = self.results.tile_of_entry(entry);
        let (entity, granularity, name) = (entry.entity, entry.granularity, entry.name.clone());
        let search = Search { entity, granularity, ..Search::browse(view.search.dataset) };
        let (media, is_item) = (entry.representative(), entry.cluster().is_none());
        self.results.edit_view(|view| view.members_top_row = None);
        match (tile, media) {
            (Some(tile), _) => {
                self.results.select_tile(tile);
                let members = self.results.cluster().map_or(&[][..], |it| &it.previews);
                // The picture of a cluster is the first one.
                let index = members.iter().position(|it| is_item && Some(it.media) == media);
                self.results.show_preview(index.unwrap_or(0));
            }
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

    /// Handles Esc, which closes one thing at a time, the newest first.
    pub(in crate::app) fn go_back(&mut self) {
        let focus = self.panes.focus;
        if self.dismiss_notification() || self.baskets.cancel_pending(focus, &mut self.outbox) {
            return;
        }
        match self.panes.focus {
            _ if self.panes.zoomed => self.panes.zoomed = false,
            Pane::Detail | Pane::Query | Pane::Jobs | Pane::Basket => {
                self.panes.focus = Pane::Results;
            }
            Pane::Results => {
                if !self.results.close_view() {
                    self.panes.focus = Pane::Datasets;
                }
            }
            Pane::Datasets => self.datasets.list_options.filter.clear(),
        }
    }

    /// Dismisses an error on screen. Returns whether there was one. In text mode, an error was already printed, so
    /// there is none to dismiss.
    pub(in crate::app) fn dismiss_notification(&mut self) -> bool {
        self.outbox.notifications.dismiss() && !self.setup.is_text
    }

    /// Moves the cursor of the open dialog or of the focused pane to an item.
    pub(in crate::app) fn go_to_item(&mut self, index: usize) {
        if self.select_in_overlay(index) {
            return;
        }
        match self.panes.focus {
            Pane::Datasets => {
                let dataset = self.visible_datasets().get(index).map(|dataset| dataset.id);
                self.datasets.cursor = dataset.or(self.datasets.cursor);
            }
            Pane::Results => self.results.select_tile(index),
            Pane::Detail => self.results.show_preview(index),
            Pane::Query => self.query.edit_draft(|draft| draft.select_row(index), &self.results),
            Pane::Jobs => self.jobs.select_row(index),
            Pane::Basket => self.baskets.select_row(index, &self.results),
        }
    }

    /// Returns the number of items in the focused pane, to which the cursor can be moved.
    pub fn item_count(&self) -> usize {
        match self.panes.focus {
            Pane::Datasets => self.visible_datasets().len(),
            Pane::Results => self.results.tiles().len(),
            Pane::Detail => self.results.cluster().map_or(0, |cluster| cluster.previews.len()),
            // The row after the filters adds one.
            Pane::Query => self.query.draft(&self.results).rows.len() + 1,
            Pane::Jobs => self.jobs.len(),
            Pane::Basket => self.baskets.rows(&self.results).len(),
        }
    }

    pub(in crate::app) fn refresh(&mut self) {
        self.service_data.datasets.invalidate();
        self.service_data.pictures.forget_failures();
        self.service_data.local_datasets.retain(|_, known| known.value().is_some());
        self.service_data.overviews.values_mut().for_each(Remote::invalidate);
        self.service_data.enrichments.values_mut().for_each(Remote::invalidate);
        self.service_data.views.invalidate();
        self.results.continue_scan();
        for search in
            [self.results.view().map(|view| view.search.clone()), self.results.pending_search()]
        {
            let Some(search) = search else { continue };
            self.baskets.retry(search.dataset);
            self.tagging.kept.retry(search.dataset);
            if let Some(tags) = self.tagging.tags.get_mut(&search.dataset) {
                tags.invalidate();
            }
            self.results.pages.entry(search).invalidate();
        }
        self.jobs.poll_now(self.panes.focus);
    }

    /// Handles the key after Jump. A key that is not a label changes nothing.
    pub(in crate::app) fn jump(&mut self, chord: Chord) {
        self.input.jump_mode = false;
        let target = self.jump_targets().into_iter().find(|it| chord.key == Key::Char(it.letter));
        if let Some(target) = target {
            self.panes.focus = target.pane;
        }
    }

    pub fn dataset(&self) -> Option<&Dataset> {
        self.service_data.dataset(self.results.view()?.search.dataset)
    }

    pub fn selected_dataset(&self) -> Option<&Dataset> {
        let datasets = self.visible_datasets();
        let selected = datasets.iter().find(|dataset| Some(dataset.id) == self.datasets.cursor);
        selected.or(datasets.first()).copied()
    }

    /// Returns the dataset that a change applies to: the selected one in the list of datasets,
    /// otherwise the open one.
    pub fn target_dataset(&self) -> Option<&Dataset> {
        match self.panes.focus {
            Pane::Datasets => self.selected_dataset(),
            _ => self.dataset(),
        }
    }

    /// Says why a change has no dataset to apply to.
    pub(in crate::app) fn no_target_reason(&self) -> &'static str {
        match self.panes.focus {
            Pane::Datasets => self.no_dataset_reason(),
            _ => "open a dataset first",
        }
    }

    /// Says why no dataset is selected.
    pub(in crate::app) fn no_dataset_reason(&self) -> &'static str {
        if self.selected_dataset().is_none() && !self.service_data.dataset_list().is_empty() {
            "no dataset matches the filter of the datasets; Esc clears it there"
        } else {
            "no dataset is selected"
        }
    }

    pub fn visible_datasets(&self) -> Vec<&Dataset> {
        filter_and_sort_datasets(self.service_data.dataset_list(), &self.datasets.list_options)
    }

    pub(in crate::app) fn move_in_datasets(&mut self, by: isize) {
        let list = self.visible_datasets();
        let selected = self.selected_dataset().map(|dataset| dataset.id);
        let index = list.iter().position(|dataset| Some(dataset.id) == selected).unwrap_or(0);
        self.datasets.cursor =
            list.get(moved_cursor(index, by, list.len())).map(|dataset| dataset.id);
    }

    /// Opens a dataset without a query. Esc returns to the search that was on screen.
    fn open_whole_dataset(&mut self, id: DatasetId) {
        self.open_dataset(id);
        let is_whole =
            |view: &View| view.search.query == Query::Browse && view.search.filters.is_empty();
        if !self.results.view().is_some_and(is_whole) {
            self.open_search(self.setup.initial_search(id));
        }
        self.panes.focus = Pane::Results;
    }

    pub(in crate::app) fn open_dataset(&mut self, id: DatasetId) {
        self.results.open(self.setup.initial_search(id));
        self.datasets.cursor = Some(id);
    }

    /// Finds what is under the cursor again and scrolls to it. If the cluster whose pictures are shown is gone or
    /// hidden, the pictures are closed, so that no key applies to a picture that the user has not chosen.
    pub(in crate::app) fn restore_cursor(&mut self) {
        if self.results.restore_cluster() && self.shows_open_cluster() {
            self.close_lost_cluster();
        }
        let is_list = focused_list(self.panes.focus, &self.results) == PictureList::Members;
        self.results.restore_preview(self.shows_single_pictures(), is_list);
        let Some(grid) = self.grid().filter(|_| self.results.page().is_some()) else { return };
        let index = self.results.preview_index();
        if let Some(view) = self.results.view_mut() {
            view.top_row = grid.scroll_top(view.top_row, view.cursor);
            view.members_top_row = view.members_top_row.map(|top| grid.scroll_top(top, index));
        }
    }

    fn close_lost_cluster(&mut self) {
        self.viewer = self.viewer.take().filter(|viewer| !viewer.shows_open_cluster());
        self.results.edit_view(|view| view.members_top_row = None);
        if self.panes.focus == Pane::Detail {
            self.panes.focus = Pane::Results;
        }
        self.outbox.notify(Level::Warning, "the open cluster is no longer among these results");
    }
}

//! Moving, opening and going back: the same few keys in every pane.

use crate::{
    app::{App, Pane, full_size_link},
    input::Action,
    message::{Lane, Request},
};
use tessera_model::PictureSource;

impl App {
    pub(super) fn move_cursor(&mut self, action: Action) {
        let by: isize = if matches!(action, Action::Up | Action::Left) { -1 } else { 1 };
        let vertical = matches!(action, Action::Up | Action::Down);
        match self.panes.focus {
            Pane::Datasets if vertical => self.move_in_datasets(by),
            Pane::Jobs if vertical => self.jobs.move_cursor(by),
            Pane::Basket if vertical => self.baskets.move_cursor(by, &self.results),
            Pane::Query if vertical => self.query.edit_draft(|draft| draft.move_cursor(by), &self.results),
            Pane::Query => self.query.edit_draft(|draft| draft.cycle_choice(by), &self.results),
            Pane::Datasets | Pane::Jobs | Pane::Basket => {}
            Pane::Results => {
                let cursor = self.results.tile_cursor().0;
                let step = self.grid().filter(|_| vertical);
                let step = step.map(|grid| grid.vertical_step(cursor, by > 0));
                self.results.move_across_pages(step.unwrap_or(by), &mut self.store.pictures);
            }
            Pane::Detail if vertical => self.results.move_cursor(by, &mut self.store.pictures),
            Pane::Detail => self.results.step_preview(by, &mut self.store.pictures),
        }
    }

    pub(super) fn move_by_page(&mut self, action: Action) {
        let screen = self.grid().map_or(1, |grid| grid.capacity()).cast_signed();
        let all = isize::MAX / 2;
        let by = match action {
            Action::ScreenUp => -screen,
            Action::ScreenDown => screen,
            Action::First => -all,
            _ => all,
        };
        match self.panes.focus {
            Pane::Datasets => self.move_in_datasets(by),
            Pane::Results if by.abs() == screen => self.results.move_across_pages(by, &mut self.store.pictures),
            Pane::Results => self.results.move_cursor(by, &mut self.store.pictures),
            Pane::Detail => self.results.step_preview(by, &mut self.store.pictures),
            Pane::Jobs => self.jobs.move_cursor(by),
            Pane::Basket => self.baskets.move_cursor(by, &self.results),
            Pane::Query => self.query.edit_draft(|draft| draft.move_cursor(by), &self.results),
        }
    }

    /// Enter: a dataset opens its results, a cluster its previews, a preview its full size.
    pub(super) fn open_selected(&mut self) {
        match self.panes.focus {
            Pane::Datasets => {
                if let Some(id) = self.selected_dataset().map(|dataset| dataset.id) {
                    self.open_dataset(id);
                    self.panes.focus = Pane::Results;
                }
            }
            Pane::Results if self.results.can_open_members() => {
                self.results.edit_view(|view| view.members_top_row = Some(0));
            }
            Pane::Results if self.results.cluster().is_some() => self.panes.focus = Pane::Detail,
            Pane::Detail if self.results.preview().is_some() => self.perform(Action::FullSize),
            Pane::Jobs => self.open_job_detail(),
            Pane::Basket => self.open_selected_entry(),
            Pane::Query => self.edit_selected_filter(),
            Pane::Results | Pane::Detail => {}
        }
    }

    /// Esc: closes one thing at a time, the newest first.
    pub(super) fn go_back(&mut self) {
        if self.dismiss_notification() || self.baskets.cancel_pending(&mut self.outbox) {
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

    /// Dismisses an error on screen. Returns whether it was one; as text, it was printed and is past.
    pub(in crate::app) fn dismiss_notification(&mut self) -> bool {
        self.outbox.notifications.dismiss() && !self.setup.is_text()
    }

    /// Moves the cursor of the open dialog or of the focused pane to an item.
    pub(super) fn go_to_item(&mut self, index: usize) {
        if self.select_in_overlay(index) {
            return;
        }
        match self.panes.focus {
            Pane::Datasets => {
                let dataset = self.visible_datasets().get(index).map(|dataset| dataset.id);
                self.datasets.cursor = dataset.or(self.datasets.cursor);
            }
            Pane::Results => self.results.select_tile(index, &mut self.store.pictures),
            Pane::Detail => self.results.show_preview(index, &mut self.store.pictures),
            Pane::Query => self.query.edit_draft(|draft| draft.select_row(index), &self.results),
            Pane::Jobs => self.jobs.select_row(index),
            Pane::Basket => {
                self.baskets.move_cursor(index.cast_signed() - self.baskets.cursor().cast_signed(), &self.results);
            }
        }
    }

    pub(super) fn refresh(&mut self) {
        self.store.datasets.invalidate();
        self.store.pictures.forget_failures();
        for search in [self.results.view().map(|view| view.search.clone()), self.results.pending_search()] {
            let Some(search) = search else { continue };
            self.baskets.retry(search.dataset);
            self.results.pages.entry(search).invalidate();
        }
        self.jobs.poll_now(self.panes.focus);
    }
}

impl Results {
    pub(in crate::app) fn open_externally(&mut self, outbox: &mut Outbox) {
        if let Some(link) = self.preview().and_then(full_size_link) {
            outbox
                .send(Lane::OpenExternally, Request::OpenExternally(PictureSource::Link(link)));
        }
    }
}

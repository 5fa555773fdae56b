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
            Pane::Basket if vertical => self.move_in_basket(by),
            Pane::Query if vertical => self.edit_draft(|draft| draft.move_cursor(by)),
            Pane::Query => self.edit_draft(|draft| draft.cycle_choice(by)),
            Pane::Datasets | Pane::Jobs | Pane::Basket => {}
            Pane::Results => {
                let cursor = self.tile_cursor().0;
                let step = self.grid().filter(|_| vertical);
                let step = step.map(|grid| grid.vertical_step(cursor, by > 0));
                self.move_across_pages(step.unwrap_or(by));
            }
            Pane::Detail if vertical => self.move_in_results(by),
            Pane::Detail => self.step_preview(by),
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
            Pane::Results if by.abs() == screen => self.move_across_pages(by),
            Pane::Results => self.move_in_results(by),
            Pane::Detail => self.step_preview(by),
            Pane::Jobs => self.jobs.move_cursor(by),
            Pane::Basket => self.move_in_basket(by),
            Pane::Query => self.edit_draft(|draft| draft.move_cursor(by)),
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
            Pane::Results if self.can_open_members() => {
                self.results.edit_view(|view| view.members_top_row = Some(0));
            }
            Pane::Results if self.cluster().is_some() => self.panes.focus = Pane::Detail,
            Pane::Detail if self.preview().is_some() => self.perform(Action::FullSize),
            Pane::Jobs => self.open_job_detail(),
            Pane::Basket => self.open_selected_entry(),
            Pane::Query => self.edit_selected_filter(),
            Pane::Results | Pane::Detail => {}
        }
    }

    /// Esc: closes one thing at a time, the newest first.
    pub(super) fn go_back(&mut self) {
        if self.dismiss_notification() || self.cancel_pending_selection() {
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
        self.outbox.notifications.dismiss() && !self.is_text()
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
            Pane::Results => self.select_tile(index),
            Pane::Detail => self.show_preview(index),
            Pane::Query => self.edit_draft(|draft| draft.select_row(index)),
            Pane::Jobs => self.jobs.select_row(index),
            Pane::Basket => {
                self.move_in_basket(index.cast_signed() - self.baskets.cursor().cast_signed());
            }
        }
    }

    pub(super) fn refresh(&mut self) {
        self.store.datasets.invalidate();
        self.store.pictures.forget_failures();
        for search in [self.view().map(|view| view.search.clone()), self.pending_search()] {
            let Some(search) = search else { continue };
            self.baskets.retry(search.dataset);
            self.results.pages.entry(search).invalidate();
        }
        self.poll_jobs_now();
    }

    pub(super) fn open_externally(&mut self) {
        if let Some(link) = self.preview().and_then(full_size_link) {
            self.outbox
                .send(Lane::OpenExternally, Request::OpenExternally(PictureSource::Link(link)));
        }
    }
}

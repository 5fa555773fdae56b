//! Contains dialogs, pickers and menus, which lie over the panes and take the keys.
//!
//! A dialog is one file: its state, its keys, its size, its hints, its drawing, and what happens when it is accepted.
//! To add one, implement [`Dialog`] in a new file, list the file here, and open the dialog in an action with
//! `Overlays::open`.

pub mod add_media;
pub mod archive_inspector;
pub mod caption;
pub mod check;
pub mod command_list;
pub mod duplicate_groups;
pub mod duplicate_review;
pub mod export;
pub mod facets;
pub mod fact_sheet;
pub mod fields;
pub mod file_actions;
pub mod file_picker;
pub mod get_model;
pub mod graphics_check;
pub mod help;
pub mod job_detail;
pub mod log;
pub mod login;
pub mod manage_dataset;
pub mod map;
pub mod palette;
pub mod path_picker;
pub mod pick_list;
mod prelude;
pub mod prompt;
mod region_edit;
pub mod region_picker;
pub mod saved_views;
pub mod score_histogram;
pub mod selection_rows;
pub mod sort_filter;
pub mod split;
pub mod tag_list;

use std::{any::Any, mem, time::Duration};

use ratatui::layout::Rect;
use tessera_config::input::{Action, Chord, KeyContext, KeyMatch};
use tessera_model::Failure;
use tessera_picture::{Canvas, PictureView};

use crate::app::{
    App, Dialog, DrawContext, Effect, Level, Mouse, Pane, availability,
    custom_commands::run_custom_command,
    overlay::{
        fields::KeyResult,
        file_picker::{path_field_key, typed_path},
        help::Help,
        palette::run_or_explain_action,
        pick_list::Command,
        prompt::{PromptPurpose, TextPrompt},
        saved_views::{ViewDeletion, ViewNameInput, open_saved_view},
        sort_filter::{sort_by, sort_files},
        tag_list::{define_listed_tag, open_tag_colors},
    },
};

/// A form that changes a dataset is sent only if the status of the dataset was loaded within this time.
const MAX_STATUS_AGE: Duration = Duration::from_secs(5);

impl App {
    /// Lets the open dialog handle a key. Returns whether a dialog is open.
    pub(in crate::app) fn overlay_key(&mut self, chord: Chord) -> bool {
        let Some(dialog) = self.overlays.open.take() else { return false };
        // Another key withdraws a form that waits for the dataset's status, and a path that waits for its folder.
        self.overlays.submit_pending = false;
        self.overlays.completion = None;
        if self.asks_for_help(&*dialog, chord) {
            self.overlays.open(Help::of_dialog(dialog));
            return true;
        }
        let Some(mut dialog) = path_field_key(self, dialog, chord) else { return true };
        let path_before = typed_path(&*dialog);
        match dialog.handle_key(chord, self) {
            KeyResult::Stay => {
                let path = typed_path(&*dialog);
                self.overlays.note_typed_path(path_before.as_deref(), path.as_deref());
                self.overlays.open = Some(dialog);
            }
            KeyResult::Close => {}
            KeyResult::Accept => self.submit_dialog(dialog),
            KeyResult::Back => self.overlays.open = dialog.form_below().map(|it| it.clone_dialog()),
        }
        true
    }

    /// Returns whether a key opens the help of a dialog. In a text field, a letter is typed instead.
    fn asks_for_help(&self, dialog: &dyn Dialog, chord: Chord) -> bool {
        let resolved = self.setup.keymap.resolve(&[KeyContext::Everywhere], &[chord]);
        let types = chord.typed().is_some() && dialog.takes_text();
        let is_help = (dialog as &dyn Any).is::<Help>();
        resolved == KeyMatch::Action(Action::Help) && !types && !is_help
    }

    /// Lets the open dialog handle the mouse, which never reaches the panes meanwhile. Returns whether a dialog is
    /// open.
    pub(in crate::app) fn overlay_mouse(&mut self, mouse: Mouse) -> bool {
        self.change_overlay(|dialog, app| dialog.handle_mouse(mouse, app))
    }

    /// Moves the cursor of the open dialog to an item. Returns whether a dialog is open.
    pub(in crate::app) fn select_in_overlay(&mut self, index: usize) -> bool {
        self.change_overlay(|dialog, app| dialog.select_item(index, app))
    }

    fn change_overlay(&mut self, change: impl FnOnce(&mut dyn Dialog, &mut Self)) -> bool {
        let Some(mut dialog) = self.overlays.open.take() else { return false };
        self.overlays.completion = None;
        change(&mut *dialog, self);
        self.overlays.open = Some(dialog);
        true
    }

    /// Inserts pasted text into a text field, or ignores it. Pasted text never acts as keys.
    pub(in crate::app) fn paste(&mut self, text: &str) {
        if let Some(dialog) = &mut self.overlays.open {
            dialog.paste(text);
            (self.overlays.path_is_typed, self.overlays.completion) = (true, None);
        } else if self.query.is_editing_query(self.panes.focus, &self.results) {
            self.query.paste(text, &self.results, &mut self.outbox);
        }
    }

    /// Runs the command of the row that was picked in a list.
    pub(in crate::app) fn run_command(&mut self, command: Command) {
        let keeps_viewer = matches!(
            command,
            Command::Action(_)
                | Command::ChooseTagColor(_)
                | Command::CustomCommand(_)
                | Command::DefineTag(..)
                | Command::RenameTag(_)
                | Command::SetTheme(_)
                | Command::ShowFacts(_)
        );
        if !keeps_viewer {
            self.viewer = None;
        }
        match command {
            Command::Action(action) => run_or_explain_action(self, action),
            Command::AddFilter(kind) => self.add_filter(kind),
            Command::ChooseTagColor(name) => open_tag_colors(self, &name),
            Command::CombineTabs(combination) => self.combine_tabs(combination),
            Command::DefineTag(name, definition) => {
                define_listed_tag(self, &name, definition);
            }
            Command::DeleteView(name) => self.overlays.open(ViewDeletion(name)),
            Command::OpenDataset(dataset) => {
                self.open_dataset(dataset);
                self.panes.focus = Pane::Results;
            }
            Command::OpenDeployment(destination) => {
                self.jobs.leave(Effect::OpenDeployment(destination), &mut self.outbox);
            }
            Command::OpenTab(tab) => self.go_to_tab(tab),
            Command::OpenView(name) => open_saved_view(self, &name),
            Command::CustomCommand(position) => run_custom_command(self, position),
            Command::PlanModel(name) => get_model::plan(self, name),
            Command::RenameTag(name) => {
                let text = name.received().to_owned();
                self.overlays.open(TextPrompt::new(PromptPurpose::RenameTag(name), &text));
            }
            Command::RenameView(name) => ViewNameInput::open(&mut self.overlays, Some(name)),
            Command::RerunSearch(entry) => self.rerun_search(*entry),
            Command::SetTheme(theme) => self.panes.theme = theme,
            Command::SetTileSize(size) => self.panes.tile_size = size,
            Command::ShowFacts(facts) => self.overlays.open(facts),
            Command::Sort(order) => sort_by(self, order),
            Command::SortFiles(order) => sort_files(self, Some(order)),
        }
    }

    /// Returns the area of the open dialog. In text mode, this is the whole screen, so that nothing of the dialog is
    /// cut.
    pub fn overlay_area(&self) -> Option<Rect> {
        let area = self.overlays.current()?.area(self);
        Some(if self.setup.is_text {
            Rect::new(0, 0, self.screen.size.0, self.screen.size.1)
        } else {
            area
        })
    }

    /// Accepts a dialog at once, or after the status of its dataset is loaded.
    fn submit_dialog(&mut self, dialog: Box<dyn Dialog>) {
        let age = self.outbox.now.saturating_sub(self.service_data.datasets.updated_at());
        if dialog.operation().is_some() && age > MAX_STATUS_AGE {
            self.service_data.datasets.invalidate();
            self.overlays.submit_pending = true;
            self.overlays.open = Some(dialog);
        } else {
            dialog.accept(self);
        }
    }

    /// Sends the waiting form after the datasets were loaded, or keeps it open with the reason.
    pub(in crate::app) fn submit_held_form(&mut self) {
        if !mem::take(&mut self.overlays.submit_pending) {
            return;
        }
        let Some(dialog) = self.overlays.open.take() else { return };
        let refusal = dialog.operation().and_then(|(dataset, operation)| {
            availability::status_denial(self.service_data.dataset(dataset)?, operation)
        });
        match refusal {
            None => dialog.accept(self),
            Some(reason) => {
                self.outbox.notify(Level::Warning, format!("{reason} Nothing was sent."));
                self.overlays.open = Some(dialog);
            }
        }
    }

    /// Reports that the waiting form was not sent, because the datasets could not be loaded.
    pub(in crate::app) fn keep_form_open(&mut self, failure: &Failure) {
        if mem::take(&mut self.overlays.submit_pending) {
            let text = format!(
                "nothing was sent, because the dataset's status could not be loaded: {failure}"
            );
            self.outbox.notify(Level::Error, text);
        }
    }
}

impl DrawContext<'_> {
    /// Draws a picture, or a placeholder with the error. Returns the cells that the picture covers.
    pub(crate) fn draw_picture(
        &mut self,
        area: Rect,
        view: PictureView,
        canvas: Canvas,
    ) -> Option<Rect> {
        self.draw_picture_or(area, view, canvas, |reason| reason)
    }

    /// Draws one of several pictures. Each of them only says that it is missing, because the detail says why, and an
    /// outage would otherwise be explained many times.
    pub(crate) fn draw_tile_picture(&mut self, area: Rect, view: PictureView, canvas: Canvas) {
        self.draw_picture_or(area, view, canvas, |_| "not loaded");
    }

    fn draw_picture_or(
        &mut self,
        area: Rect,
        view: PictureView,
        canvas: Canvas,
        error_text: fn(&str) -> &str,
    ) -> Option<Rect> {
        let mut error = "";
        match self.app.service_data.pictures.get(&view, canvas) {
            Some(Ok(thumbnail)) => {
                let covered = self.layer.place(self.buf, area, (view, canvas), thumbnail);
                // A picture that covers no cells cannot be drawn beside a dialog.
                if covered.is_some() {
                    return covered;
                }
            }
            Some(Err(reason)) => error = error_text(reason.as_str()),
            None => {}
        }
        self.picture_placeholder(area, error);
        None
    }
}

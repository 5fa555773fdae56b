//! Dialogs, pickers and menus that lie over the panes and take the keys.
//!
//! A dialog is one file: its state, its keys, its size, its hints, its drawing, and what happens when it is accepted.
//! To add one, implement [`Dialog`] in a new file, list the file here, and open the dialog in an action with
//! `Overlays::open`.

pub mod add_media;
pub mod archive_inspector;
pub mod caption;
pub mod command_list;
pub mod export;
pub mod facets;
pub mod fact_sheet;
pub mod fields;
pub mod file_picker;
pub mod graphics_check;
pub mod help;
pub mod job_detail;
pub mod log;
pub mod login;
pub mod palette;
pub mod pick_list;
pub mod prompt;
mod region_edit;
pub mod region_picker;
pub mod reindex;
pub mod saved_views;
pub mod score_histogram;
pub(crate) mod selection_rows;
pub mod sort_filter;

use std::{any::Any, collections::BTreeMap, fmt::Debug, mem, time::Duration};

use ratatui::layout::Rect;
use tessera_model::{DatasetId, Failure, Operation};
use tessera_picture::{Canvas, PictureView};
use tui_input::Input;

use crate::{
    app::{App, Level, Mouse, availability, view::visible_pictures::VisiblePicture},
    drawing::Painter,
    input::Chord,
};

/// What dialogs and panes draw with: the state of the program, which drawing only reads, and the cells.
pub type DrawContext<'a> = Painter<'a, App>;

/// What a dialog wants after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyResult {
    Stay,
    Close,
    /// The dialog closes, and [`Dialog::accept`] is called.
    Accept,
}

/// A dialog: a plain value that handles keys and draws itself.
pub trait Dialog: Any + Debug + CloneDialog {
    /// Handles a key. `app` has no open dialog while this runs.
    fn handle_key(&mut self, chord: Chord, app: &App) -> KeyResult;

    /// Returns the columns and rows that the dialog needs with its frame. They are clipped to the
    /// screen.
    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16);

    /// Returns the keys of the dialog, for the last line of the screen.
    fn hints(&self) -> &'static str;

    fn draw(&self, ctx: &mut DrawContext, area: Rect);

    /// Returns the area on a screen of this size. A third of the free rows is above the dialog, and the notification
    /// and the hints are below it.
    fn area(&self, screen: (u16, u16)) -> Rect {
        const LINES_BELOW: u16 = 2;
        let (columns, rows) = self.preferred_size(screen);
        let height = rows.min(screen.1.saturating_sub(LINES_BELOW));
        let width = screen.0.min(columns);
        Rect { x: (screen.0 - width) / 2, y: (screen.1 - height) / 3, width, height }
    }

    /// Returns the text field that takes pasted text.
    fn text_input(&mut self) -> Option<&mut Input> {
        None
    }

    /// Moves the cursor of a dialog with items to one of them.
    fn select_item(&mut self, _index: usize, _app: &App) {}

    fn paste(&mut self, text: &str) {
        if let Some(input) = self.text_input() {
            fields::paste(input, text);
        }
    }

    fn handle_mouse(&mut self, _mouse: Mouse, _app: &App) {}

    fn visible_pictures(&self, _app: &App) -> Vec<VisiblePicture> {
        Vec::new()
    }

    /// Returns the operation that the dialog starts. The status of its dataset must be up to date before the operation
    /// starts.
    fn operation(&self) -> Option<(DatasetId, Operation)> {
        None
    }

    /// Does what the dialog was opened for. A dialog with invalid input opens itself again.
    fn accept(self: Box<Self>, _app: &mut App) {}
}

/// Copies a dialog whose type is not known.
pub trait CloneDialog {
    fn clone_dialog(&self) -> Box<dyn Dialog>;
}

impl<D: Dialog + Clone> CloneDialog for D {
    fn clone_dialog(&self) -> Box<dyn Dialog> {
        Box::new(self.clone())
    }
}

impl dyn Dialog {
    /// Returns whether typed text goes into a field of the dialog.
    pub fn takes_text(&self) -> bool {
        self.clone_dialog().text_input().is_some()
    }
}

/// The open dialog, and what dialogs remember when they close.
#[derive(Debug, Default)]
pub struct Overlays {
    open: Option<Box<dyn Dialog>>,
    /// Earlier input in the palette, newest first.
    pub(in crate::app) palette_history: Vec<String>,
    /// How often each action was picked from the menu or the palette, by its name.
    pub(in crate::app) picked_actions: BTreeMap<String, u32>,
    /// Whether the open form waits for the status of its dataset.
    submit_pending: bool,
}

impl Overlays {
    pub(in crate::app) fn new(picked_actions: BTreeMap<String, u32>) -> Self {
        Self { picked_actions, ..Self::default() }
    }

    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    pub fn current(&self) -> Option<&dyn Dialog> {
        self.open.as_deref()
    }

    /// Returns the open dialog, if it is of this type.
    pub fn dialog<D: Dialog>(&self) -> Option<&D> {
        let dialog: &dyn Any = self.open.as_deref()?;
        dialog.downcast_ref()
    }

    pub(in crate::app) fn dialog_mut<D: Dialog>(&mut self) -> Option<&mut D> {
        let dialog: &mut dyn Any = self.open.as_deref_mut()?;
        dialog.downcast_mut()
    }

    pub fn submit_pending(&self) -> bool {
        self.submit_pending
    }

    pub(in crate::app) fn open(&mut self, dialog: impl Dialog) {
        self.open = Some(Box::new(dialog));
    }

    pub(in crate::app) fn close(&mut self) {
        self.open = None;
    }
}

/// A form that changes a dataset is sent only if the status of the dataset was loaded within this time.
const MAX_STATUS_AGE: Duration = Duration::from_secs(5);

impl App {
    /// Lets the open dialog handle a key. Returns whether a dialog is open.
    pub(in crate::app) fn overlay_key(&mut self, chord: Chord) -> bool {
        let Some(mut dialog) = self.overlays.open.take() else { return false };
        // Another key withdraws a form that waits for the dataset's status.
        self.overlays.submit_pending = false;
        match dialog.handle_key(chord, self) {
            KeyResult::Stay => self.overlays.open = Some(dialog),
            KeyResult::Close => {}
            KeyResult::Accept => self.submit_dialog(dialog),
        }
        true
    }

    /// Lets the open dialog handle the mouse, which never reaches the panes meanwhile. Returns whether a dialog is
    /// open.
    pub(in crate::app) fn overlay_mouse(&mut self, mouse: Mouse) -> bool {
        let Some(mut dialog) = self.overlays.open.take() else { return false };
        dialog.handle_mouse(mouse, self);
        self.overlays.open = Some(dialog);
        true
    }

    /// Moves the cursor of the open dialog to an item. Returns whether a dialog is open.
    pub(in crate::app) fn select_in_overlay(&mut self, index: usize) -> bool {
        let Some(mut dialog) = self.overlays.open.take() else { return false };
        dialog.select_item(index, self);
        self.overlays.open = Some(dialog);
        true
    }

    /// Inserts pasted text into a text field, or ignores it. Pasted text never acts as keys.
    pub(in crate::app) fn paste(&mut self, text: &str) {
        if let Some(dialog) = &mut self.overlays.open {
            dialog.paste(text);
        } else if self.query.is_editing_query(self.panes.focus, &self.results) {
            self.query.paste(text, &self.results);
        }
    }

    /// Returns the area of the open dialog. In text mode, this is the whole screen, so that nothing of the dialog is
    /// cut.
    pub fn overlay_area(&self) -> Option<Rect> {
        let area = self.overlays.current()?.area(self.screen.size);
        Some(if self.setup.is_text() {
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
        let mut error = "";
        match self.app.service_data.pictures.get(&view, canvas) {
            Some(Ok(thumbnail)) => {
                let covered = self.layer.place(self.buf, area, (view, canvas), thumbnail);
                // A picture that covers no cells cannot be drawn beside a dialog.
                if covered.is_some() {
                    return covered;
                }
            }
            Some(Err(reason)) => error = reason.as_str(),
            None => {}
        }
        self.picture_placeholder(area, error);
        None
    }
}

//! What every overlay implements, and how keys, the mouse and pasted text reach the open one.

use ratatui::layout::Rect;
use tessera_model::{DatasetId, Operation};
use tui_input::Input;

use super::{Overlay, text_field, with_dialog};
use crate::{
    app::{App, Mouse, view::visible_pictures::VisiblePicture},
    input::Chord,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::app) enum KeyResult {
    Stay,
    Close,
    /// It closes, and [`Dialog::accept`] is called.
    Accept,
}

pub(in crate::app) trait Dialog: Sized {
    /// Handles a key. `App::overlay` is empty meanwhile.
    fn handle_key(&mut self, chord: Chord, app: &App) -> KeyResult;

    /// The size including the frame (columns, rows); clipped to the room on the screen.
    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16);

    fn hints(&self) -> &'static str;

    /// The area on a screen of this size: centered, a third of the free rows above it, and the notification and
    /// the hints below it.
    fn area(&self, screen: (u16, u16)) -> Rect {
        const LINES_BELOW: u16 = 2;
        let (columns, rows) = self.preferred_size(screen);
        let height = rows.min(screen.1.saturating_sub(LINES_BELOW));
        let width = screen.0.min(columns);
        Rect { x: (screen.0 - width) / 2, y: (screen.1 - height) / 3, width, height }
    }

    /// The text field that takes pasted text.
    fn text_input(&mut self) -> Option<&mut Input> {
        None
    }

    /// Moves its cursor to an item, if it has items.
    fn select_item(&mut self, _index: usize, _app: &App) {}

    fn paste(&mut self, text: &str) {
        if let Some(input) = self.text_input() {
            text_field::paste(input, text);
        }
    }

    fn handle_mouse(&mut self, _mouse: Mouse, _app: &App) {}

    fn visible_pictures(&self, _app: &App) -> Vec<VisiblePicture> {
        Vec::new()
    }

    /// The operation that starts when it is accepted: it needs an up-to-date dataset status.
    fn operation(&self) -> Option<(DatasetId, Operation)> {
        None
    }

    /// Does what it was opened for. An overlay with invalid input opens itself again.
    fn accept(self, _app: &mut App) {}
}

impl Overlay {
    pub fn area(&self, screen: (u16, u16)) -> Rect {
        with_dialog!(self, dialog => dialog.area(screen))
    }

    pub fn hints(&self) -> &'static str {
        with_dialog!(self, dialog => dialog.hints())
    }

    /// Whether typed text goes into a field of it.
    pub fn takes_text(&self) -> bool {
        let mut copy = self.clone();
        with_dialog!(&mut copy, dialog => dialog.text_input().is_some())
    }

    pub(in crate::app) fn visible_pictures(&self, app: &App) -> Vec<VisiblePicture> {
        with_dialog!(self, dialog => dialog.visible_pictures(app))
    }

    pub(in crate::app) fn operation(&self) -> Option<(DatasetId, Operation)> {
        with_dialog!(self, dialog => dialog.operation())
    }
}

impl App {
    pub(in crate::app) fn overlay_key(&mut self, mut overlay: Overlay, chord: Chord) {
        // Another key withdraws a form that waits for the dataset's status.
        self.overlays.submit_pending = false;
        match with_dialog!(&mut overlay, dialog => dialog.handle_key(chord, self)) {
            KeyResult::Stay => self.overlays.open(overlay),
            KeyResult::Close => {}
            KeyResult::Accept => self.submit_overlay(overlay),
        }
    }

    /// The mouse never reaches the panes while an overlay is open.
    pub(in crate::app) fn overlay_mouse(&mut self, mut overlay: Overlay, mouse: Mouse) {
        with_dialog!(&mut overlay, dialog => dialog.handle_mouse(mouse, self));
        self.overlays.open(overlay);
    }

    /// Pasted text is inserted into a text field or ignored; it never acts as keys.
    pub(in crate::app) fn paste(&mut self, text: &str) {
        if let Some(overlay) = self.overlays.current_mut() {
            with_dialog!(overlay, dialog => dialog.paste(text));
        } else if self.is_editing_query() {
            self.paste_in_query(text);
        }
    }

    /// The area of the open dialog. As text, nothing of it is cut.
    pub fn overlay_area(&self) -> Option<Rect> {
        let area = self.overlays.current()?.area(self.screen.size);
        Some(if self.is_text() {
            Rect::new(0, 0, self.screen.size.0, self.screen.size.1)
        } else {
            area
        })
    }

    /// Moves the cursor of the open dialog to an item. Returns whether a dialog is open.
    pub(in crate::app) fn select_in_overlay(&mut self, index: usize) -> bool {
        let Some(mut overlay) = self.overlays.take() else { return false };
        with_dialog!(&mut overlay, dialog => dialog.select_item(index, self));
        self.overlays.open(overlay);
        true
    }

    pub(in crate::app) fn accept_overlay(&mut self, overlay: Overlay) {
        with_dialog!(overlay, dialog => dialog.accept(self));
    }
}

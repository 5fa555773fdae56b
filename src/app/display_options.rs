//! How the program looks and what it takes from the terminal, changed while it runs.

use crate::app::{App, Effect, Level};

impl App {
    /// Takes the next theme, and names it.
    pub(in crate::app) fn next_theme(&mut self) {
        self.theme = self.theme.next(&self.setup.theme);
        let text = format!("theme {}; `theme` in the settings keeps it", self.theme.word());
        self.notify(Level::Success, text);
    }

    /// Leaves the mouse to the terminal, or takes it again.
    pub(in crate::app) fn toggle_mouse(&mut self) {
        self.mouse_captured = !self.mouse_captured;
        self.effects.push(Effect::CaptureMouse(self.mouse_captured));
        let text = if self.mouse_captured {
            "the mouse is ours; hold Shift to select text"
        } else {
            "the mouse is the terminal's: it selects text"
        };
        self.notify(Level::Success, text);
    }
}

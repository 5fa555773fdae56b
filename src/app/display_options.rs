//! Display options that change while the program runs: theme and mouse.

use crate::app::{App, Effect, Level};

impl App {
    pub(super) fn next_theme(&mut self) {
        self.theme = self.theme.next(&self.setup.theme);
        let text = format!("theme {}; save it as `ui.theme` in the settings", self.theme.as_str());
        self.notify(Level::Success, text);
    }

    pub(super) fn toggle_mouse(&mut self) {
        self.mouse_captured = !self.mouse_captured;
        self.effects.push(Effect::CaptureMouse(self.mouse_captured));
        let text = if self.mouse_captured {
            "mouse captured; hold Shift to select text"
        } else {
            "mouse released: it selects text"
        };
        self.notify(Level::Success, text);
    }
}

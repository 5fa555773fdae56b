//! Display options that change while the program runs: theme and mouse.

use crate::app::{App, Effect, Level};

impl App {
    pub(super) fn next_theme(&mut self) {
        self.panes.theme = self.panes.theme.next(&self.setup.theme);
        let text =
            format!("theme {}; save it as `ui.theme` in the settings", self.panes.theme.as_str());
        self.outbox.notify(Level::Success, text);
    }

    pub(super) fn toggle_mouse(&mut self) {
        self.screen.mouse_captured = !self.screen.mouse_captured;
        self.outbox.push(Effect::CaptureMouse(self.screen.mouse_captured));
        let text = if self.screen.mouse_captured {
            "mouse captured; hold Shift to select text"
        } else {
            "mouse released: it selects text"
        };
        self.outbox.notify(Level::Success, text);
    }
}

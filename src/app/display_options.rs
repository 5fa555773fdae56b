//! Display options that change while the program runs: theme and mouse.

use crate::app::{App, Effect, Level};

impl Panes {
    pub(in crate::app) fn next_theme(&mut self, setup: &Setup, outbox: &mut Outbox) {
        self.theme = self.theme.next(&setup.theme);
        let text =
            format!("theme {}; save it as `ui.theme` in the settings", self.theme.as_str());
        outbox.notify(Level::Success, text);
    }
}

impl Screen {
    pub(in crate::app) fn toggle_mouse(&mut self, outbox: &mut Outbox) {
        self.mouse_captured = !self.mouse_captured;
        outbox.push(Effect::CaptureMouse(self.mouse_captured));
        let text = if self.mouse_captured {
            "mouse captured; hold Shift to select text"
        } else {
            "mouse released: it selects text"
        };
        outbox.notify(Level::Success, text);
    }
}

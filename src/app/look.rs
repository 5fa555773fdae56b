//! How the program looks and what it takes from the terminal, changed while it runs.

use crate::app::{App, Effect, Level};

impl App {
    /// Takes the next theme, and names it.
    pub(in crate::app) fn next_theme(&mut self) {
        self.theme = self.theme.next(&self.setup.theme);
        let text = format!("theme {}; `theme` in the settings keeps it", self.theme.word());
        self.notices.add(self.now, Level::Success, text);
    }

    /// Leaves the mouse to the terminal, or takes it again.
    pub(in crate::app) fn toggle_mouse(&mut self, effects: &mut Vec<Effect>) {
        self.mouse = !self.mouse;
        effects.push(Effect::Mouse(self.mouse));
        let text = if self.mouse {
            "the mouse is ours; hold Shift to select text"
        } else {
            "the mouse is the terminal's: it selects text"
        };
        self.notices.add(self.now, Level::Success, text);
    }
}

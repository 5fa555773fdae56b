//! From keys to actions. The overlay on top gets all keys.

use crate::{
    app::{App, Mouse, Uptime},
    input::{Chord, Key, KeyMatch},
};
use tessera_model::SafeText;

/// Input that is not complete, and what is under the mouse.
#[derive(Debug, Default)]
pub(in crate::app) struct InputState {
    pub pending_keys: Vec<Chord>,
    /// Whether the panes show jump labels, and the next key jumps.
    pub jump_mode: bool,
    pub last_click: Option<(Uptime, Mouse)>,
    /// The full text of what is under the mouse, as far as the screen cuts or abbreviates it.
    pub hover: Option<SafeText>,
}

impl App {
    pub(super) fn handle_key(&mut self, chord: Chord) {
        self.input.hover = None;
        // Ctrl-C stops or quits from anywhere, also from a text field.
        if self.overlays.is_open() && chord.ctrl && chord.key == Key::Char('c') {
            self.stop_or_quit();
        } else if self.overlay_key(chord) {
            // The open dialog has handled the key.
        } else if self.input.jump_mode {
            self.jump(chord);
        } else if !(self.is_editing_query() && self.handle_query_key(chord)) {
            self.input.pending_keys.push(chord);
            let resolved = self.setup.keymap.resolve(&self.contexts(), &self.input.pending_keys);
            if resolved != KeyMatch::Pending {
                self.input.pending_keys.clear();
            }
            if let KeyMatch::Action(action) = resolved {
                self.perform(action);
            }
        }
    }
}

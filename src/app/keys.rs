//! From keys to actions. The overlay on top gets all keys.

use crate::{
    app::App,
    input::{Chord, Key, KeyMatch},
};

impl App {
    pub(super) fn handle_key(&mut self, chord: Chord) {
        self.hover = None;
        // Ctrl-C stops or quits from anywhere, also from a text field.
        if self.overlays.is_open() && chord.ctrl && chord.key == Key::Char('c') {
            self.stop_or_quit();
        } else if self.overlay_key(chord) {
            // The open dialog has handled the key.
        } else if self.jump_mode {
            self.jump(chord);
        } else if !(self.is_editing_query() && self.handle_query_key(chord)) {
            self.pending_keys.push(chord);
            let resolved = self.setup.keymap.resolve(&self.contexts(), &self.pending_keys);
            if resolved != KeyMatch::Pending {
                self.pending_keys.clear();
            }
            if let KeyMatch::Action(action) = resolved {
                self.perform(action);
            }
        }
    }
}

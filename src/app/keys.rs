//! From keys to actions. Keys go to the top layer only.

use crate::{
    app::{App, Effect},
    input::{Chord, Key, Resolved},
};

impl App {
    /// A key: to the layer on top, or through the keymap.
    pub(in crate::app) fn key(&mut self, chord: Chord, effects: &mut Vec<Effect>) {
        // Ctrl-C stops and leaves from anywhere, also out of a text field.
        if self.overlay.is_some() && chord.ctrl && chord.key == Key::Char('c') {
            self.stop(effects);
        } else if let Some(overlay) = self.overlay.take() {
            self.key_in_overlay(overlay, chord, effects);
        } else if self.jumping {
            self.jump(chord);
        } else if !(self.is_writing_query() && self.key_in_query(chord)) {
            self.keys.push(chord);
            let resolved = self.setup.keymap.resolve(&self.contexts(), &self.keys);
            if resolved != Resolved::Pending {
                self.keys.clear();
            }
            if let Resolved::Action(action) = resolved {
                self.act(action, effects);
            }
        }
    }
}

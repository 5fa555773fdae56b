//! The help: scrolled like any text, and searched with `/`.

use tui_input::Input;

use crate::{
    app::overlay::{KeyResult, ScrollState, text_field::edit},
    input::{Chord, Key},
};

/// The open help.
#[derive(Clone, Debug, Default)]
pub struct Help {
    /// How far it is scrolled.
    pub scroll: ScrollState,
    /// What is searched for; empty shows everything.
    pub query: Input,
    /// Whether the keys go to the line that is searched for.
    pub searching: bool,
}

impl Help {
    /// Takes a key.
    pub fn handle_key(&mut self, chord: Chord) -> KeyResult {
        match (self.searching, chord.key) {
            (false, Key::Char('/')) => self.searching = true,
            (false, Key::Esc) if !self.query.value().is_empty() => self.query.reset(),
            (false, _) => return self.scroll.handle_key(chord),
            (true, Key::Esc) => {
                self.query.reset();
                self.searching = false;
            }
            (true, Key::Enter) => self.searching = false,
            (true, _) => {
                edit(&mut self.query, chord);
                self.scroll = ScrollState::default();
            }
        }
        KeyResult::Stay
    }

    /// The text field that takes what is pasted, while it is open.
    pub fn text_input(&mut self) -> Option<&mut Input> {
        self.searching.then_some(&mut self.query)
    }
}

//! The help: scrolled like any text, and searched with `/`.

use tui_input::Input;

use crate::{
    app::overlay::{Press, Scroll, field::edit},
    input::{Chord, Key},
};

/// The open help.
#[derive(Clone, Debug, Default)]
pub struct Help {
    /// How far it is scrolled.
    pub scroll: Scroll,
    /// What is searched for; empty shows everything.
    pub typed: Input,
    /// Whether the keys go to the line that is searched for.
    pub searching: bool,
}

impl Help {
    /// Takes a key.
    pub fn key(&mut self, chord: Chord) -> Press {
        match (self.searching, chord.key) {
            (false, Key::Char('/')) => self.searching = true,
            (false, Key::Esc) if !self.typed.value().is_empty() => self.typed.reset(),
            (false, _) => return self.scroll.key(chord),
            (true, Key::Esc) => {
                self.typed.reset();
                self.searching = false;
            }
            (true, Key::Enter) => self.searching = false,
            (true, _) => {
                edit(&mut self.typed, chord);
                self.scroll = Scroll::default();
            }
        }
        Press::Stay
    }

    /// The text field that takes what is pasted, while it is open.
    pub fn text(&mut self) -> Option<&mut Input> {
        self.searching.then_some(&mut self.typed)
    }
}

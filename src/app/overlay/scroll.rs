//! A text that is only read: scrolled by the keys that move everywhere else.

use crate::{
    app::overlay::Press,
    input::{Chord, Key},
};

/// Lines of a screenful, for the keys that move by one.
const SCREEN: usize = 10;

/// How far a text is scrolled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scroll {
    /// The first line on screen; the view stops it at the last one.
    pub top: usize,
}

impl Scroll {
    /// Takes a key.
    pub fn key(&mut self, chord: Chord) -> Press {
        self.top = match chord.key {
            Key::Up | Key::Char('k') => self.top.saturating_sub(1),
            Key::Down | Key::Char('j') => self.top.saturating_add(1),
            Key::PageUp => self.top.saturating_sub(SCREEN),
            Key::PageDown | Key::Char(' ') => self.top.saturating_add(SCREEN),
            Key::Char('u') if chord.ctrl => self.top.saturating_sub(SCREEN),
            Key::Char('d') if chord.ctrl => self.top.saturating_add(SCREEN),
            Key::Home | Key::Char('g') => 0,
            Key::Esc | Key::Enter | Key::Char('q' | '?') => return Press::Leave,
            _ => self.top,
        };
        Press::Stay
    }
}

//! Scrolling of a read-only text.

use super::KeyResult;
use crate::input::{Chord, Key};

/// Lines that `PgUp` and `PgDn` scroll by.
const PAGE_LINES: usize = 10;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScrollState {
    /// The first line on screen; drawing limits it to the last one.
    pub top: usize,
}

impl ScrollState {
    pub(super) fn handle_key(&mut self, chord: Chord) -> KeyResult {
        self.top = match chord.key {
            Key::Up | Key::Char('k') => self.top.saturating_sub(1),
            Key::Down | Key::Char('j') => self.top.saturating_add(1),
            Key::PageUp => self.top.saturating_sub(PAGE_LINES),
            Key::PageDown | Key::Char(' ') => self.top.saturating_add(PAGE_LINES),
            Key::Char('u') if chord.ctrl => self.top.saturating_sub(PAGE_LINES),
            Key::Char('d') if chord.ctrl => self.top.saturating_add(PAGE_LINES),
            Key::Home | Key::Char('g') => 0,
            Key::Esc | Key::Enter | Key::Char('q' | '?') => return KeyResult::Close,
            _ => self.top,
        };
        KeyResult::Stay
    }
}

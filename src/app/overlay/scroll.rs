//! Scrolling of a read-only text.

use super::KeyResult;
use crate::input::{Chord, Key};

/// Lines that `PgUp` and `PgDn` scroll by.
const PAGE_LINES: isize = 10;

/// The part of a text that is on screen. How long the text is, only its drawing knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScrollState {
    /// Lines above the screen; from the end, lines below it.
    offset: usize,
    from_end: bool,
}

impl ScrollState {
    /// The first line on screen, where `last` is the one that shows the end of the text.
    pub fn top(self, last: usize) -> usize {
        if self.from_end { last.saturating_sub(self.offset) } else { self.offset.min(last) }
    }

    pub(super) fn handle_key(&mut self, chord: Chord) -> KeyResult {
        match chord.key {
            Key::Up | Key::Char('k') => self.scroll(-1),
            Key::Down | Key::Char('j') => self.scroll(1),
            Key::PageUp => self.scroll(-PAGE_LINES),
            Key::PageDown | Key::Char(' ') => self.scroll(PAGE_LINES),
            Key::Char('u') if chord.ctrl => self.scroll(-PAGE_LINES),
            Key::Char('d') if chord.ctrl => self.scroll(PAGE_LINES),
            Key::Home | Key::Char('g') => *self = Self::default(),
            Key::End | Key::Char('G') => *self = Self { offset: 0, from_end: true },
            Key::Esc | Key::Enter | Key::Char('q' | '?') => return KeyResult::Close,
            _ => {}
        }
        KeyResult::Stay
    }

    pub(super) fn scroll(&mut self, by: isize) {
        let by = if self.from_end { -by } else { by };
        self.offset = self.offset.saturating_add_signed(by);
    }
}

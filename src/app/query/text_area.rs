//! A multi-line text area: the JSON of a query.

use crate::input::{Chord, Key};

/// The service accepts queries up to 64 KiB.
const MAX_BYTES: usize = 64 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextArea {
    lines: Vec<String>,
    /// 0-based.
    pub line: usize,
    /// In characters, 0-based.
    pub column: usize,
}

impl TextArea {
    pub fn new(text: &str) -> Self {
        let lines = text.split('\n').map(|line| line.trim_end_matches('\r').to_owned());
        Self { lines: lines.collect(), line: 0, column: 0 }
    }

    /// At least one line.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    pub fn text(&self) -> String {
        self.lines.join("\n")
    }

    pub fn handle_key(&mut self, chord: Chord) {
        match chord.key {
            Key::Char(c) if !chord.ctrl && !chord.alt => self.insert(c),
            Key::Enter => self.insert('\n'),
            Key::Backspace => {
                if self.step_back() {
                    self.delete();
                }
            }
            Key::Delete => self.delete(),
            Key::Left => _ = self.step_back(),
            Key::Right => self.step_forward(),
            Key::Up => self.set_cursor(self.line.saturating_sub(1), self.column),
            Key::Down => self.set_cursor(self.line + 1, self.column),
            Key::Home => self.column = 0,
            Key::End => self.column = self.line_len(self.line),
            Key::Char(_) | Key::Esc | Key::Tab | Key::PageUp | Key::PageDown | Key::F(_) => {}
        }
    }

    pub fn insert(&mut self, c: char) {
        if self.lines.iter().map(String::len).sum::<usize>() >= MAX_BYTES {
            return;
        }
        let at = self.cursor_byte();
        let Some(line) = self.lines.get_mut(self.line) else { return };
        if c == '\n' {
            let rest = line.split_off(at);
            self.lines.insert(self.line + 1, rest);
            self.set_cursor(self.line + 1, 0);
        } else if !c.is_control() {
            line.insert(at, c);
            self.column += 1;
        }
    }

    fn delete(&mut self) {
        let at = self.cursor_byte();
        if self.column < self.line_len(self.line) {
            self.lines[self.line].remove(at);
        } else if self.line + 1 < self.lines.len() {
            let next = self.lines.remove(self.line + 1);
            self.lines[self.line].push_str(&next);
        }
    }

    /// Moves back by a character; `false` at the beginning.
    fn step_back(&mut self) -> bool {
        match (self.line, self.column) {
            (0, 0) => return false,
            (line, 0) => self.set_cursor(line - 1, usize::MAX),
            (line, column) => self.set_cursor(line, column - 1),
        }
        true
    }

    fn step_forward(&mut self) {
        if self.column < self.line_len(self.line) {
            self.column += 1;
        } else if self.line + 1 < self.lines.len() {
            self.set_cursor(self.line + 1, 0);
        }
    }

    fn set_cursor(&mut self, line: usize, column: usize) {
        self.line = line.min(self.lines.len().saturating_sub(1));
        self.column = column.min(self.line_len(self.line));
    }

    fn line_len(&self, line: usize) -> usize {
        self.lines.get(line).map_or(0, |line| line.chars().count())
    }

    /// The position of the cursor in its line, in bytes.
    fn cursor_byte(&self) -> usize {
        let line = self.lines.get(self.line).map_or("", String::as_str);
        line.char_indices().nth(self.column).map_or(line.len(), |(at, _)| at)
    }
}

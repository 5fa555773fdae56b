//! Contains terminal input: actions, key presses (chords), the keymap that binds them by context, and the sequences
//! that terminals send.

use std::{fmt, str::FromStr};

pub mod action;
pub mod keymap;
mod sequence;
mod terminal_input;

pub use action::{Action, ActionGroup};
pub use keymap::{KeyContext, KeyMatch, Keymap, parse_sequence};
pub use sequence::{Sequence, SequenceSplitter};
pub use terminal_input::{Mouse, MouseKind, TerminalInput, decode};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key {
    /// A character to which Shift is already applied.
    Char(char),
    F(u8),
    Enter,
    Esc,
    Tab,
    Backspace,
    Delete,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
}

struct NamedKey {
    key: Key,
    /// The name of the key in the key file.
    name: &'static str,
    label: &'static str,
}

const fn named(key: Key, name: &'static str, label: &'static str) -> NamedKey {
    NamedKey { key, name, label }
}

const NAMED_KEYS: [NamedKey; 14] = [
    named(Key::Enter, "enter", "Enter"),
    named(Key::Esc, "esc", "Esc"),
    named(Key::Tab, "tab", "Tab"),
    named(Key::Backspace, "backspace", "Backspace"),
    named(Key::Delete, "delete", "Del"),
    named(Key::Up, "up", "↑"),
    named(Key::Down, "down", "↓"),
    named(Key::Left, "left", "←"),
    named(Key::Right, "right", "→"),
    named(Key::Home, "home", "Home"),
    named(Key::End, "end", "End"),
    named(Key::PageUp, "pageup", "PgUp"),
    named(Key::PageDown, "pagedown", "PgDn"),
    named(Key::Char(' '), "space", "Space"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Chord {
    pub key: Key,
    pub ctrl: bool,
    pub alt: bool,
    pub shift: bool,
}

impl Chord {
    pub fn plain(key: Key) -> Self {
        Self { key, ctrl: false, alt: false, shift: false }
    }

    /// Returns the character that this chord types into a text field.
    pub fn typed(self) -> Option<char> {
        match self.key {
            Key::Char(c) if !self.ctrl && !self.alt => Some(c),
            _ => None,
        }
    }
}

impl FromStr for Chord {
    type Err = String;

    /// Parses a chord such as `q`, `?`, `ctrl-p`, `shift-tab`, `f1` or `space`.
    fn from_str(written: &str) -> Result<Self, String> {
        let mut chord = Self::plain(Key::Esc);
        let mut rest = written;
        while let Some((modifier, tail)) = rest.split_once('-') {
            match modifier {
                "ctrl" => chord.ctrl = true,
                "alt" => chord.alt = true,
                "shift" => chord.shift = true,
                _ => break,
            }
            rest = tail;
        }
        chord.key = parse_key(rest).ok_or_else(|| {
            format!("`{written}` is not a key: write one character, f1 to f12, or a name such as enter, esc, tab, space, up")
        })?;
        Ok(chord)
    }
}

fn parse_key(written: &str) -> Option<Key> {
    let mut chars = written.chars();
    if let (Some(c), None) = (chars.next(), chars.next()) {
        return Some(Key::Char(c));
    }
    if let Some(named) = NAMED_KEYS.iter().find(|named| named.name == written) {
        return Some(named.key);
    }
    let number: u8 = written.strip_prefix('f')?.parse().ok()?;
    (1..=12).contains(&number).then_some(Key::F(number))
}

impl fmt::Display for Chord {
    /// Prints the label of the key, such as `Ctrl-P`, `Enter` or `?`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (pressed, name) in [(self.ctrl, "Ctrl-"), (self.alt, "Alt-"), (self.shift, "Shift-")] {
            if pressed {
                f.write_str(name)?;
            }
        }
        if let Some(named) = NAMED_KEYS.iter().find(|named| named.key == self.key) {
            return f.write_str(named.label);
        }
        match self.key {
            Key::Char(c) if self.ctrl => write!(f, "{}", c.to_uppercase()),
            Key::Char(c) => write!(f, "{c}"),
            Key::F(number) => write!(f, "F{number}"),
            key => write!(f, "{key:?}"),
        }
    }
}

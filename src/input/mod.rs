//! Contains keyboard input: actions, key presses (chords), and the keymap that binds them by
//! context.

use std::{fmt, str::FromStr};

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

pub mod action;
pub mod keymap;

pub use action::{Action, ActionGroup};
pub use keymap::{KeyContext, KeyMatch, Keymap};

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
    code: KeyCode,
}

const fn named(key: Key, name: &'static str, label: &'static str, code: KeyCode) -> NamedKey {
    NamedKey { key, name, label, code }
}

const NAMED_KEYS: [NamedKey; 14] = [
    named(Key::Enter, "enter", "Enter", KeyCode::Enter),
    named(Key::Esc, "esc", "Esc", KeyCode::Esc),
    named(Key::Tab, "tab", "Tab", KeyCode::Tab),
    named(Key::Backspace, "backspace", "Backspace", KeyCode::Backspace),
    named(Key::Delete, "delete", "Del", KeyCode::Delete),
    named(Key::Up, "up", "↑", KeyCode::Up),
    named(Key::Down, "down", "↓", KeyCode::Down),
    named(Key::Left, "left", "←", KeyCode::Left),
    named(Key::Right, "right", "→", KeyCode::Right),
    named(Key::Home, "home", "Home", KeyCode::Home),
    named(Key::End, "end", "End", KeyCode::End),
    named(Key::PageUp, "pageup", "PgUp", KeyCode::PageUp),
    named(Key::PageDown, "pagedown", "PgDn", KeyCode::PageDown),
    named(Key::Char(' '), "space", "Space", KeyCode::Char(' ')),
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

    /// Converts a terminal's report. Returns `None` for key releases and unsupported keys.
    pub fn from_terminal(event: KeyEvent) -> Option<Self> {
        if event.kind == KeyEventKind::Release {
            return None;
        }
        let mut shift = event.modifiers.contains(KeyModifiers::SHIFT);
        let key = match event.code {
            KeyCode::Char(c) => {
                let c = if shift && c.is_lowercase() { c.to_uppercase().next()? } else { c };
                shift = false;
                Key::Char(c)
            }
            KeyCode::BackTab => {
                shift = true;
                Key::Tab
            }
            KeyCode::F(number @ 1..=12) => Key::F(number),
            code => NAMED_KEYS.iter().find(|named| named.code == code)?.key,
        };
        let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        let alt = event.modifiers.contains(KeyModifiers::ALT);
        Some(Self { key, ctrl, alt, shift })
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

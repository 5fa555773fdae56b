//! One key press, as it is written in the key file and as a terminal reports it.
//!
//! Terminals differ in how they report shifted letters. A chord normalizes this: `G` is always the
//! letter G, and `shift` is kept only for keys without a shifted character.

use std::{fmt, str::FromStr};

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// A key without its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key {
    /// A character, with Shift already applied.
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

/// The keys that are written by name.
const KEY_NAMES: [(&str, Key); 14] = [
    ("enter", Key::Enter),
    ("esc", Key::Esc),
    ("tab", Key::Tab),
    ("backspace", Key::Backspace),
    ("delete", Key::Delete),
    ("up", Key::Up),
    ("down", Key::Down),
    ("left", Key::Left),
    ("right", Key::Right),
    ("home", Key::Home),
    ("end", Key::End),
    ("pageup", Key::PageUp),
    ("pagedown", Key::PageDown),
    ("space", Key::Char(' ')),
];

/// A key with its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Chord {
    pub key: Key,
    pub ctrl: bool,
    pub alt: bool,
    pub shift: bool,
}

impl Chord {
    /// A key without modifiers.
    pub fn plain(key: Key) -> Self {
        Self { key, ctrl: false, alt: false, shift: false }
    }

    /// The character this chord types into a text field.
    pub fn typed(self) -> Option<char> {
        match self.key {
            Key::Char(c) if !self.ctrl && !self.alt => Some(c),
            _ => None,
        }
    }

    /// Converts a terminal's report. `None` for key releases and unsupported keys.
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
            KeyCode::Enter => Key::Enter,
            KeyCode::Esc => Key::Esc,
            KeyCode::Tab => Key::Tab,
            KeyCode::Backspace => Key::Backspace,
            KeyCode::Delete => Key::Delete,
            KeyCode::Up => Key::Up,
            KeyCode::Down => Key::Down,
            KeyCode::Left => Key::Left,
            KeyCode::Right => Key::Right,
            KeyCode::Home => Key::Home,
            KeyCode::End => Key::End,
            KeyCode::PageUp => Key::PageUp,
            KeyCode::PageDown => Key::PageDown,
            _ => return None,
        };
        let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        let alt = event.modifiers.contains(KeyModifiers::ALT);
        Some(Self { key, ctrl, alt, shift })
    }
}

impl FromStr for Chord {
    type Err = String;

    /// Parses `q`, `?`, `ctrl-p`, `shift-tab`, `f1`, `space`.
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
    if let Some(&(_, key)) = KEY_NAMES.iter().find(|(name, _)| *name == written) {
        return Some(key);
    }
    let number: u8 = written.strip_prefix('f')?.parse().ok()?;
    (1..=12).contains(&number).then_some(Key::F(number))
}

impl fmt::Display for Chord {
    /// Prints the key's label: `Ctrl-P`, `Enter`, `?`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (pressed, name) in [(self.ctrl, "Ctrl-"), (self.alt, "Alt-"), (self.shift, "Shift-")] {
            if pressed {
                f.write_str(name)?;
            }
        }
        match self.key {
            Key::Char(' ') => f.write_str("Space"),
            Key::Char(c) if self.ctrl => write!(f, "{}", c.to_uppercase()),
            Key::Char(c) => write!(f, "{c}"),
            Key::F(number) => write!(f, "F{number}"),
            Key::Enter => f.write_str("Enter"),
            Key::Esc => f.write_str("Esc"),
            Key::Tab => f.write_str("Tab"),
            Key::Backspace => f.write_str("Backspace"),
            Key::Delete => f.write_str("Del"),
            Key::Up => f.write_str("↑"),
            Key::Down => f.write_str("↓"),
            Key::Left => f.write_str("←"),
            Key::Right => f.write_str("→"),
            Key::Home => f.write_str("Home"),
            Key::End => f.write_str("End"),
            Key::PageUp => f.write_str("PgUp"),
            Key::PageDown => f.write_str("PgDn"),
        }
    }
}

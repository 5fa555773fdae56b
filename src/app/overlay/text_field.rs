//! Single-line text fields, and the paths typed into them.

use std::path::{Path, PathBuf};

use tui_input::{Input, InputRequest};

use super::KeyResult;
use crate::input::{Chord, Key};

/// A typed path: `~/` is `home`, and an empty path the working directory.
pub fn expand_path(typed: &str, home: Option<&Path>) -> PathBuf {
    let typed = typed.trim();
    match (typed.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ if typed.is_empty() => PathBuf::from("."),
        _ => PathBuf::from(typed),
    }
}

/// Splits a line at spaces that are not quoted or escaped, as a shell does. Terminals paste dropped
/// files like that. A line with an open quote is one word, and so is one that begins with `#`, which
/// would be a comment in a shell.
pub fn split_words(typed: &str) -> Vec<String> {
    if typed.starts_with('#') {
        return vec![typed.to_owned()];
    }
    shell_words::split(typed).unwrap_or_else(|_| vec![typed.to_owned()])
}

/// Handles a key of a dialog that is a single text field.
pub(super) fn handle_key(input: &mut Input, chord: Chord) -> KeyResult {
    match chord.key {
        Key::Esc => KeyResult::Close,
        Key::Enter => KeyResult::Accept,
        _ => {
            edit(input, chord);
            KeyResult::Stay
        }
    }
}

/// Handles a key. Returns whether it changed the text.
pub fn edit(input: &mut Input, chord: Chord) -> bool {
    let request = match (chord.key, chord.ctrl) {
        (Key::Char(c), false) if !chord.alt => InputRequest::InsertChar(c),
        (Key::Char('u'), true) => InputRequest::DeleteLine,
        (Key::Char('w'), true) => InputRequest::DeletePrevWord,
        (Key::Char('a'), true) | (Key::Home, _) => InputRequest::GoToStart,
        (Key::Char('e'), true) | (Key::End, _) => InputRequest::GoToEnd,
        (Key::Left, true) => InputRequest::GoToPrevWord,
        (Key::Right, true) => InputRequest::GoToNextWord,
        (Key::Left, false) => InputRequest::GoToPrevChar,
        (Key::Right, false) => InputRequest::GoToNextChar,
        (Key::Backspace, _) => InputRequest::DeletePrevChar,
        (Key::Delete, _) => InputRequest::DeleteNextChar,
        _ => return false,
    };
    input.handle(request).is_some_and(|change| change.value)
}

const MAX_PASTE_CHARS: usize = 4_096;

/// Inserts pasted text as one line without control characters; it never acts as keys.
pub fn paste(input: &mut Input, raw: &str) {
    for c in raw.trim().chars().filter(|c| !c.is_control()).take(MAX_PASTE_CHARS) {
        let _ = input.handle(InputRequest::InsertChar(c));
    }
}

//! Decodes what a terminal sends: keys in the encodings of xterm, rxvt, the Linux console and the keyboard protocol of
//! kitty, the mouse, the focus, and replies to queries.

use crate::input::{Chord, Key, Sequence};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TerminalInput {
    Key(Chord),
    /// A letter of a layout that is not Latin, and the key at the same place of a Latin layout.
    LayoutKey {
        typed: Chord,
        latin: Chord,
    },
    Paste(String),
    Mouse(Mouse),
    /// The mouse was moved to this column and row without a button.
    MouseMove(u16, u16),
    Focus(bool),
    /// A reply to a query, without its first ESC.
    Reply(Vec<u8>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mouse {
    /// The column, counted from 0 like the row. Both may be outside the screen.
    pub column: u16,
    pub row: u16,
    pub kind: MouseKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MouseKind {
    Click,
    Drag,
    Release,
    RightClick,
    WheelUp,
    WheelDown,
}

/// The first letter of the scripts that are not Latin.
const FIRST_OTHER_LETTER: char = '\u{370}';
/// The keys of a US keyboard that have another character with Shift, and these characters.
const UNSHIFTED: &str = "`1234567890-=[]\\;',./";
const SHIFTED: &str = "~!@#$%^&*()_+{}|:\"<>?";

/// Decodes a sequence. Sequences that are no input, such as released keys, give nothing.
pub fn decode(sequence: Sequence) -> Vec<TerminalInput> {
    match sequence {
        // No key has one of the other control characters, which a terminal would interpret.
        Sequence::Char { c: '\u{80}'..='\u{9f}', .. } => Vec::new(),
        Sequence::Char { c, alt } => {
            vec![TerminalInput::Key(Chord { alt, ..chord_of_char(c) })]
        }
        Sequence::Paste(text) => vec![TerminalInput::Paste(text)],
        Sequence::String(reply) => vec![TerminalInput::Reply(reply)],
        Sequence::Single(bytes) => single_key(&bytes).map(TerminalInput::Key).into_iter().collect(),
        Sequence::Control(bytes) => control_sequence(&bytes),
    }
}

/// Returns the key of a character that was sent alone.
fn chord_of_char(c: char) -> Chord {
    let ctrl = |key| Chord { ctrl: true, ..Chord::plain(Key::Char(key)) };
    match c {
        '\r' | '\n' => Chord::plain(Key::Enter),
        '\t' => Chord::plain(Key::Tab),
        '\x1b' => Chord::plain(Key::Esc),
        // Terminals disagree about which of them the Backspace key sends.
        '\x08' | '\x7f' => Chord::plain(Key::Backspace),
        '\0' => ctrl(' '),
        '\x01'..='\x1a' => ctrl(char::from(c as u8 - 1 + b'a')),
        '\x1c'..='\x1f' => ctrl(char::from(c as u8 - 0x1c + b'4')),
        c => Chord::plain(Key::Char(c)),
    }
}

/// Decodes the bytes after `ESC O`. Digits before the last byte are modifiers.
fn single_key(bytes: &[u8]) -> Option<Chord> {
    let (last, modifiers) = bytes.split_last()?;
    let key = match last {
        b'M' => Key::Enter,
        b'X' => Key::Char('='),
        // The keypad sends `j` to `y` for the characters from `*` to `9`.
        b'j'..=b'y' => Key::Char(char::from(last - b'j' + b'*')),
        b'a'..=b'd' => {
            return Some(Chord { ctrl: true, ..Chord::plain(cursor_key(last - b'a' + b'A')?) });
        }
        last => cursor_key(*last)?,
    };
    let text = str::from_utf8(modifiers).ok()?;
    with_modifiers(key, text.rsplit(';').next().unwrap_or_default())
}

fn cursor_key(last: u8) -> Option<Key> {
    Some(match last {
        b'A' => Key::Up,
        b'B' => Key::Down,
        b'C' => Key::Right,
        b'D' => Key::Left,
        b'F' => Key::End,
        b'H' => Key::Home,
        b'P'..=b'S' => Key::F(last - b'P' + 1),
        _ => return None,
    })
}

/// Applies modifiers such as `5` or `5:1`, which are one more than the sum of the pressed ones. The number after the
/// colon is 3 for a released key, which gives nothing. So do keys with Super, which belong to the desktop.
fn with_modifiers(key: Key, modifiers: &str) -> Option<Chord> {
    const SUPER_HYPER_META: u16 = 8 + 16 + 32;
    let (mask, kind) = modifiers.split_once(':').unwrap_or((modifiers, ""));
    let mask = mask.parse::<u16>().unwrap_or(1).saturating_sub(1);
    if kind == "3" || mask & SUPER_HYPER_META != 0 {
        return None;
    }
    let has = |bit| mask & bit != 0;
    Some(Chord { key, shift: has(1), alt: has(2), ctrl: has(4) })
}

/// Decodes a sequence from `[` to its last byte.
fn control_sequence(bytes: &[u8]) -> Vec<TerminalInput> {
    let Some((last, [b'[', parameters @ ..])) = bytes.split_last() else { return Vec::new() };
    if let [b'[', b'M', button, column, row] = bytes {
        let place = |byte: u8| u16::from(byte.saturating_sub(33));
        return mouse(u16::from(button.saturating_sub(32)), place(*column), place(*row), false);
    }
    let Ok(text) = str::from_utf8(parameters) else { return Vec::new() };
    let fields: Vec<&str> = text.split(';').collect();
    let key = |key: Option<Key>| {
        let modifiers = fields.get(1).copied().unwrap_or_default();
        let chord = key.and_then(|key| with_modifiers(key, modifiers));
        chord.map(TerminalInput::Key).into_iter().collect()
    };
    let shifted = |key| vec![TerminalInput::Key(Chord { shift: true, ..Chord::plain(key) })];
    match (*last, text) {
        (b'I' | b'O', "") => vec![TerminalInput::Focus(*last == b'I')],
        (b'Z', _) => shifted(Key::Tab),
        (b'A'..=b'E', "[") => key(Some(Key::F(last - b'A' + 1))),
        (b'a'..=b'd', "") => cursor_key(last - b'a' + b'A').map_or_else(Vec::new, shifted),
        (b'M' | b'm', _) => mouse_report(text, *last == b'm'),
        (b'u', _) if !text.starts_with('?') => keyboard_protocol(&fields),
        (b'~', _) if fields[0] == "27" && fields.len() == 3 => {
            keyboard_protocol(&[fields[2], fields[1]])
        }
        (b'~', _) => key(fields[0].parse().ok().and_then(numbered_key)),
        (b'^', _) => rxvt_key(text, false),
        (b'@', _) => rxvt_key(text, true),
        // F3 with modifiers is also the form of a reported cursor position.
        (b'A'..=b'D' | b'F' | b'H' | b'P'..=b'S', "" | "1") => key(cursor_key(*last)),
        (b'A'..=b'D' | b'F' | b'H' | b'P'..=b'S', _) if fields[0] == "1" => key(cursor_key(*last)),
        _ => vec![TerminalInput::Reply(bytes.to_vec())],
    }
}

fn numbered_key(number: u8) -> Option<Key> {
    Some(match number {
        1 | 7 => Key::Home,
        3 => Key::Delete,
        4 | 8 => Key::End,
        5 => Key::PageUp,
        6 => Key::PageDown,
        11..=15 => Key::F(number - 10),
        17..=21 => Key::F(number - 11),
        23 | 24 => Key::F(number - 12),
        _ => return None,
    })
}

fn rxvt_key(number: &str, shift: bool) -> Vec<TerminalInput> {
    let key = number.parse().ok().and_then(numbered_key);
    let chord = key.map(|key| Chord { ctrl: true, shift, ..Chord::plain(key) });
    chord.map(TerminalInput::Key).into_iter().collect()
}

/// Decodes `key:shifted:base ; modifiers:kind ; text` of the keyboard protocol. The keys and the text are code points.
fn keyboard_protocol(fields: &[&str]) -> Vec<TerminalInput> {
    let char_of = |code: &str| code.parse().ok().and_then(char::from_u32);
    let keys: Vec<Option<char>> = fields[0].split(':').map(char_of).collect();
    let modifiers = fields.get(1).copied().unwrap_or_default();
    let text = fields.get(2).into_iter().flat_map(|text| text.split(':')).filter_map(char_of);
    let text: Vec<char> = text.filter(|c| !c.is_control()).collect();
    let Some(Some(code)) = keys.first().copied() else { return Vec::new() };
    let Some(pressed) = with_modifiers(Key::Char(code), modifiers) else { return Vec::new() };
    if let Some(key) = functional_key(code) {
        return vec![TerminalInput::Key(Chord { key, ..pressed })];
    }
    let is_typed = !pressed.ctrl && !pressed.alt;
    match text.as_slice() {
        [c] if is_typed => vec![layout_key(*c, pressed, &keys)],
        // An input method types several characters at once.
        [_, _, ..] if is_typed => {
            text.iter().map(|c| TerminalInput::Key(Chord::plain(Key::Char(*c)))).collect()
        }
        _ if code.is_control() || is_private(code) => Vec::new(),
        _ => {
            let shifted = keys.get(1).copied().flatten();
            let c = if pressed.shift { shifted.unwrap_or_else(|| shift(code)) } else { code };
            vec![layout_key(c, pressed, &keys)]
        }
    }
}

/// Returns the key of a character. With Ctrl or Alt, a key of another script is the Latin one, because it types
/// nothing.
fn layout_key(c: char, pressed: Chord, keys: &[Option<char>]) -> TerminalInput {
    let chord = |c| Chord { key: Key::Char(c), shift: false, ..pressed };
    let base = keys.get(2).copied().flatten().filter(char::is_ascii_graphic);
    match base {
        Some(base) if c >= FIRST_OTHER_LETTER => {
            let latin = chord(if pressed.shift { shift(base) } else { base });
            if pressed.ctrl || pressed.alt {
                TerminalInput::Key(latin)
            } else {
                TerminalInput::LayoutKey { typed: chord(c), latin }
            }
        }
        _ => TerminalInput::Key(chord(c)),
    }
}

/// Returns the character of a key with Shift, which is the one of a US keyboard for punctuation.
fn shift(c: char) -> char {
    let other = UNSHIFTED.chars().position(|key| key == c).and_then(|at| SHIFTED.chars().nth(at));
    other.unwrap_or_else(|| {
        let mut upper = c.to_uppercase();
        upper.next().filter(|_| upper.next().is_none()).unwrap_or(c)
    })
}

fn is_private(c: char) -> bool {
    ('\u{e000}'..='\u{f8ff}').contains(&c)
}

/// Returns the key of a code that is not a character, including the keys of the keypad.
fn functional_key(code: char) -> Option<Key> {
    Some(match u32::from(code) {
        8 | 127 => Key::Backspace,
        9 => Key::Tab,
        13 | 57_414 => Key::Enter,
        27 => Key::Esc,
        digit @ 57_399..=57_408 => Key::Char(char::from_digit(digit - 57_399, 10)?),
        57_409 => Key::Char('.'),
        57_410 => Key::Char('/'),
        57_411 => Key::Char('*'),
        57_412 => Key::Char('-'),
        57_413 => Key::Char('+'),
        57_415 => Key::Char('='),
        57_417 => Key::Left,
        57_418 => Key::Right,
        57_419 => Key::Up,
        57_420 => Key::Down,
        57_421 => Key::PageUp,
        57_422 => Key::PageDown,
        57_423 => Key::Home,
        57_424 => Key::End,
        57_426 => Key::Delete,
        _ => return None,
    })
}

/// Decodes `<button;column;row`, or the same without `<` and with 32 added to the button.
fn mouse_report(text: &str, released: bool) -> Vec<TerminalInput> {
    let (text, offset) = text.strip_prefix('<').map_or((text, 32), |text| (text, 0));
    let numbers: Vec<u16> = text.split(';').filter_map(|number| number.parse().ok()).collect();
    let [button, column, row] = *numbers else { return Vec::new() };
    mouse(button.saturating_sub(offset), column.saturating_sub(1), row.saturating_sub(1), released)
}

fn mouse(button: u16, column: u16, row: u16, released: bool) -> Vec<TerminalInput> {
    const MODIFIERS: u16 = 4 + 8 + 16;
    let kind = match (button & !MODIFIERS, released) {
        (0, false) => MouseKind::Click,
        (2, false) => MouseKind::RightClick,
        (0, true) | (3, _) => MouseKind::Release,
        (32, _) => MouseKind::Drag,
        (35, _) => return vec![TerminalInput::MouseMove(column, row)],
        (64, _) => MouseKind::WheelUp,
        (65, _) => MouseKind::WheelDown,
        _ => return Vec::new(),
    };
    vec![TerminalInput::Mouse(Mouse { column, row, kind })]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::SequenceSplitter;

    fn decoded(bytes: &str) -> Vec<TerminalInput> {
        let mut splitter = SequenceSplitter::default();
        let mut sequences = splitter.feed(bytes.as_bytes());
        sequences.extend(splitter.expire());
        sequences.into_iter().flat_map(decode).collect()
    }

    fn keys(bytes: &str) -> String {
        let name = |input: TerminalInput| match input {
            TerminalInput::Key(chord) => chord.to_string(),
            TerminalInput::LayoutKey { typed, latin } => format!("{typed}={latin}"),
            other => format!("{other:?}"),
        };
        decoded(bytes).into_iter().map(name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn keys_of_all_terminals_are_decoded() {
        for (bytes, printed) in [
            ("jй\r\n\t \x7f\x08", "j й Enter Enter Tab Space Backspace Backspace"),
            ("\x03\x1a\0\x1bx\x1b\r\x1f", "Ctrl-C Ctrl-Z Ctrl-Space Alt-x Alt-Enter Ctrl-7"),
            (
                "\x1b[A\x1bOB\x1b[1;5C\x1b[1;2D\x1bO5D\x1b[1;3H\x1b[F",
                "↑ ↓ Ctrl-→ Shift-← Ctrl-← Alt-Home End",
            ),
            ("\x1b[Z\x1b[3~\x1b[5;5~\x1b[1~\x1b[8~\x1b[2~", "Shift-Tab Del Ctrl-PgUp Home End"),
            (
                "\x1bOP\x1b[[B\x1b[13~\x1b[1;2S\x1b[15~\x1b[24~\x1b[1;5P",
                "F1 F2 F3 Shift-F4 F5 F12 Ctrl-F1",
            ),
            ("\x1b[a\x1bOd\x1b[5^\x1b[6@", "Shift-↑ Ctrl-← Ctrl-PgUp Ctrl-Shift-PgDn"),
            ("\x1bOM\x1bOq\x1bOk", "Enter 1 +"),
            ("\x1b[27u\x1b[13;5u\x1b[97;5u\x1b[27;5;99~", "Esc Ctrl-Enter Ctrl-A Ctrl-C"),
        ] {
            assert_eq!(keys(bytes), printed, "{bytes:?}");
        }
    }

    #[test]
    fn the_keyboard_protocol_gives_text_and_the_latin_key() {
        for (bytes, printed) in [
            ("\x1b[97;;97u\x1b[97:65;2;65u\x1b[97:65;2u", "a A A"),
            ("\x1b[49:33;2;33u\x1b[47;2u", "! ?"),
            ("\x1b[1081::113;;1081u", "й=q"),
            ("\x1b[1081:1049:113;2;1049u", "Й=Q"),
            ("\x1b[1102::46;;1102u\x1b[1102:1070:46;2;1070u", "ю=. Ю=>"),
            ("\x1b[1089::99;5u\x1b[1095::120;3u", "Ctrl-C Alt-x"),
            ("\x1b[233::50;;233u", "é"),
            ("\x1b[0;;26085:26412u", "日 本"),
            ("\x1b[57399;;48u\x1b[57414u\x1b[57419u", "0 Enter ↑"),
            // Nothing is typed by a released key, by Shift alone, and with Super.
            ("\x1b[97;1:3u\x1b[57441;2u\x1b[97;9u\x1b[1;1:3A", ""),
        ] {
            assert_eq!(keys(bytes), printed, "{bytes:?}");
        }
    }

    #[test]
    fn the_mouse_is_decoded_in_three_encodings() {
        let click = TerminalInput::Mouse(Mouse { column: 2, row: 3, kind: MouseKind::Click });
        for bytes in ["\x1b[<0;3;4M", "\x1b[M #$", "\x1b[32;3;4M"] {
            assert_eq!(decoded(bytes), std::slice::from_ref(&click), "{bytes:?}");
        }
        for (code, released, kind) in [
            ("2", 'M', MouseKind::RightClick),
            ("0", 'm', MouseKind::Release),
            ("32", 'M', MouseKind::Drag),
            ("64", 'M', MouseKind::WheelUp),
            ("65", 'M', MouseKind::WheelDown),
            ("4", 'M', MouseKind::Click),
        ] {
            let found = decoded(&format!("\x1b[<{code};1;1{released}"));
            let mouse = Mouse { column: 0, row: 0, kind };
            assert_eq!(found, [TerminalInput::Mouse(mouse)], "{code}");
        }
        assert_eq!(decoded("\x1b[<35;1;1M"), [TerminalInput::MouseMove(0, 0)]);
        assert_eq!(decoded("\x1b[<1;1;1M\x1b[<;M\x1b[<0;99999;1M"), []);
    }

    #[test]
    fn replies_are_no_keys() {
        for reply in [
            "[?62;4c",
            "[6;20;10t",
            "[?2;0;800;600S",
            "[0n",
            "[12;40R",
            "[?29u",
            "[?2026;2$y",
            "[?1;3R",
        ] {
            assert_eq!(decoded(&format!("\x1b{reply}")), [TerminalInput::Reply(reply.into())]);
        }
        let string = decoded("\x1bP>|xterm(380)\x1b\\");
        assert_eq!(string, [TerminalInput::Reply(b"P>|xterm(380)".to_vec())]);
        assert_eq!(
            decoded("\x1b[I\x1b[O"),
            [TerminalInput::Focus(true), TerminalInput::Focus(false)]
        );
    }
}

//! Splits the bytes from a terminal into keys, sequences and pasted text. A slow line delivers a sequence in pieces, so
//! the splitter keeps an unfinished sequence, and says how long to wait for the rest.

use std::time::Duration;

/// How long the Escape key waits for the rest of a sequence. Terminals send a sequence at once, so only the line delays
/// its bytes.
const ESCAPE_TIMEOUT: Duration = Duration::from_millis(50);
/// How long a sequence that has begun waits for its next byte.
const SEQUENCE_TIMEOUT: Duration = Duration::from_secs(1);
/// How long pasted text waits for its next byte until the text so far is used.
const PASTE_TIMEOUT: Duration = Duration::from_millis(500);

/// The maximum length of a sequence. The rest of a longer sequence is dropped.
const MAX_SEQUENCE_BYTES: usize = 256;
/// The maximum length of pasted text. The rest of a longer text is dropped.
const MAX_PASTE_BYTES: usize = 1 << 20;

const PASTE_START: &[u8] = b"[200~";
const PASTE_END: &[u8] = b"\x1b[201~";

/// What a terminal has sent. Sequences are without their first ESC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sequence {
    /// A typed character, which may be a control character. `alt` says whether ESC precedes it.
    Char {
        c: char,
        alt: bool,
    },
    /// A control sequence from `[` to its last byte.
    Control(Vec<u8>),
    /// The bytes after `ESC O`: a key of the keypad, or one of the first function keys.
    Single(Vec<u8>),
    /// A string from its kind (`P`, `]` or `_`) to the byte before its end. Only replies are strings.
    String(Vec<u8>),
    Paste(String),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    Escape,
    /// In a character of several bytes, some of which are missing.
    Character {
        missing: usize,
        alt: bool,
    },
    /// After `ESC [`.
    Control,
    /// After `ESC [ M`, which a button and a position of three bytes follow.
    OldMouse,
    /// After `ESC O`.
    Single,
    /// After `ESC P`, `ESC ]` or `ESC _`, in a string that ends with `ESC \` or with a bell.
    String,
    /// After an ESC in a string.
    StringEscape,
    Paste,
    /// In pasted text whose end is missing for so long that the text was used.
    StalledPaste,
}

#[derive(Debug, Default)]
pub struct SequenceSplitter {
    state: State,
    /// The unfinished sequence, character or paste.
    bytes: Vec<u8>,
    finished: Vec<Sequence>,
}

impl SequenceSplitter {
    /// Returns what is complete after these bytes.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Sequence> {
        if self.state == State::StalledPaste {
            self.state = if is_single_key(bytes) { State::Ground } else { State::Paste };
        }
        for &byte in bytes {
            self.state = self.step(byte);
        }
        std::mem::take(&mut self.finished)
    }

    /// Returns how long to wait for the next byte before [`Self::expire`] is called. `None` if nothing is unfinished.
    pub fn timeout(&self) -> Option<Duration> {
        match self.state {
            State::Ground | State::StalledPaste => None,
            State::Escape => Some(ESCAPE_TIMEOUT),
            State::Paste => Some(PASTE_TIMEOUT),
            _ => Some(SEQUENCE_TIMEOUT),
        }
    }

    /// Ends what is unfinished: a lone ESC is the Escape key, the first two bytes of a sequence are a key with Alt, and
    /// the rest is dropped.
    pub fn expire(&mut self) -> Vec<Sequence> {
        match self.state {
            State::Escape => self.push_char('\x1b', false),
            State::Control | State::String if self.bytes.len() == 1 => {
                self.push_char(char::from(self.bytes[0]), true);
            }
            State::Single if self.bytes.is_empty() => self.push_char('O', true),
            State::Paste => self.push_paste(self.bytes.len()),
            _ => {}
        }
        self.bytes.clear();
        let in_paste = matches!(self.state, State::Paste | State::StalledPaste);
        self.state = if in_paste { State::StalledPaste } else { State::Ground };
        std::mem::take(&mut self.finished)
    }

    fn step(&mut self, byte: u8) -> State {
        match (self.state, byte) {
            (State::Paste | State::StalledPaste, _) => self.step_in_paste(byte),
            (State::OldMouse, _) => {
                self.bytes.push(byte);
                if self.bytes.len() < b"[Mbxy".len() { State::OldMouse } else { self.end_control() }
            }
            (State::StringEscape, b'\\') | (State::String, 0x07) => {
                self.finished.push(Sequence::String(std::mem::take(&mut self.bytes)));
                State::Ground
            }
            (State::Escape, 0x1b) => {
                self.push_char('\x1b', false);
                State::Escape
            }
            (State::String, 0x1b) => State::StringEscape,
            (State::Escape | State::StringEscape, _) => self.step_after_escape(byte),
            (_, 0x1b) => State::Escape,
            // A control character, such as Ctrl-C, is never a part of a sequence.
            (State::Ground, _) | (_, ..0x20) => self.begin_character(byte, false),
            (State::Control, _) => self.step_in_control(byte),
            (State::Single, _) => {
                self.keep(byte);
                if byte.is_ascii_digit() || byte == b';' {
                    return State::Single;
                }
                self.finished.push(Sequence::Single(std::mem::take(&mut self.bytes)));
                State::Ground
            }
            (State::String, _) => {
                self.keep(byte);
                State::String
            }
            (State::Character { missing, alt }, 0x80..0xc0) => {
                self.bytes.push(byte);
                if missing > 1 {
                    return State::Character { missing: missing - 1, alt };
                }
                let text = String::from_utf8(std::mem::take(&mut self.bytes)).unwrap_or_default();
                text.chars().for_each(|c| self.push_char(c, alt));
                State::Ground
            }
            // The character is damaged, so its last byte is the first one of something else.
            (State::Character { .. }, _) => self.begin_character(byte, false),
        }
    }

    fn step_after_escape(&mut self, byte: u8) -> State {
        self.bytes.clear();
        match byte {
            b'[' => {
                self.bytes.push(byte);
                State::Control
            }
            b'O' => State::Single,
            b'P' | b']' | b'_' => {
                self.bytes.push(byte);
                State::String
            }
            _ => self.begin_character(byte, true),
        }
    }

    /// Begins a character, which is complete if it is ASCII.
    fn begin_character(&mut self, byte: u8, alt: bool) -> State {
        self.bytes.clear();
        let missing = match byte {
            ..0x80 => {
                self.push_char(char::from(byte), alt);
                return State::Ground;
            }
            0xc0..0xe0 => 1,
            0xe0..0xf0 => 2,
            0xf0..0xf8 => 3,
            _ => return State::Ground,
        };
        self.bytes.push(byte);
        State::Character { missing, alt }
    }

    fn step_in_control(&mut self, byte: u8) -> State {
        self.keep(byte);
        match (self.bytes.as_slice(), byte) {
            // The Linux console sends `ESC [ [ A` for F1.
            (b"[[", _) => State::Control,
            (b"[M", _) => State::OldMouse,
            (PASTE_START, _) => {
                self.bytes.clear();
                State::Paste
            }
            (_, 0x40..0x7f) => self.end_control(),
            _ => State::Control,
        }
    }

    fn end_control(&mut self) -> State {
        let sequence = std::mem::take(&mut self.bytes);
        if sequence.len() < MAX_SEQUENCE_BYTES {
            self.finished.push(Sequence::Control(sequence));
        }
        State::Ground
    }

    fn step_in_paste(&mut self, byte: u8) -> State {
        // The end takes the place of the last bytes of a text that is too long.
        if self.bytes.len() >= MAX_PASTE_BYTES + PASTE_END.len() {
            self.bytes.remove(MAX_PASTE_BYTES);
        }
        self.bytes.push(byte);
        if !self.bytes.ends_with(PASTE_END) {
            return State::Paste;
        }
        self.push_paste(self.bytes.len() - PASTE_END.len());
        self.bytes.clear();
        State::Ground
    }

    fn push_paste(&mut self, length: usize) {
        let text = &self.bytes[..length.min(MAX_PASTE_BYTES)];
        if !text.is_empty() {
            self.finished.push(Sequence::Paste(String::from_utf8_lossy(text).into_owned()));
        }
    }

    fn push_char(&mut self, c: char, alt: bool) {
        self.finished.push(Sequence::Char { c, alt });
    }

    fn keep(&mut self, byte: u8) {
        if self.bytes.len() < MAX_SEQUENCE_BYTES {
            self.bytes.push(byte);
        }
    }
}

/// Returns whether these bytes are a key instead of the rest of pasted text. Keys are typed one at a time, while the
/// rest of a text arrives in larger pieces. The end of the text may come late, and is ignored then like an unknown key.
fn is_single_key(bytes: &[u8]) -> bool {
    let is_character = str::from_utf8(bytes).is_ok_and(|text| text.chars().count() == 1);
    bytes.starts_with(b"\x1b") || is_character
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(pieces: &[&[u8]]) -> Vec<Sequence> {
        let mut splitter = SequenceSplitter::default();
        let mut found: Vec<Sequence> =
            pieces.iter().flat_map(|piece| splitter.feed(piece)).collect();
        found.extend(splitter.expire());
        found
    }

    fn typed(text: &str) -> Vec<Sequence> {
        text.chars().map(|c| Sequence::Char { c, alt: false }).collect()
    }

    #[test]
    fn a_sequence_may_be_split_anywhere() {
        let all = "j\x1b[B\x1bOA\x1bxй\x1bй\x1b[[A\x1b[M !!\x1b[<0;3;4M\x1bP>|kitty(0.36)\x1b\\\x1b]11;rgb:0/0/0\x07\
                   \x1b[?62;4c\x1b[200~a\r\x1b[Ab\x1b[201~\x1b";
        let whole = split(&[all.as_bytes()]);
        assert_eq!(whole.len(), 14, "{whole:?}");
        for at in 0..all.len() {
            let (first, second) = all.as_bytes().split_at(at);
            assert_eq!(split(&[first, second]), whole, "split at {at}");
        }
        let bytes: Vec<&[u8]> = all.as_bytes().chunks(1).collect();
        assert_eq!(split(&bytes), whole);
    }

    #[test]
    fn what_never_ends_becomes_keys_or_nothing() {
        let alt = |c| vec![Sequence::Char { c, alt: true }];
        for (bytes, found) in [
            ("\x1b", typed("\x1b")),
            ("\x1b\x1b", typed("\x1b\x1b")),
            ("\x1b[", alt('[')),
            ("\x1bO", alt('O')),
            ("\x1bP", alt('P')),
            ("\x1b[1", vec![]),
            ("\x1bP>|kit", vec![]),
        ] {
            assert_eq!(split(&[bytes.as_bytes()]), found, "{bytes:?}");
        }
        assert_eq!(split(&[b"\xd0"]), []);
    }

    #[test]
    fn a_control_character_is_never_a_part_of_a_sequence() {
        for begun in ["\x1b[1", "\x1bO", "\x1bP>|x", "\x1b]11;", "\u{439}"] {
            let begun =
                &begun.as_bytes()[..begun.len().max(2) - usize::from(!begun.starts_with('\x1b'))];
            assert_eq!(split(&[begun, b"\x03"]), typed("\x03"), "{begun:?}");
        }
    }

    #[test]
    fn pasted_text_without_an_end_is_used_and_keys_act_again() {
        let mut splitter = SequenceSplitter::default();
        assert_eq!(splitter.feed(b"\x1b[200~red van"), []);
        assert_eq!(splitter.timeout(), Some(PASTE_TIMEOUT));
        assert_eq!(splitter.expire(), [Sequence::Paste("red van".into())]);
        assert_eq!(splitter.timeout(), None);
        // The rest of the text comes late.
        assert_eq!(splitter.feed(b" at night"), []);
        assert_eq!(splitter.expire(), [Sequence::Paste(" at night".into())]);
        assert_eq!(splitter.feed(b"q"), typed("q"));
        assert_eq!(splitter.feed(b"jk"), typed("jk"));
    }

    #[test]
    fn keys_and_mouse_end_pasted_text_without_an_end() {
        for (bytes, found) in [
            (&b"\x1b[A"[..], Sequence::Control(b"[A".to_vec())),
            (b"\x1b[<0;3;4M", Sequence::Control(b"[<0;3;4M".to_vec())),
            (b"\x03", Sequence::Char { c: '\x03', alt: false }),
            ("й".as_bytes(), Sequence::Char { c: 'й', alt: false }),
        ] {
            let mut splitter = SequenceSplitter::default();
            splitter.feed(b"\x1b[200~text");
            splitter.expire();
            assert_eq!(splitter.feed(bytes), [found]);
        }
        let mut splitter = SequenceSplitter::default();
        splitter.feed(b"\x1b[200~text");
        splitter.expire();
        assert_eq!(splitter.feed(b"\x1b[201~q")[1..], typed("q"), "the end came late");
    }

    #[test]
    fn lengths_are_limited() {
        let endless = [&b"\x1b_G"[..], &[b'x'; 10_000], b"\x1b\\"].concat();
        let [Sequence::String(bytes)] = &split(&[&endless])[..] else { panic!("one string") };
        assert_eq!(bytes.len(), MAX_SEQUENCE_BYTES);
        let long = [&b"\x1b[200~"[..], &vec![b'x'; MAX_PASTE_BYTES + 99], b"\x1b[201~j"].concat();
        let found = split(&[&long]);
        assert_eq!(found[0], Sequence::Paste("x".repeat(MAX_PASTE_BYTES)));
        assert_eq!(found[1..], typed("j"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken_and_the_next_key_acts(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut splitter = SequenceSplitter::default();
            splitter.feed(&bytes);
            while splitter.timeout().is_some() {
                splitter.expire();
            }
            prop_assert_eq!(splitter.feed(b"q"), typed("q"));
        }
    }
}

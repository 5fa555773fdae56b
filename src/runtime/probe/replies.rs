//! Parses the replies of a terminal to queries, and stops replies that arrive late from becoming keys.

use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The maximum length of a sequence. The rest is dropped.
const MAX_SEQUENCE_BYTES: usize = 256;

#[derive(Debug, Default)]
pub struct TerminalReplies {
    pub kitty: bool,
    pub version: Option<String>,
    /// The primary attributes, which are the last reply.
    pub attributes: Option<Vec<u16>>,
    /// The cell size in pixels (width, height).
    pub cell: Option<(u16, u16)>,
    /// The largest size of a sixel picture in pixels (width, height).
    pub sixel: Option<(u16, u16)>,
    /// The background color (red, green, blue).
    pub background: Option<[u8; 3]>,
    /// Bytes that are not part of any reply.
    pub keys: Vec<u8>,
    state: ParserState,
    sequence: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ParserState {
    #[default]
    Ground,
    Escape,
    /// The parser is after `ESC [`.
    ControlSequence,
    /// The parser is after `ESC _`, `ESC P` or `ESC ]`, in a string that ends with `ESC \`.
    StringSequence,
    /// The parser is after an ESC inside such a string.
    StringEscape,
}

impl TerminalReplies {
    /// Returns whether the last reply has arrived.
    pub fn is_complete(&self) -> bool {
        self.attributes.is_some() && self.state == ParserState::Ground
    }

    pub fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.state = self.step(byte);
        }
    }

    /// Ends the input. A pending ESC was the Escape key.
    pub fn finish(&mut self) {
        if self.state == ParserState::Escape {
            self.keys.push(0x1B);
        }
        self.state = ParserState::Ground;
    }

    fn step(&mut self, byte: u8) -> ParserState {
        match (self.state, byte) {
            // An ESC inside a control sequence starts the next one.
            (ParserState::Ground | ParserState::ControlSequence, 0x1B) => ParserState::Escape,
            (ParserState::Ground, key) => {
                self.keys.push(key);
                ParserState::Ground
            }
            (ParserState::Escape | ParserState::StringEscape, b'[') => {
                self.begin(byte, ParserState::ControlSequence)
            }
            (ParserState::Escape, b'_' | b'P' | b']') => {
                self.begin(byte, ParserState::StringSequence)
            }
            (ParserState::Escape, 0x1B) => {
                self.keys.push(0x1B);
                ParserState::Escape
            }
            (ParserState::Escape, key) => {
                self.keys.extend([0x1B, key]);
                ParserState::Ground
            }
            (ParserState::ControlSequence, 0x40..=0x7E) => {
                self.push_byte(byte);
                self.read_control();
                ParserState::Ground
            }
            (ParserState::ControlSequence, _) => {
                self.push_byte(byte);
                ParserState::ControlSequence
            }
            (ParserState::StringSequence | ParserState::StringEscape, 0x1B) => {
                ParserState::StringEscape
            }
            (ParserState::StringSequence, 0x07) | (ParserState::StringEscape, b'\\') => {
                self.read_string();
                ParserState::Ground
            }
            (ParserState::StringSequence | ParserState::StringEscape, _) => {
                self.push_byte(byte);
                ParserState::StringSequence
            }
        }
    }

    fn begin(&mut self, byte: u8, state: ParserState) -> ParserState {
        self.sequence.clear();
        self.sequence.push(byte);
        state
    }

    fn push_byte(&mut self, byte: u8) {
        if self.sequence.len() < MAX_SEQUENCE_BYTES {
            self.sequence.push(byte);
        }
    }

    /// Reads a sequence from `[` to its last byte, which is a reply or a key.
    fn read_control(&mut self) {
        match self.sequence.as_slice() {
            [b'[', b'?', numbers @ .., b'c'] => {
                self.attributes.get_or_insert_with(|| read_numbers(numbers));
            }
            [b'[', b'6', b';', numbers @ .., b't'] => {
                if let [height @ 1..=u16::MAX, width @ 1..=u16::MAX] = *read_numbers(numbers) {
                    self.cell.get_or_insert((width, height));
                }
            }
            // The terminal reports its present size and its largest size. The larger one is kept, because a size that
            // the terminal draws now can also be drawn later.
            [b'[', b'?', b'2', b';', b'0', b';', numbers @ .., b'S'] => {
                if let [width @ 1..=u16::MAX, height @ 1..=u16::MAX] = *read_numbers(numbers) {
                    let other = self.sixel.unwrap_or_default();
                    self.sixel = Some((width.max(other.0), height.max(other.1)));
                }
            }
            // These are failed reports of graphics, and reports (status, cursor, modes) that were not requested.
            [b'[', b'?', .., b'S'] | [b'[', .., b'n' | b't' | b'y' | b'c'] => {}
            key if key.len() < MAX_SEQUENCE_BYTES => {
                self.keys.push(0x1B);
                self.keys.extend(key);
            }
            _ => {}
        }
    }

    fn read_string(&mut self) {
        if self.sequence.starts_with(b"_Gi=31") {
            self.kitty |= self.sequence.ends_with(b";OK");
        } else if let Some(version) = self.sequence.strip_prefix(b"P>|") {
            let version = String::from_utf8_lossy(version).into_owned();
            self.version.get_or_insert(version);
        } else if let Some(color) = self.sequence.strip_prefix(b"]11;rgb:") {
            self.background = self.background.or_else(|| read_color(color));
        }
    }
}

/// Parses numbers that are separated by semicolons. Invalid numbers are skipped.
fn read_numbers(bytes: &[u8]) -> Vec<u16> {
    String::from_utf8_lossy(bytes).split(';').filter_map(|number| number.parse().ok()).collect()
}

/// Parses an X11 color: three hexadecimal numbers of one to four digits between slashes.
fn read_color(bytes: &[u8]) -> Option<[u8; 3]> {
    let text = str::from_utf8(bytes).ok()?;
    let part = |digits: &str| {
        let value = u32::from_str_radix(digits, 16).ok()?;
        let most = 16_u32.checked_pow(u32::try_from(digits.len()).ok()?)? - 1;
        u8::try_from(value * 255 / most.max(1)).ok()
    };
    let parts: Option<Vec<u8>> = text.split('/').map(part).collect();
    parts?.try_into().ok()
}

/// How long after the start a late reply is expected.
const REPLY_WINDOW: Duration = Duration::from_secs(10);
/// A reply arrives in one piece, so after a longer pause the key comes from the user.
const MAX_KEY_GAP: Duration = Duration::from_millis(50);
/// The maximum number of keys that are dropped as one reply, which is more than the longest reply has.
const MAX_REPLY_KEYS: usize = 64;

#[derive(Clone, Debug)]
pub struct LateReplyFilter {
    started: Instant,
    open_reply: Option<(Instant, usize)>,
}

impl LateReplyFilter {
    pub fn new(started: Instant) -> Self {
        Self { started, open_reply: None }
    }

    /// Returns whether this key is part of a reply and must be dropped.
    pub fn drops(&mut self, now: Instant, key: &KeyEvent) -> bool {
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let Some((last, count)) = self.open_reply else {
            let begins = alt && matches!(key.code, KeyCode::Char('_' | 'P' | 'p' | ']'));
            if begins && now.duration_since(self.started) < REPLY_WINDOW {
                self.open_reply = Some((now, 1));
            }
            return self.open_reply.is_some();
        };
        if now.duration_since(last) > MAX_KEY_GAP || count >= MAX_REPLY_KEYS {
            self.open_reply = None;
            return self.drops(now, key);
        }
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        // A reply ends with `ESC \` or with a bell, which the input reader reports as Ctrl+G.
        let ends =
            alt && key.code == KeyCode::Char('\\') || control && key.code == KeyCode::Char('g');
        self.open_reply = (!ends).then_some((now, count + 1));
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KITTY: &[u8] = b"\x1b_Gi=31;OK\x1b\\\x1bP>|kitty(0.36.4)\x1b\\\x1b[6;20;10t\x1b[?62;c";

    fn replies(pieces: &[&[u8]]) -> TerminalReplies {
        let mut replies = TerminalReplies::default();
        for piece in pieces {
            replies.feed(piece);
        }
        replies.finish();
        replies
    }

    #[test]
    fn replies_may_be_split_anywhere() {
        for at in 0..KITTY.len() {
            let (first, second) = KITTY.split_at(at);
            let replies = replies(&[first, second]);
            assert!(replies.is_complete() && replies.kitty, "split at {at}");
            assert_eq!(replies.version.as_deref(), Some("kitty(0.36.4)"));
            assert_eq!(replies.cell, Some((10, 20)));
            assert_eq!(replies.keys, b"");
        }
    }

    #[test]
    fn duplicate_replies_are_dropped() {
        let replies = replies(&[KITTY, b"\x1b[?4c\x1bP>|other\x07", KITTY]);
        assert_eq!(replies.attributes, Some(vec![62]));
        assert_eq!(replies.version.as_deref(), Some("kitty(0.36.4)"));
        assert_eq!(replies.keys, b"");
    }

    #[test]
    fn keys_between_replies_are_kept() {
        let replies = replies(&[b"j\x1b[A\x1b[?6", b"2;4ck\x1bx", b"\x1b"]);
        assert_eq!(replies.attributes, Some(vec![62, 4]));
        assert_eq!(replies.keys, b"j\x1b[Ak\x1bx\x1b");
    }

    #[test]
    fn hostile_replies_are_limited_and_ignored() {
        let mut endless = b"\x1b_G".to_vec();
        endless.resize(100_000, b'x');
        let replies = replies(&[&endless, b"\x1b\\\x1b[6;0;0t\x1b[?99999999;4c"]);
        assert!(!replies.kitty);
        assert_eq!(replies.cell, None);
        assert_eq!(replies.attributes, Some(vec![4]));
        assert_eq!(replies.keys, b"");
        assert!(replies.sequence.len() <= MAX_SEQUENCE_BYTES);
    }

    #[test]
    fn background_colors_of_any_depth_are_read() {
        for (reply, color) in [
            ("\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\", Some([0x1E, 0x1E, 0x2E])),
            ("\x1b]11;rgb:ff/ff/f0\x07", Some([255, 255, 240])),
            ("\x1b]11;rgb:f/0/f\x1b\\", Some([255, 0, 255])),
            ("\x1b]11;rgb:/0/0\x1b\\", None),
            ("\x1b]11;rgb:123456789abc/0/0\x1b\\", None),
            ("\x1b]11;rgb:00/00\x1b\\", None),
            ("\x1b]11;?\x1b\\", None),
        ] {
            let replies = replies(&[reply.as_bytes()]);
            assert_eq!((replies.background, replies.keys.as_slice()), (color, &b""[..]));
        }
    }

    #[test]
    fn the_larger_size_of_sixels_counts_and_no_report_of_it_is_a_key() {
        for (reply, size) in [
            ("\x1b[?2;0;800;600S\x1b[?2;0;1000;1000S", Some((1000, 1000))),
            ("\x1b[?2;0;10000;10000S\x1b[?2;0;800;600S", Some((10_000, 10_000))),
            ("\x1b[?2;3S\x1b[?2;0;0;0S\x1b[?2;0;99999;5S\x1b[?1;0;256S", None),
        ] {
            let replies = replies(&[reply.as_bytes()]);
            assert_eq!((replies.sixel, replies.keys.as_slice()), (size, &b""[..]));
        }
        assert_eq!(replies(&[b"\x1b[1;2S"]).keys, b"\x1b[1;2S", "Shift-F4");
    }

    #[test]
    fn nothing_is_nothing() {
        let replies = replies(&[]);
        assert!(!replies.is_complete() && !replies.kitty && replies.keys.is_empty());
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            let replies = replies(&[&bytes]);
            prop_assert!(replies.keys.len() <= bytes.len());
        }
    }
}

//! `SafeText` is text from outside that is made printable once, when it is decoded.
//!
//! Names, captions and error details come from untrusted files and machines. If they were printed raw, they could move
//! the cursor, set the clipboard or change the terminal's title. Everything that reaches a screen, a table or a log is
//! therefore a `SafeText`.

use std::{
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// The number of bytes of a grapheme. Longer graphemes are stacks of combining marks.
const MAX_GRAPHEME_BYTES: usize = 64;
/// The number of combining marks on a base character.
const MAX_MARKS: usize = 8;
/// The number of characters after the first one of a joined emoji. Real emojis need up to ten.
const MAX_JOINED_CHARS: usize = 12;

/// One line of printable text of bounded length, without control characters and bidirectional overrides. Texts are
/// equal if they print the same.
#[derive(Clone, Default)]
pub struct SafeText {
    /// The printable text. The text as it was received follows it, if it is not printable as it is.
    texts: Box<str>,
    /// The length of the printable text.
    printable: usize,
}

impl SafeText {
    /// The limit in characters, like the limits below.
    pub const MAX_NAME: usize = 512;
    const MAX_FILE_NAME: usize = 1_024;
    const MAX_DETAIL: usize = 2_048;
    pub const MAX_CAPTION: usize = 16_384;

    /// Cleans `raw` and truncates it to `limit` characters with an ellipsis.
    pub fn new(raw: &str, limit: usize) -> Self {
        let mut clean = String::with_capacity(raw.len().min(limit));
        for (count, cluster) in raw.graphemes(true).enumerate() {
            if count >= limit {
                clean.push('…');
                break;
            }
            push_grapheme(&mut clean, cluster);
        }
        let printable = clean.len();
        if clean != raw {
            clean.push_str(raw);
        }
        Self { texts: clean.into(), printable }
    }

    pub fn name(raw: &str) -> Self {
        Self::new(raw, Self::MAX_NAME)
    }

    pub fn file_name(raw: &str) -> Self {
        Self::new(raw, Self::MAX_FILE_NAME)
    }

    pub fn detail(raw: &str) -> Self {
        Self::new(raw, Self::MAX_DETAIL)
    }

    pub fn caption(raw: &str) -> Self {
        Self::new(raw, Self::MAX_CAPTION)
    }

    pub fn as_str(&self) -> &str {
        self.texts.split_at(self.printable).0
    }

    /// Returns the text as it was received, for comparisons, requests, files, and documents that escape what a terminal
    /// interprets. It must not be printed.
    pub fn received(&self) -> &str {
        match self.texts.split_at(self.printable) {
            (printable, "") => printable,
            (_, received) => received,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.as_str().is_empty()
    }

    /// Returns the width in terminal cells.
    pub fn width(&self) -> usize {
        self.as_str().width()
    }
}

impl Serialize for SafeText {
    /// Writes the text as it was received, so that reading it gives an equal text.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.received())
    }
}

impl<'de> Deserialize<'de> for SafeText {
    /// Cleans any text that is not a caption.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|raw| Self::detail(&raw))
    }
}

impl AsRef<str> for SafeText {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for SafeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for SafeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

impl PartialEq for SafeText {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for SafeText {}

impl Hash for SafeText {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl PartialOrd for SafeText {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for SafeText {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

fn push_grapheme(clean: &mut String, cluster: &str) {
    let emoji =
        cluster.chars().any(|c| matches!(u32::from(c), 0x1_F000..=0x1_FAFF | 0x2600..=0x27BF));
    let max_chars = if emoji { MAX_JOINED_CHARS } else { MAX_MARKS };
    let start = clean.len();
    for (index, c) in cluster.chars().enumerate() {
        if index > max_chars || clean.len() - start > MAX_GRAPHEME_BYTES - 12 {
            break;
        }
        push_char(clean, c, emoji);
    }
}

fn push_char(clean: &mut String, c: char, in_emoji: bool) {
    match u32::from(c) {
        // A C0 character is replaced by its printable picture, so that an ESC in a file name is visible.
        code @ 0x00..=0x1F => clean.push(char::from_u32(0x2400 + code).unwrap_or('␀')),
        0x7F => clean.push('␡'),
        0x200D | 0xFE0F if in_emoji => clean.push(c),
        code if is_invisible(code) => {
            use fmt::Write as _;
            let _ = write!(clean, "<U+{code:04X}>");
        }
        _ => clean.push(c),
    }
}

/// Whether a character is invisible or affects the text around it: C1 controls, all of `Bidi_Control`, zero-width
/// characters, separators, tags, private use and noncharacters.
pub fn is_invisible(code: u32) -> bool {
    matches!(code,
        0x80..=0x9F | 0xAD | 0x034F | 0x061C | 0x115F | 0x1160 | 0x17B4 | 0x17B5 | 0x180B..=0x180F
        | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0x3164 | 0xE000..=0xF8FF
        | 0xFDD0..=0xFDEF | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFB | 0xFFFE | 0xFFFF
        | 0x1_D173..=0x1_D17A | 0xE_0000..=0x10_FFFF)
        || code & 0xFFFE == 0xFFFE
}

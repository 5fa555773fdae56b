//! `SafeText` is text from outside that is made printable once, when it is decoded.
//!
//! Names, captions and error details come from untrusted files and machines. If they were printed raw, they could move
//! the cursor, set the clipboard or change the terminal's title. Everything that reaches a screen, a table or a log is
//! therefore a `SafeText`.
//!
//! Names that users type are compared with names from outside in one form. Unicode writes `é` as one character (NFC, as
//! keyboards do) or as two (NFD, as the file names of macOS do), and both look the same.

use std::{
    borrow::Cow,
    cmp::{Ordering, Reverse},
    fmt,
    hash::{Hash, Hasher},
    time::Duration,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

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

/// Formats a size for display: `10.9 MiB`.
pub fn format_bytes(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "shown to three digits")]
    let value = bytes as f64;
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..0x10_0000 => format!("{:.1} KiB", value / 1024.0),
        0x10_0000..0x4000_0000 => format!("{:.1} MiB", value / f64::from(1 << 20)),
        _ => format!("{:.2} GiB", value / f64::from(1 << 30)),
    }
}

/// Whether a cell of a table needs an apostrophe in front of it, because a spreadsheet would calculate it. A name from
/// outside could be a formula that sends data elsewhere. A cell that looks like one with its apostrophe needs another
/// one, so that readers can remove exactly one.
pub fn needs_apostrophe(cell: &str) -> bool {
    let text = cell.trim_start_matches('\'');
    text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err()
}

/// Returns a cell of a table, with an apostrophe if it needs one.
pub fn with_apostrophe(cell: &str) -> Cow<'_, str> {
    if needs_apostrophe(cell) { format!("'{cell}").into() } else { cell.into() }
}

/// Returns a cell without the apostrophe that [`with_apostrophe`] has added.
pub fn without_apostrophe(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|text| needs_apostrophe(text)).unwrap_or(cell)
}

pub fn count_with_noun<N: Copy + fmt::Display + PartialEq + From<u8>>(
    count: N,
    one: &str,
    many: &str,
) -> String {
    let noun = if count == 1.into() { one } else { many };
    format!("{count} {noun}")
}

/// Formats a number with a thousands separator and its noun: `1 image`, `48 210 images`.
pub fn grouped_with_noun(count: u64, one: &str, many: &str) -> String {
    let noun = if count == 1 { one } else { many };
    format!("{} {noun}", group_digits(count))
}

/// Formats a number with a thousands separator: `48 210`.
pub fn group_digits(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats a duration as `06:11` or `1:06:11`.
pub fn format_duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds / 3600 {
        0 => format!("{:02}:{:02}", seconds / 60, seconds % 60),
        hours => format!("{hours}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
    }
}

pub fn format_age(age: Duration) -> String {
    match age.as_secs() {
        seconds @ ..60 => format!("{seconds} s ago"),
        seconds @ 60..3600 => format!("{} min ago", seconds / 60),
        seconds @ 3600..172_800 => format!("{} h ago", seconds / 3600),
        seconds => format!("{} days ago", seconds / 86_400),
    }
}

/// Formats the time to wait, rounded as people say it: `30 s`, `5 min`, `1 h`.
pub fn format_wait(wait: Duration) -> String {
    let seconds = wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0));
    let rounded = |unit: u64| seconds.saturating_add(unit / 2) / unit;
    match seconds {
        ..90 => format!("{seconds} s"),
        90..3_570 => format!("{} min", rounded(60)),
        3_570..171_000 => format!("{} h", rounded(3_600)),
        _ => format!("{} days", rounded(86_400)),
    }
}

pub fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Parses a boolean as it is commonly written in environment variables, forms and queries.
pub fn parse_boolean(word: &str) -> Option<bool> {
    match word.trim().to_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Some(true),
        "false" | "0" | "no" | "off" => Some(false),
        _ => None,
    }
}

/// Escapes text for XML and HTML, also within quotes. Control characters, which XML cannot contain, become spaces.
pub fn escape_xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Escapes the characters that JSON allows in strings but a terminal interprets, such as C1 controls and bidirectional
/// overrides, as `\u`. Line breaks stay, because JSON has them only between tokens.
pub fn escape_json(json: &str) -> String {
    use fmt::Write as _;
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if c == '\n' || !(c.is_control() || is_invisible(u32::from(c))) {
            text.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            let _ = write!(text, "\\u{unit:04x}");
        }
    }
    text
}

/// Truncates the start of a text to a display width, because the name is at the end of a path.
pub fn truncate_start(text: &str, cells: usize) -> String {
    if text.width() <= cells {
        return text.to_owned();
    }
    let reversed: String = text.graphemes(true).rev().collect();
    truncate(&reversed, cells).graphemes(true).rev().collect()
}

/// Truncates a text to a display width, with an ellipsis.
pub fn truncate(text: &str, cells: usize) -> String {
    if text.width() <= cells {
        return text.to_owned();
    }
    let mut clipped = String::new();
    let mut used = 0;
    for cluster in text.graphemes(true) {
        used += cluster.width();
        if used + 1 > cells {
            break;
        }
        clipped.push_str(cluster);
    }
    if cells > 0 {
        clipped.push('…');
    }
    clipped
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

/// Returns the text in NFC.
pub fn composed(text: &str) -> Cow<'_, str> {
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => Cow::Borrowed(text),
        IsNormalized::No | IsNormalized::Maybe => text.nfc().collect::<String>().into(),
    }
}

/// The maximum number of spellings of a path whose names are each in NFC or in NFD.
const MAX_MIXED_SPELLINGS: usize = 64;

/// Returns the spellings that a path may have on a disk: as it is, in NFC, in NFD, and with each of its names in one of
/// these forms. Keyboards and file systems differ, and a folder may come from another system than its files.
pub fn spellings(path: &str) -> Vec<String> {
    let forms = |text: &str| [composed(text).into_owned(), text.nfd().collect()];
    let mut mixed = vec![String::new()];
    for name in path.split_inclusive('/') {
        let mut forms = forms(name).to_vec();
        forms.truncate(MAX_MIXED_SPELLINGS / mixed.len());
        forms.dedup();
        mixed = forms
            .iter()
            .flat_map(|form| mixed.iter().map(move |before| format!("{before}{form}")))
            .collect();
    }
    let mut spellings = vec![path.to_owned()];
    for spelling in forms(path).into_iter().chain(mixed) {
        if !spellings.contains(&spelling) {
            spellings.push(spelling);
        }
    }
    spellings
}

/// Whether two names are the same text.
pub fn is_same_name(one: &str, other: &str) -> bool {
    one == other || composed(one) == composed(other)
}

/// Returns the form of a text in which typed text is searched: lower case in NFC.
pub fn search_form(text: &str) -> String {
    // Some characters are only composed after their conversion.
    let lower = text.to_lowercase();
    match composed(&lower) {
        Cow::Borrowed(_) => lower,
        Cow::Owned(composed) => composed,
    }
}

/// Returns the characters that may separate the columns of a table, the most likely one first: the one that the first
/// line states (`sep=;`), or else those that the first line has most often.
pub fn table_delimiters(table: &str) -> Vec<u8> {
    if let Some(stated) = table.strip_prefix("sep=").and_then(|rest| rest.bytes().next()) {
        return vec![stated];
    }
    let header = table.lines().next().unwrap_or_default();
    let mut delimiters = b",;\t|".to_vec();
    let count = |delimiter: &u8| header.bytes().filter(|byte| byte == delimiter).count();
    delimiters.sort_by_key(|delimiter| Reverse(count(delimiter)));
    delimiters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_of_a_path_may_be_composed_or_decomposed() {
        assert_eq!(spellings("a/b.png"), ["a/b.png"]);
        let (composed, decomposed) = ("\u{e9}", "e\u{301}");
        for (folder, file) in [(composed, decomposed), (decomposed, composed)] {
            let on_disk = format!("a/{folder}/{file}.png");
            for typed in [composed, decomposed] {
                assert!(spellings(&format!("a/{typed}/{typed}.png")).contains(&on_disk));
            }
        }
        assert!(spellings(&format!("{composed}/").repeat(100)).len() <= MAX_MIXED_SPELLINGS + 3);
    }

    #[test]
    fn composed_and_decomposed_names_are_the_same() {
        let (composed, decomposed) = ("Caf\u{e9} cr\u{e8}me", "Cafe\u{301} cre\u{300}me");
        assert!(is_same_name(composed, decomposed) && is_same_name(decomposed, composed));
        assert!(!is_same_name(composed, "Cafe creme") && !is_same_name("a", "A"));
        assert_eq!(search_form(composed), search_form(decomposed));
        assert_eq!(search_form("STREET Cams"), "street cams");
        // The syllables of Korean are composed by another rule.
        assert!(is_same_name(
            "\u{d55c}\u{ae00}",
            "\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af}"
        ));
    }
}

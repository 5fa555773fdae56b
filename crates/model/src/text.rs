//! Texts as they are shown and compared: printable text, numbers, truncation to a width, escapes, and spellings of names.
//!
//! Names that users type are compared with names from outside in one form. Unicode writes `é` as one character (NFC, as
//! keyboards do) or as two (NFD, as the file names of macOS do), and both look the same.

mod numbers;
mod safe_text;
mod table_text;

use std::borrow::Cow;

pub use numbers::{
    count_with_noun, first_names, format_age, format_bytes, format_day, format_duration,
    format_wait, group_digits, grouped_with_noun,
};
pub use safe_text::{SafeText, is_invisible};
pub use table_text::{needs_apostrophe, table_delimiters, with_apostrophe, without_apostrophe};
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

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
    use std::fmt::Write as _;
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

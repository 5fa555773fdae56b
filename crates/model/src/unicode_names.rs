//! Compares names that users type with names that services, files and settings have. Unicode writes `é` as one character
//! (NFC, as keyboards do) or as two (NFD, as the file names of macOS do), and both look the same.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

/// Returns the text in NFC.
pub fn composed(text: &str) -> Cow<'_, str> {
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => Cow::Borrowed(text),
        IsNormalized::No | IsNormalized::Maybe => text.nfc().collect::<String>().into(),
    }
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

//! Splits texts into words and reduces them to their stems, so that "sailing boats" and "a boat sails" share both
//! words.

use super::language::{Language, is_stop_word};

/// Length limit of a content word, in bytes.
const MAX_WORD_BYTES: usize = 64;

/// Returns the words of a text in lower case.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect::<Vec<_>>().into_iter()
}

/// Returns the stems of the words that describe a picture, in order, including repetitions.
pub fn content_stems(text: &str, language: Language) -> Vec<String> {
    let stemmer = language.stemmer();
    words(text)
        .filter(|word| is_content_word(word, language))
        .map(|word| stemmer.stem(&word).into_owned())
        .collect()
}

/// Returns the stems of all words of a text, separated by spaces, as the full-text index contains them.
pub fn stemmed_text(text: &str, language: Language) -> String {
    let stemmer = language.stemmer();
    let stems: Vec<String> = words(text).map(|word| stemmer.stem(&word).into_owned()).collect();
    stems.join(" ")
}

/// Single Latin letters are articles or remains of an apostrophe.
fn is_content_word(word: &str, language: Language) -> bool {
    let letter = word.len() == 1 && word.bytes().all(|b| b.is_ascii_alphabetic());
    !letter && word.len() <= MAX_WORD_BYTES && !is_stop_word(word, language)
}

//! Tokenizes texts for the text space: lower case, without stop words, stemmed, so that "sailing
//! boats" and "a boat sails" share both words.

use rust_stemmers::{Algorithm, Stemmer};

/// Words that occur in any caption and say nothing about the image.
const STOP_WORDS: [&str; 49] = [
    "after", "am", "an", "and", "are", "as", "at", "be", "been", "before", "being", "but", "by",
    "for", "from", "had", "has", "have", "he", "her", "his", "if", "in", "into", "is", "it", "its",
    "of", "on", "or", "she", "some", "than", "that", "the", "their", "them", "there", "these",
    "they", "this", "those", "to", "was", "were", "which", "while", "who", "with",
];

/// Length limit of a word, in bytes.
const MAX_WORD_BYTES: usize = 64;

/// Returns the stems of a text in order, including repetitions.
pub fn stems(text: &str) -> Vec<String> {
    let stemmer = Stemmer::create(Algorithm::English);
    text.to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| is_content_word(word))
        .map(|word| stemmer.stem(word).into_owned())
        .collect()
}

/// Single Latin letters are articles or remains of an apostrophe.
fn is_content_word(word: &str) -> bool {
    let letter = word.len() == 1 && word.bytes().all(|b| b.is_ascii_alphabetic());
    !word.is_empty() && !letter && word.len() <= MAX_WORD_BYTES && !STOP_WORDS.contains(&word)
}

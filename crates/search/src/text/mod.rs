//! Searches text. The modules detect the languages of captions, parse and score full-text queries, train the text space
//! (LSA), and split file names into words.

pub mod full_text_query;
pub mod language;
mod language_detection;
pub mod lsa;
pub mod name_words;
pub mod words;

pub use language_detection::detect_language;

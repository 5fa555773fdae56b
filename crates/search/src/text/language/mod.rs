//! The languages of captions: their stems, their stop words, and which one captions are in.

mod alphabets;
mod choice;
mod detection;
mod language_set;
mod stop_words;
mod supported;

pub use choice::LanguageChoice;
pub use detection::detect_language;
pub use stop_words::is_stop_word;
pub use supported::Language;

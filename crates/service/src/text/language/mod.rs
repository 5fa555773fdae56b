//! The languages of captions: their stems, their stop words, and which one captions are in.

mod choice;
mod detection;
mod stop_words;
mod supported;

pub use choice::LanguageChoice;
pub use detection::detect_language;
pub use stop_words::is_stop_word;
pub use supported::Language;

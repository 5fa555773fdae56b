//! Text search: languages of captions, full-text queries and their scores, and the trained text space (LSA),
//! and words of file names.

pub mod bm25;
pub mod full_text_query;
pub mod language;
mod language_detection;
pub mod lsa;
pub mod name_words;
mod stop_words;
pub mod words;

pub use language_detection::detect_language;

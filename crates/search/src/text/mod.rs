//! Text search: languages of captions, full-text queries and their scores, and the trained text space (LSA).

pub mod bm25;
pub mod full_text_query;
pub mod language;
mod language_detection;
pub mod lsa;
mod stop_words;
pub mod words;

pub use language_detection::detect_language;

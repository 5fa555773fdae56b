//! Text search: languages of captions, full-text queries and their scores, and the trained text space (LSA).

pub mod bm25;
pub mod full_text_query;
pub mod language;
pub mod lsa;
pub mod words;

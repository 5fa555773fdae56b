//! Text search: languages of captions, full-text queries, the trained text space (LSA), and the user's own encoders.

pub mod encoders;
pub mod full_text_query;
pub mod language;
pub mod lsa;
pub mod words;

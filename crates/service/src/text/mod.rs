//! Text search: full-text queries, the trained text space (LSA).

pub mod full_text_query;
pub mod lsa;
pub mod stemming;

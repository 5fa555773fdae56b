//! Words about media: the language of full-text search.

pub mod query;

//! Words about media: the language of full-text search, and the space in which texts that say
//! alike things are near.

pub mod query;
pub mod space;
mod stem;

//! Words about media: the language of full-text search, the space in which texts that say alike
//! things are near, and a person's own encoders, which put texts and pictures into one space.

pub mod encoders;
pub mod full_text_query;
pub mod lsa;
mod stemming;

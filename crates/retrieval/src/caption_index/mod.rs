//! The full-text index of the captions of a dataset: which captions contain a word, and where. Start at
//! [`CaptionIndex::search`].

mod builder;
mod byte_lists;
mod caption_matches;
mod columns;
mod postings;
mod search;

pub use builder::CaptionIndexBuilder;
pub use columns::CaptionIndex;

#[cfg(test)]
mod tests;

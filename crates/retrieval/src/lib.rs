//! Searches datasets: resolves queries, filters by them, and ranks clusters. The media items of a searched dataset are
//! in memory (`dataset_index`), or in a search table of the database (`table_ranking`). Start at
//! [`SearchContext::search`].

mod caption_index;
mod caption_postings;
mod checked_file;
mod columns;
mod dataset_index;
mod filter_mask;
mod index_builder;
mod index_cache;
mod index_folder;
pub mod issues;
mod member_columns;
mod models;
mod property_columns;
mod ranking;
mod search;
mod search_context;
mod search_query;
pub mod stored_pictures;
mod table_ranking;
mod user_tags;
mod vector_source;

pub use caption_index::{CaptionIndex, CaptionIndexBuilder};
pub use index_cache::{CacheUsage, IndexCache};
pub use index_folder::remove_outdated;
pub use models::{ModelChoice, Models};
pub use ranking::SearchRanking;
pub use search_context::SearchContext;
pub use search_query::{RetrievalError, SearchQuery};
pub use user_tags::UserTagIndex;

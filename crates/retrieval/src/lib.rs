//! Search: the media items of each searched dataset in memory, or in a search table of the database; queries over
//! them, and the ranked clusters.

mod caption_index;
mod checked_file;
mod cluster_members;
mod column_file;
mod copies;
mod dataset_index;
mod error;
mod filter_mask;
mod first_uses;
mod id_lists;
mod index_builder;
mod index_cache;
mod index_folder;
mod index_limits;
pub mod issues;
mod member_columns;
mod name_table;
mod path_order;
mod picture_members;
mod query_run;
mod ranking;
mod search_context;
mod search_query;
mod search_ranking;
pub mod stored_pictures;
mod table_ranking;
mod vector_source;

pub use caption_index::{CaptionIndex, CaptionIndexBuilder};
pub use dataset_index::tag_id;
pub use error::RetrievalError;
pub use index_cache::{CacheUsage, IndexCache};
pub use index_folder::remove_outdated;
pub use search_context::SearchContext;
pub use search_query::SearchQuery;
pub use search_ranking::SearchRanking;

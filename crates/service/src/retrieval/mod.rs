//! Search: the media items of each searched dataset in memory, queries over them, and the ranked clusters.

mod cluster_members;
mod dataset_index;
mod error;
mod filter_mask;
mod id_lists;
mod index_cache;
mod member_columns;
mod picture_members;
mod ranking;
mod search_context;
mod search_query;

pub use dataset_index::tag_id;
pub use error::RetrievalError;
pub use index_cache::IndexCache;
pub use ranking::{ClusterMatch, ClusterRanking, SelectedMember};
pub use search_context::SearchContext;
pub use search_query::SearchQuery;

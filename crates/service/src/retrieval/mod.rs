//! Search: the media items of each searched dataset in memory, queries over them, and the ranked clusters.

mod dataset_index;
mod filter_mask;
mod index_cache;
mod ranking;
mod search_context;

pub use dataset_index::{DatasetIndex, SearchQuery, tag_id};
pub use index_cache::IndexCache;
pub use ranking::ClusterMatch;
pub use search_context::{RetrievalError, SearchContext};

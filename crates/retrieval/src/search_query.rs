//! What can be searched for, and why a query has no result.

use std::io;

use tessera_model::{Anchor, EntityType, Filter, Granularity, vql::Fraction};
use tessera_search::text::full_text_query::SyntaxError;
use tessera_store::StoreError;

/// The query of a search. Equal queries have equal results within a generation.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SearchQuery {
    pub entity: EntityType,
    /// Ranks by similarity to an image.
    pub anchor: Option<Anchor>,
    /// Ranks by the meaning of a text.
    pub caption: Option<String>,
    /// The score that results must be below.
    pub max_score: Option<Fraction>,
    pub filters: Vec<Filter>,
    pub granularity: Granularity,
}

/// The reason why a query has no result.
#[derive(Debug)]
pub enum RetrievalError {
    AnchorNotFound,
    /// No media item has an embedding that a text could be compared with.
    NoTextEmbeddings,
    /// The query has a maximum score, but nothing that ranks by similarity.
    NoSimilarity,
    /// The encoder rejects the text; the message says why.
    UnencodableText(String),
    FullText(SyntaxError),
    /// An indexing task ended while the search ran. The next search finds its result.
    Outdated,
    Store(StoreError),
    /// The thumbnail of the picture to compare with cannot be read from the bucket.
    UnreadableThumbnail(io::Error),
}

impl From<StoreError> for RetrievalError {
    fn from(cause: StoreError) -> Self {
        Self::Store(cause)
    }
}

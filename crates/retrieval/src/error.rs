//! Why a query has no result.

use std::io;

use tessera_search::text::full_text_query::SyntaxError;
use tessera_store::StoreError;

#[derive(Debug)]
pub enum RetrievalError {
    AnchorNotFound,
    /// No media item has an embedding that a text could be compared with.
    NoTextEmbeddings,
    /// There is a maximum score, and nothing that ranks by similarity.
    NoSimilarity,
    /// The encoder rejects the text; the message says why.
    UnencodableText(String),
    FullText(SyntaxError),
    /// An operation ended while the search ran; the next one finds its result.
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

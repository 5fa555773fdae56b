//! What can be searched for, and why a query has no result.

use std::io;

use tessera_encoder::LoadError;
use tessera_model::{Anchor, EntityType, FileOrder, Filter, TagId, vql::Fraction};
use tessera_search::{member_search::Grouping, text::full_text_query::SyntaxError};
use tessera_store::StoreError;

/// The query of a search. Equal queries have equal results within a generation.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct SearchQuery {
    pub entity: EntityType,
    /// The image by whose similarity the search ranks.
    pub anchor: Option<Anchor>,
    /// The text by whose meaning the search ranks.
    pub caption: Option<String>,
    /// The bound below which scores must be.
    pub max_score: Option<Fraction>,
    pub filters: Vec<Filter>,
    pub grouping: Grouping,
    /// The order of files, in place of the order by scores.
    pub order: Option<FileOrder>,
}

/// Returns the distance below which results must be, with the precision of distances. The user may have copied the
/// distance of a result, which is not below itself. Its text is a number with fewer digits than the distance itself.
pub(super) fn distance_bound(max: Fraction) -> f64 {
    #[expect(clippy::cast_possible_truncation, reason = "distances have this precision")]
    let max = max.value() as f32;
    max.into()
}

/// The reason why a query has no result.
#[derive(Debug)]
pub enum RetrievalError {
    AnchorNotFound,
    /// The query has a maximum score, but no part that ranks by similarity.
    NoSimilarity,
    /// The database searches the dataset, and its search table has no order of files.
    NoFileOrder,
    /// The encoder rejects the text. The message says why.
    UnencodableText(String),
    /// The files of the dataset's own model cannot be read.
    UnreadableModel(LoadError),
    FullText(SyntaxError),
    /// A filter names a column that no media item of the dataset has.
    UnknownColumn {
        name: String,
        known: Vec<String>,
    },
    /// A filter has a tag that the dataset does not have.
    UnknownTag(TagId),
    /// A pattern of a filter cannot be compiled. The message says why.
    UnusablePattern(&'static str),
    /// The filter of the query that has one of the four errors above, by its index.
    InFilter(usize, Box<Self>),
    /// An indexing task ended while the search ran. The next search uses its result.
    Outdated,
    Store(StoreError),
    /// The thumbnail of the picture to compare with could not be read from the bucket.
    UnreadableThumbnail(io::Error),
}

impl RetrievalError {
    /// Names the filter that is refused. Other errors do not say which filter caused them.
    pub(super) fn in_filter(self, index: usize) -> Self {
        match self {
            Self::FullText(_)
            | Self::UnknownColumn { .. }
            | Self::UnknownTag(_)
            | Self::UnusablePattern(_) => Self::InFilter(index, Box::new(self)),
            other => other,
        }
    }
}

impl From<StoreError> for RetrievalError {
    fn from(cause: StoreError) -> Self {
        Self::Store(cause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_of_a_result_is_not_below_its_own_text() {
        for distance in [0.051_536_664_f32, 0.1, 0.333_333_34, 1.0] {
            let copied: f64 = distance.to_string().parse().unwrap();
            let bound = distance_bound(Fraction::new(copied).unwrap());
            assert_eq!(f64::from(distance).to_bits(), bound.to_bits());
        }
    }
}

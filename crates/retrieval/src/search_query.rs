//! What is searched for.

use tessera_model::{Anchor, EntityType, Filter, Granularity, vql::Fraction};

/// A search. Equal queries have equal results within a generation.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SearchQuery {
    pub entity: EntityType,
    /// Ranks by similarity to an image.
    pub anchor: Option<Anchor>,
    /// Ranks by the meaning of a text.
    pub caption: Option<String>,
    /// Only scores below it.
    pub max_score: Option<Fraction>,
    pub filters: Vec<Filter>,
    pub granularity: Granularity,
}

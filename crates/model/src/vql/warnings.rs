//! What there is to say of a query without asking anybody: what it needs, and what may be refused.

use super::{Filter, IssueKind};
use crate::{EnrichmentModel, SafeText};

/// Characters of a query from which some services and their proxies refuse an address.
const LONG_QUERY_CHARS: usize = 4_000;

impl Filter {
    /// The enrichment models one of which it needs; none where it needs nothing.
    pub fn required_models(&self) -> &'static [EnrichmentModel] {
        match self {
            Self::FullText(_) => EnrichmentModel::CAPTIONS,
            Self::Semantic { .. } => EnrichmentModel::SEMANTIC,
            Self::Labels(..) => EnrichmentModel::LABELS,
            Self::Tags(_)
            | Self::Issue(_)
            | Self::Duplicates(_)
            | Self::Uniqueness(_)
            | Self::Similar { .. } => &[],
        }
    }
}

/// That the word of an issue may be refused: the interface publishes one.
pub fn unpublished_issue_warning(word: &str) -> Option<String> {
    let word = word.trim();
    (!word.is_empty() && word != IssueKind::Blur.word()).then(|| {
        let word = SafeText::name(word);
        format!("“{word}” is not published as an issue: this service may refuse it")
    })
}

/// That a query of this many characters may be refused.
pub fn long_query_warning(characters: usize) -> Option<String> {
    (characters > LONG_QUERY_CHARS)
        .then(|| format!("{characters} characters in the address; some proxies refuse so many"))
}

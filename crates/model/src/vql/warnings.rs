//! Requirements and warnings of a query that are known without asking the service.

use super::{Filter, IssueKind};
use crate::{EnrichmentModel, SafeText};

/// Some services and proxies reject longer URLs.
const LONG_QUERY_CHARS: usize = 4_000;

impl Filter {
    /// The enrichment models of which it needs one.
    pub fn required_models(&self) -> &'static [EnrichmentModel] {
        match self {
            Self::FullText(_) => EnrichmentModel::ANY_FOR_CAPTIONS,
            Self::Semantic { .. } => EnrichmentModel::ANY_FOR_SEMANTIC,
            Self::Labels(..) => EnrichmentModel::ANY_FOR_LABELS,
            _ => &[],
        }
    }
}

/// The interface publishes only one issue name; services may reject others.
pub fn unpublished_issue_warning(name: &str) -> Option<String> {
    let name = name.trim();
    (!name.is_empty() && name != IssueKind::Blur.as_str()).then(|| {
        let name = SafeText::name(name);
        format!("“{name}” is not a published issue name: this service may reject it")
    })
}

pub fn long_query_warning(characters: usize) -> Option<String> {
    (characters > LONG_QUERY_CHARS)
        .then(|| format!("{characters} characters in the URL; some proxies reject URLs this long"))
}

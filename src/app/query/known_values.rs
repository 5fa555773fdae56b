//! Values that occurred in the loaded pages of a dataset, as suggestions. They are never complete,
//! because the service has no list of labels, tags or issues.

use std::collections::{BTreeMap, BTreeSet};

use crate::app::query::{FilterKind, FilterRow};
use tessera_model::{
    Filter, Page, SafeText, Search, TagId,
    vql::{IssueFilter, IssueKind, IssueName},
};

#[derive(Clone, Debug, Default)]
pub struct KnownValues {
    labels: BTreeSet<SafeText>,
    tags: BTreeMap<TagId, SafeText>,
    /// Unpublished names of issues that the service has accepted.
    issues: BTreeSet<SafeText>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// What is sent.
    pub value: String,
    pub label: SafeText,
}

impl KnownValues {
    const MAX_VALUES: usize = 2_000;

    /// Adds the values of a page, and the issue names of its search: the service accepted them.
    pub fn record_page(&mut self, search: &Search, page: &Page) {
        for cluster in &page.clusters {
            if self.labels.len() < Self::MAX_VALUES {
                self.labels.extend(cluster.labels.iter().cloned());
            }
            for tag in &cluster.tags {
                if let (Some(id), true) = (tag.id, self.tags.len() < Self::MAX_VALUES) {
                    self.tags.insert(id, tag.name.clone());
                }
            }
        }
        for filter in &search.filters {
            if let Filter::Issue(IssueFilter { kind: IssueName::Other(word), .. }) = filter {
                self.issues.insert(SafeText::name(word.as_str()));
            }
        }
    }

    pub fn accepted_issue(&self, word: &str) -> bool {
        self.issues.contains(&SafeText::name(word))
    }

    /// The names of issues that this program knows, and those that the service has accepted.
    pub fn issue_names(&self) -> impl Iterator<Item = SafeText> {
        let known = IssueKind::ALL.iter().map(|kind| SafeText::name(kind.as_str()));
        known.chain(self.issues.iter().cloned())
    }

    pub fn tag_name(&self, id: &str) -> Option<&SafeText> {
        self.tags.get(&id.parse().ok()?)
    }

    pub fn tag_id(&self, name: &str) -> Option<TagId> {
        self.tags.iter().find(|(_, known)| known.as_str() == name.trim()).map(|(id, _)| *id)
    }

    /// The values that start with the typed text of a row and are not in it yet.
    pub fn suggest(&self, row: &FilterRow, most: usize) -> Vec<Suggestion> {
        let suggestion = |label: SafeText| Suggestion { value: label.as_str().to_owned(), label };
        let all: Vec<Suggestion> = match row.kind {
            FilterKind::Labels => self.labels.iter().cloned().map(suggestion).collect(),
            FilterKind::Tags => {
                let tag = |(id, name): (&TagId, &SafeText)| Suggestion {
                    value: id.to_string(),
                    label: name.clone(),
                };
                self.tags.iter().map(tag).collect()
            }
            FilterKind::Issues => self.issue_names().map(suggestion).collect(),
            FilterKind::Text
            | FilterKind::Duplicates
            | FilterKind::Uniqueness
            | FilterKind::Similarity => Vec::new(),
        };
        let typed = row.text(0).trim().to_lowercase();
        let fits = |suggestion: &Suggestion| {
            let label = suggestion.label.as_str().to_lowercase();
            label.starts_with(&typed) && label != typed && !row.entries.contains(&suggestion.value)
        };
        all.into_iter().filter(fits).take(most).collect()
    }
}

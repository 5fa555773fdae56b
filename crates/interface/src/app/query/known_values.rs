//! Collects the values in loaded pages, which the query builder suggests.

use std::collections::{BTreeMap, BTreeSet};

use tessera_model::{
    Filter, TagId, is_same_name, search_form,
    vql::{FileProperty, IssueFilter, IssueKind, IssueName, PathPattern, format_of_file},
};

use crate::app::prelude::*;
use crate::app::query::{FilterKind, FilterRow};

#[derive(Clone, Debug, Default)]
pub struct KnownValues {
    labels: BTreeSet<SafeText>,
    tags: BTreeMap<TagId, SafeText>,
    /// Names of issues that are not published, but that the service has accepted.
    issues: BTreeSet<SafeText>,
    folders: BTreeSet<SafeText>,
    formats: BTreeSet<SafeText>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// The value that is sent.
    pub value: String,
    pub label: SafeText,
}

impl KnownValues {
    const MAX_VALUES: usize = 2_000;

    /// Records the values of a page, and the issue names in its search, because the service has
    /// accepted them.
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
            cluster.previews.iter().for_each(|preview| self.record_file(preview));
        }
        for filter in &search.filters {
            if let Filter::Issue(IssueFilter { kind: IssueName::Other(word), .. }) = filter {
                self.issues.insert(SafeText::name(word.as_str()));
            }
        }
    }

    fn record_file(&mut self, preview: &Preview) {
        let path = preview.original_uri.as_ref().map(SafeText::received);
        let file = path.and_then(|path| path.rsplit_once('/'));
        if let Some((folder, _)) = file.filter(|_| self.folders.len() < Self::MAX_VALUES) {
            self.folders.insert(SafeText::file_name(folder));
        }
        let name = file.map(|(_, name)| name).or(path);
        let format = format_of_file(name.unwrap_or(preview.file_name.received()));
        if !format.is_empty() && self.formats.len() < Self::MAX_VALUES {
            self.formats.insert(SafeText::name(&format));
        }
    }

    pub fn accepted_issue(&self, word: &str) -> bool {
        self.issues.contains(&SafeText::name(word))
    }

    /// Returns the names of issues that this program knows, and of issues that the service has
    /// accepted.
    pub fn issue_names(&self) -> impl Iterator<Item = SafeText> {
        let known = IssueKind::ALL.iter().map(|kind| SafeText::name(kind.as_str()));
        known.chain(self.issues.iter().cloned())
    }

    pub fn tag_name(&self, id: &str) -> Option<&SafeText> {
        self.tags.get(&id.parse().ok()?)
    }

    pub fn tag_id(&self, name: &str) -> Option<TagId> {
        self.tags
            .iter()
            .find(|(_, known)| is_same_name(known.received(), name.trim()))
            .map(|(id, _)| *id)
    }

    /// Returns the values that start with the typed text of a row and are not in the row yet.
    pub fn suggest(&self, row: &FilterRow, limit: usize) -> Vec<Suggestion> {
        let suggestion = |label: SafeText| Suggestion { value: label.received().to_owned(), label };
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
            FilterKind::File(FileProperty::Path) => {
                let folder = |label: &SafeText| {
                    let pattern = PathPattern::literal(label.received()).ok()?;
                    Some(Suggestion { value: pattern.as_str().to_owned(), label: label.clone() })
                };
                self.folders.iter().filter_map(folder).collect()
            }
            FilterKind::File(FileProperty::Format) => {
                self.formats.iter().cloned().map(suggestion).collect()
            }
            _ => Vec::new(),
        };
        let typed = search_form(row.text(0).trim());
        let fits = |suggestion: &Suggestion| {
            let label = search_form(suggestion.label.as_str());
            label.starts_with(&typed) && label != typed && !row.entries.contains(&suggestion.value)
        };
        all.into_iter().filter(fits).take(limit).collect()
    }
}

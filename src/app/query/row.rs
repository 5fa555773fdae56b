//! Keeps a row of the query builder, which is a filter while it is being edited, whether it is valid yet or not. The
//! values in loaded pages, which the query builder suggests, are collected here.
//!
//! A row has one choice (its `op`, or the `mode` of an issue) and a few text fields. It becomes a
//! [`Filter`], or names the field that is wrong, so that a filter with two keys cannot be built.

use std::collections::{BTreeMap, BTreeSet};

use tessera_model::{
    Anchor, AnchorKind, Filter, Fraction, Page, SafeText, Search, TagId, is_same_name, search_form,
    vql::{InvalidField, IssueFilter, IssueKind, IssueMode, IssueName, LabelRule},
};
use tui_input::Input;

use crate::{
    app::overlay::fields::edit,
    input::{Chord, Key as Button},
};

/// The kind of a filter, which is its key on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterKind {
    Text,
    Labels,
    Tags,
    Issues,
    Duplicates,
    Uniqueness,
    Similarity,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterField {
    /// The name of the field on the wire, as in [`InvalidField::field`].
    pub name: &'static str,
    /// The name of the field on screen. Empty for the value itself.
    pub label: &'static str,
}

const VALUE_FIELD: FilterField = FilterField { name: "value", label: "" };

impl FilterKind {
    pub const ALL: [Self; 7] = [
        Self::Text,
        Self::Labels,
        Self::Tags,
        Self::Issues,
        Self::Duplicates,
        Self::Uniqueness,
        Self::Similarity,
    ];

    pub fn keyword(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Labels => "labels",
            Self::Tags => "tags",
            Self::Issues => "issues",
            Self::Duplicates => "duplicates",
            Self::Uniqueness => "uniqueness",
            Self::Similarity => "similarity",
        }
    }

    pub fn description(self) -> &'static str {
        match self {
            Self::Text => {
                "captions: fts finds words, semantic meanings (with MULTIMODEL_IMAGE_ENCODING or CAPTION_IMAGES)"
            }
            Self::Labels => "labels of IMAGE_TAGGING: Enter adds one to the list",
            Self::Tags => "user tags, by id; by name once a page with the tag was loaded",
            Self::Issues => "quality issues; only blur is documented, others may be rejected",
            Self::Duplicates => "has a near-duplicate at least this similar, 0 to 1",
            Self::Uniqueness => "differs more from all others than this, 0 to 1",
            Self::Similarity => "similar to an image: the id of a media item or an upload",
        }
    }

    pub fn choices(self) -> &'static [&'static str] {
        match self {
            Self::Text => &["semantic", "fts"],
            Self::Labels => &["one_of", "is", "is_not", "not_one_of"],
            Self::Tags => &["is"],
            Self::Issues => &["in", "out"],
            Self::Duplicates => &["duplicates"],
            Self::Uniqueness => &["uniqueness"],
            Self::Similarity => &["media", "upload"],
        }
    }

    fn fields(self) -> &'static [FilterField] {
        const MIN_SIMILARITY: FilterField =
            FilterField { name: "threshold", label: "min similarity" };
        const MAX_DISTANCE: FilterField = FilterField { name: "threshold", label: "max distance" };
        const FROM: FilterField = FilterField { name: "confidence_min", label: "confidence from" };
        const TO: FilterField = FilterField { name: "confidence_max", label: "to" };
        match self {
            Self::Text => &[VALUE_FIELD, MIN_SIMILARITY],
            Self::Issues => &[VALUE_FIELD, FROM, TO],
            Self::Similarity => &[VALUE_FIELD, MAX_DISTANCE],
            Self::Labels | Self::Tags | Self::Duplicates | Self::Uniqueness => &[VALUE_FIELD],
        }
    }

    pub fn is_list(self) -> bool {
        matches!(self, Self::Labels | Self::Tags)
    }
}

#[derive(Clone, Debug)]
pub struct FilterRow {
    pub enabled: bool,
    pub kind: FilterKind,
    /// The position of the choice in [`FilterKind::choices`].
    pub choice: usize,
    /// The entries of a list as they are sent. Empty for other kinds of filters.
    pub entries: Vec<String>,
    /// The typed text of each field. For a list, this is the text of the new entry.
    pub(super) inputs: Vec<Input>,
}

impl FilterRow {
    pub fn new(kind: FilterKind) -> Self {
        let inputs = vec![Input::default(); kind.fields().len()];
        Self { enabled: true, kind, choice: 0, entries: Vec::new(), inputs }
    }

    pub fn from_filter(filter: &Filter) -> Self {
        let number = |number: Option<Fraction>| {
            number.map_or_else(String::new, |number| number.value().to_string())
        };
        let (kind, keyword, texts) = match filter {
            Filter::FullText(text) => (FilterKind::Text, "fts", vec![text.as_str().to_owned()]),
            Filter::Semantic { text, min_similarity } => {
                let texts = vec![text.as_str().to_owned(), number(*min_similarity)];
                (FilterKind::Text, "semantic", texts)
            }
            Filter::Labels(rule, labels) => {
                let labels = labels.as_slice().iter().map(|label| label.as_str().to_owned());
                (FilterKind::Labels, rule.as_str(), labels.collect())
            }
            Filter::Tags(tags) => {
                (FilterKind::Tags, "is", tags.as_slice().iter().map(TagId::to_string).collect())
            }
            Filter::Issue(issue) => {
                let (from, to) = (number(issue.confidence_min), number(issue.confidence_max));
                let texts = vec![issue.kind.as_str().to_owned(), from, to];
                (FilterKind::Issues, issue.mode.as_str(), texts)
            }
            Filter::Duplicates(similarity) => {
                (FilterKind::Duplicates, "duplicates", vec![number(Some(*similarity))])
            }
            Filter::Uniqueness(score) => {
                (FilterKind::Uniqueness, "uniqueness", vec![number(Some(*score))])
            }
            Filter::Similar { anchor, max_distance } => {
                let keyword = if anchor.kind == AnchorKind::Upload { "upload" } else { "media" };
                let texts = vec![anchor.media.to_string(), number(*max_distance)];
                (FilterKind::Similarity, keyword, texts)
            }
        };
        let choice = kind.choices().iter().position(|choice| *choice == keyword).unwrap_or(0);
        let mut row = Self { choice, ..Self::new(kind) };
        if kind.is_list() {
            row.entries = texts;
        } else {
            row.inputs.iter_mut().zip(texts).for_each(|(input, text)| *input = text.into());
        }
        row
    }

    pub fn choice_keyword(&self) -> &'static str {
        self.kind.choices()[self.choice]
    }

    pub fn cycle_choice(&mut self, by: isize) {
        let count = self.kind.choices().len().cast_signed();
        self.choice = (self.choice.cast_signed() + by).rem_euclid(count).cast_unsigned();
    }

    pub fn fields(&self) -> impl Iterator<Item = (FilterField, &Input)> {
        // A full-text filter has no bound, so its second field is not shown.
        let count = if self.choice_keyword() == "fts" { 1 } else { self.inputs.len() };
        self.kind.fields().iter().copied().zip(&self.inputs).take(count)
    }

    pub fn text(&self, field: usize) -> &str {
        self.inputs.get(field).map_or("", Input::value)
    }

    pub fn input_mut(&mut self, field: usize) -> Option<&mut Input> {
        self.inputs.get_mut(field)
    }

    /// Returns whether nothing was typed or added, so that the row is not a condition.
    pub(super) fn is_blank(&self) -> bool {
        self.entries.is_empty() && self.inputs.iter().all(|input| input.value().trim().is_empty())
    }

    /// Handles a key in a field. Backspace in an empty list field removes the last entry.
    pub fn edit(&mut self, field: usize, chord: Chord) {
        let Some(input) = self.inputs.get_mut(field) else { return };
        if chord.key == Button::Backspace && input.value().is_empty() && self.kind.is_list() {
            self.entries.pop();
        } else {
            edit(input, chord);
        }
    }

    /// Replaces the text of a field, or adds an entry to a list.
    pub fn set_value(&mut self, field: usize, text: &str) {
        if self.kind.is_list() {
            self.entries.push(text.to_owned());
            self.entries.dedup();
        }
        if let Some(input) = self.inputs.get_mut(field) {
            *input = if self.kind.is_list() { Input::default() } else { text.into() };
        }
    }

    pub fn filter(&self) -> Result<Filter, InvalidField> {
        let value = self.text(0);
        match self.kind {
            FilterKind::Text if self.choice_keyword() == "fts" => Filter::full_text(value),
            FilterKind::Text => Filter::semantic(value, self.optional_number(1)?),
            FilterKind::Labels => Filter::labels(
                LabelRule::ALL[self.choice],
                self.all_entries().iter().map(String::as_str),
            ),
            FilterKind::Tags => {
                let tags: Result<Vec<TagId>, _> =
                    self.all_entries().iter().map(|tag| tag_id(tag)).collect();
                Filter::tags(tags?)
            }
            FilterKind::Issues => Filter::issue(
                IssueName::new(value)?,
                IssueMode::ALL[self.choice],
                self.optional_number(1)?,
                self.optional_number(2)?,
            ),
            FilterKind::Duplicates => Filter::duplicates(self.required_number()?),
            FilterKind::Uniqueness => Filter::uniqueness(self.required_number()?),
            FilterKind::Similarity => {
                let reason =
                    || InvalidField { field: "value", reason: "must be the id of an image".into() };
                let media = value.trim().parse().map_err(|_| reason())?;
                let kind = if self.choice == 0 { AnchorKind::Media } else { AnchorKind::Upload };
                Filter::similar(Anchor { media, kind }, self.optional_number(1)?)
            }
        }
    }

    /// Returns the entries, including the entry that is being typed.
    fn all_entries(&self) -> Vec<String> {
        let half = Some(self.text(0).trim()).filter(|half| !half.is_empty());
        self.entries.iter().cloned().chain(half.map(str::to_owned)).collect()
    }

    fn required_number(&self) -> Result<f64, InvalidField> {
        self.optional_number(0)?.ok_or_else(|| not_a_number("value"))
    }

    fn optional_number(&self, field: usize) -> Result<Option<f64>, InvalidField> {
        match self.text(field).trim() {
            "" => Ok(None),
            typed => {
                let wrong = |_| not_a_number(self.kind.fields()[field].name);
                typed.parse().map(Some).map_err(wrong)
            }
        }
    }
}

fn not_a_number(field: &'static str) -> InvalidField {
    InvalidField { field, reason: "must be a number".to_owned() }
}

fn tag_id(tag: &str) -> Result<TagId, InvalidField> {
    tag.parse().map_err(|_| InvalidField {
        field: "value",
        reason: format!(
            "“{}” is not a tag id; names work once a page with the tag was loaded",
            SafeText::name(tag)
        ),
    })
}

#[derive(Clone, Debug, Default)]
pub struct KnownValues {
    labels: BTreeSet<SafeText>,
    tags: BTreeMap<TagId, SafeText>,
    /// Names of issues that are not published, but that the service has accepted.
    issues: BTreeSet<SafeText>,
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
            .find(|(_, known)| is_same_name(known.as_str(), name.trim()))
            .map(|(id, _)| *id)
    }

    /// Returns the values that start with the typed text of a row and are not in the row yet.
    pub fn suggest(&self, row: &FilterRow, limit: usize) -> Vec<Suggestion> {
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
        let typed = search_form(row.text(0).trim());
        let fits = |suggestion: &Suggestion| {
            let label = search_form(suggestion.label.as_str());
            label.starts_with(&typed) && label != typed && !row.entries.contains(&suggestion.value)
        };
        all.into_iter().filter(fits).take(limit).collect()
    }
}

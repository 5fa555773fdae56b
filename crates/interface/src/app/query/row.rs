//! Keeps a row of the query builder, which is a filter while it is being edited, whether it is valid yet or not.
//!
//! A row has one choice (its `op`, or the `mode` of an issue) and a few text fields. It becomes a
//! [`Filter`], or names the field that is wrong, so that a filter with two keys cannot be built.

use tessera_config::{
    input::{Chord, Key},
    tables::text_of,
};
use tessera_model::{
    Anchor, AnchorKind, Filter, Fraction, SafeText, TagId,
    vql::{
        ColumnName, FileProperty, InvalidField, IssueMode, IssueName, LabelRule, Operator,
        Property, PropertyFilter, PropertyValue,
    },
};
use tessera_wire::vql;
use tui_input::Input;

use crate::app::overlay::fields::edit;

/// What the filters mean, by their keywords.
const DESCRIPTIONS: &str = include_str!("../../../../../assets/filters.txt");

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
    /// What the file is. Only the local deployment knows this filter and the ones below.
    File(FileProperty),
    Column,
    AnyOf,
    Not,
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
    /// The filters of the API document, which every service knows.
    pub const DOCUMENTED: [Self; 7] = [
        Self::Text,
        Self::Labels,
        Self::Tags,
        Self::Issues,
        Self::Duplicates,
        Self::Uniqueness,
        Self::Similarity,
    ];

    /// Returns the filters that a service knows. Those that are not documented are additions of a local service.
    pub fn known_by(is_local_service: bool) -> Vec<Self> {
        let mut kinds = Self::DOCUMENTED.to_vec();
        if is_local_service {
            kinds.extend(FileProperty::ALL.map(Self::File));
            kinds.extend([Self::Column, Self::AnyOf, Self::Not]);
        }
        kinds
    }

    pub fn keyword(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Labels => "labels",
            Self::Tags => "tags",
            Self::Issues => "issues",
            Self::Duplicates => "duplicates",
            Self::Uniqueness => "uniqueness",
            Self::Similarity => "similarity",
            Self::File(property) => property.as_str(),
            Self::Column => "column",
            Self::AnyOf => "any_of",
            Self::Not => "not",
        }
    }

    pub fn description(self) -> &'static str {
        text_of(DESCRIPTIONS, self.keyword()).unwrap_or_default()
    }

    pub fn choices(self) -> Vec<&'static str> {
        let operators = match self {
            Self::Text => return vec!["semantic", "fts"],
            Self::Labels => return LabelRule::ALL.map(LabelRule::as_str).to_vec(),
            Self::Tags => return vec!["is"],
            Self::Issues => return IssueMode::ALL.map(IssueMode::as_str).to_vec(),
            Self::Duplicates => return vec!["duplicates"],
            Self::Uniqueness => return vec!["uniqueness"],
            Self::Similarity => return vec!["media", "upload"],
            Self::AnyOf | Self::Not => return vec!["filters"],
            Self::File(property) => property.operators(),
            Self::Column => Operator::ALL.to_vec(),
        };
        operators.into_iter().map(Operator::as_str).collect()
    }

    fn fields(self) -> &'static [FilterField] {
        const MIN_SIMILARITY: FilterField =
            FilterField { name: "threshold", label: "min similarity" };
        const MAX_DISTANCE: FilterField = FilterField { name: "threshold", label: "max distance" };
        const FROM: FilterField = FilterField { name: "confidence_min", label: "confidence from" };
        const COLUMN: FilterField = FilterField { name: "name", label: "name" };
        const TO: FilterField = FilterField { name: "confidence_max", label: "to" };
        match self {
            Self::Text => &[VALUE_FIELD, MIN_SIMILARITY],
            Self::Issues => &[VALUE_FIELD, FROM, TO],
            Self::Similarity => &[VALUE_FIELD, MAX_DISTANCE],
            Self::Column => &[VALUE_FIELD, COLUMN],
            _ => &[VALUE_FIELD],
        }
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
                (FilterKind::Duplicates, "duplicates", vec![similarity.value().to_string()])
            }
            Filter::Uniqueness(score) => {
                (FilterKind::Uniqueness, "uniqueness", vec![score.value().to_string()])
            }
            Filter::Similar { anchor, max_distance } => {
                let keyword = if anchor.kind == AnchorKind::Upload { "upload" } else { "media" };
                let texts = vec![anchor.media.to_string(), number(*max_distance)];
                (FilterKind::Similarity, keyword, texts)
            }
            Filter::Property(filter) => return Self::from_property(filter),
            Filter::AnyOf(filters) => {
                (FilterKind::AnyOf, "filters", vec![vql::write(filters.as_slice())])
            }
            Filter::Not(negated) => {
                (FilterKind::Not, "filters", vec![object_text(negated.filter())])
            }
        };
        Self::with_texts(kind, keyword, texts)
    }

    fn from_property(filter: &PropertyFilter) -> Self {
        let keyword = filter.operator().as_str();
        let values = filter.values().iter().map(PropertyValue::to_scalar);
        match filter.property() {
            Property::File(property) => {
                let texts = values.map(|value| value.to_string()).collect();
                Self::with_texts(FilterKind::File(*property), keyword, texts)
            }
            Property::Column(name) => {
                let texts = values.map(|value| value.to_typed()).collect();
                let mut row = Self::with_texts(FilterKind::Column, keyword, texts);
                row.inputs[1] = name.as_str().into();
                row
            }
        }
    }

    fn with_texts(kind: FilterKind, choice: &str, texts: Vec<String>) -> Self {
        let choice = kind.choices().iter().position(|each| *each == choice).unwrap_or(0);
        let mut row = Self { choice, ..Self::new(kind) };
        if row.is_list() {
            row.entries = texts;
        } else {
            row.inputs.iter_mut().zip(texts).for_each(|(input, text)| *input = text.into());
        }
        row
    }

    pub fn choice_keyword(&self) -> &'static str {
        self.kind.choices()[self.choice]
    }

    /// Whether the row has a list of entries.
    pub fn is_list(&self) -> bool {
        match self.kind {
            FilterKind::Labels | FilterKind::Tags => true,
            FilterKind::File(_) | FilterKind::Column => {
                matches!(self.choice_keyword(), "one_of" | "not_one_of")
            }
            _ => false,
        }
    }

    /// Changes the choice. The first entry of a list becomes the value of an operator that takes no list.
    pub fn cycle_choice(&mut self, by: isize) {
        let count = self.kind.choices().len().cast_signed();
        self.choice = (self.choice.cast_signed() + by).rem_euclid(count).cast_unsigned();
        if !self.is_list() && !self.entries.is_empty() {
            let first = self.entries.remove(0);
            self.entries.clear();
            if let Some(input) = self.inputs.first_mut().filter(|input| input.value().is_empty()) {
                *input = first.into();
            }
        }
    }

    pub fn fields(&self) -> impl Iterator<Item = (FilterField, &Input)> {
        // A full-text filter has no bound, so its second field is not shown.
        let count = if self.choice_keyword() == "fts" { 1 } else { self.inputs.len() };
        self.kind.fields().iter().copied().zip(&self.inputs).take(count)
    }

    /// Returns the field that is asked for first. The name of a column comes before its value.
    pub fn first_field(&self) -> usize {
        usize::from(self.kind == FilterKind::Column)
    }

    /// Whether a field is only the first part of what the row needs.
    pub(super) fn needs_more_after(&self, field: Option<usize>) -> bool {
        let is_empty = self.entries.is_empty() && self.text(0).is_empty();
        self.kind == FilterKind::Column && field == Some(1) && is_empty && !self.text(1).is_empty()
    }

    pub fn text(&self, field: usize) -> &str {
        self.inputs.get(field).map_or("", Input::value)
    }

    /// Returns the typed value. Spaces around it are kept only where they may belong to the name of a file.
    pub(super) fn typed_value(&self) -> &str {
        match self.kind {
            FilterKind::File(FileProperty::Path | FileProperty::Name) => self.text(0),
            _ => self.text(0).trim(),
        }
    }

    pub fn input_mut(&mut self, field: usize) -> Option<&mut Input> {
        self.inputs.get_mut(field)
    }

    /// Returns whether nothing was typed or added, so that the row is not a condition.
    pub(super) fn is_blank(&self) -> bool {
        let is_empty = |input: &Input| input.value().trim().is_empty();
        self.entries.is_empty()
            && self.typed_value().is_empty()
            && self.inputs.iter().skip(1).all(is_empty)
    }

    /// Handles a key in a field. Backspace in an empty list field removes the last entry.
    pub fn edit(&mut self, field: usize, chord: Chord) {
        let is_list = self.is_list();
        let Some(input) = self.inputs.get_mut(field) else { return };
        if chord.key == Key::Backspace && input.value().is_empty() && is_list {
            self.entries.pop();
        } else {
            edit(input, chord);
        }
    }

    /// Replaces the value, or adds an entry to a list.
    pub fn set_value(&mut self, text: &str) {
        let is_list = self.is_list();
        if is_list && !self.entries.iter().any(|entry| entry == text) {
            self.entries.push(text.to_owned());
        }
        if let Some(input) = self.inputs.first_mut() {
            *input = if is_list { Input::default() } else { text.into() };
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
            FilterKind::File(property) => self.property_filter(&Property::File(property)),
            FilterKind::Column => {
                self.property_filter(&Property::Column(ColumnName::new(self.text(1))?))
            }
            FilterKind::AnyOf => Filter::any_of(read_filters(value)?),
            FilterKind::Not => {
                let filter = read_filters(&format!("[{value}]"))?.pop();
                Filter::negated(filter.ok_or_else(|| InvalidField::new("value", "is missing"))?)
            }
        }
    }

    fn property_filter(&self, property: &Property) -> Result<Filter, InvalidField> {
        let operator = Operator::from_keyword(self.choice_keyword()).unwrap_or(Operator::Is);
        let typed = if self.is_list() { self.all_entries() } else { vec![self.text(0).to_owned()] };
        let values = typed.iter().map(|typed| property.from_typed(typed));
        Filter::property(property.clone(), operator, &values.collect::<Vec<_>>())
    }

    /// Returns the entries, including the entry that is being typed.
    fn all_entries(&self) -> Vec<String> {
        let half = Some(self.typed_value()).filter(|half| !half.is_empty());
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

/// Returns the JSON object of a filter.
pub(super) fn object_text(filter: &Filter) -> String {
    let array = vql::write(std::slice::from_ref(filter));
    array.trim_start_matches('[').trim_end_matches(']').to_owned()
}

fn read_filters(json: &str) -> Result<Vec<Filter>, InvalidField> {
    vql::read_lenient(json).map_err(|problem| InvalidField::new("value", problem.to_string()))
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

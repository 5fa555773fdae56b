//! A row of the query builder: one filter as it is being written, valid or not yet.
//!
//! A row has one choice (its `op`, or the `mode` of an issue) and a few fields of typed text. Every
//! row gives a [`Filter`] or says which field is wrong; it can hold nothing else, so that nobody
//! can build two keys in one object.

use tui_input::Input;

use crate::{
    app::overlay::text_field::edit,
    input::{Chord, Key as Button},
};
use tessera_model::{
    Anchor, AnchorKind, Filter, SafeText, TagId,
    vql::{InvalidField, IssueMode, IssueName, Label, LabelRule},
};

/// What a filter is about: its key on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterKind {
    /// What a caption says or means.
    Text,
    /// Classification labels.
    Labels,
    /// User tags.
    Tags,
    /// A quality issue.
    Issues,
    /// Near-duplicates.
    Duplicates,
    /// How unlike everything else it is.
    Uniqueness,
    /// Likeness to an image.
    Similarity,
}

/// A field of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterField {
    /// Its name on the wire, as in [`Invalid::field`].
    pub name: &'static str,
    /// Its name on screen; empty for the value itself.
    pub label: &'static str,
}

const VALUE_FIELD: FilterField = FilterField { name: "value", label: "" };

impl FilterKind {
    /// All keys in the order they are offered.
    pub const ALL: [Self; 7] = [
        Self::Text,
        Self::Labels,
        Self::Tags,
        Self::Issues,
        Self::Duplicates,
        Self::Uniqueness,
        Self::Similarity,
    ];

    /// The word on the wire.
    #[must_use]
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

    /// What it does and what it needs, in a line.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::Text => {
                "what captions mean (semantic: MULTIMODEL_IMAGE_ENCODING or CAPTION_IMAGES) or say (fts)"
            }
            Self::Labels => "labels of IMAGE_TAGGING: Enter adds one to the list",
            Self::Tags => "tags of people, by id; names work once they were seen",
            Self::Issues => "quality issues; blur is the published word, others may be refused",
            Self::Duplicates => "has a near-duplicate at least this similar, 0 to 1",
            Self::Uniqueness => "is more unlike the rest than this, 0 to 1",
            Self::Similarity => "looks like an image: the id of a media, or of an upload",
        }
    }

    /// The words that its choice has.
    #[must_use]
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

    /// Whether its value is a list.
    #[must_use]
    pub fn is_list(self) -> bool {
        matches!(self, Self::Labels | Self::Tags)
    }
}

/// One filter as it is being written.
#[derive(Clone, Debug)]
pub struct FilterRow {
    /// Whether it is sent; a row that is off is only kept.
    pub enabled: bool,
    /// What it is about.
    pub kind: FilterKind,
    /// The place of its choice among [`Key::choices`].
    pub choice: usize,
    /// The entries of a list, as they are sent; empty where the value is no list.
    pub entries: Vec<String>,
    /// The typed text of each field; of a list, the entry that is being typed.
    pub(super) inputs: Vec<Input>,
}

impl FilterRow {
    /// An empty row that is on.
    #[must_use]
    pub fn new(kind: FilterKind) -> Self {
        let inputs = vec![Input::default(); kind.fields().len()];
        Self { enabled: true, kind, choice: 0, entries: Vec::new(), inputs }
    }

    /// A filter as a row.
    #[must_use]
    pub fn from_filter(filter: &Filter) -> Self {
        let number = |number: Option<tessera_model::Fraction>| {
            number.map_or_else(String::new, |number| number.value().to_string())
        };
        let place = |key: FilterKind, word: &str| {
            key.choices().iter().position(|choice| *choice == word).unwrap_or(0)
        };
        let (key, word, texts, entries) = match filter {
            Filter::FullText(text) => {
                (FilterKind::Text, "fts", vec![text.as_str().to_owned()], vec![])
            }
            Filter::Semantic { text, min_similarity } => {
                let texts = vec![text.as_str().to_owned(), number(*min_similarity)];
                (FilterKind::Text, "semantic", texts, vec![])
            }
            Filter::Labels(rule, labels) => {
                let labels = labels.as_slice().iter().map(Label::as_str).map(str::to_owned);
                (FilterKind::Labels, rule.word(), vec![], labels.collect())
            }
            Filter::Tags(tags) => {
                let tags = tags.as_slice().iter().map(TagId::to_string).collect();
                (FilterKind::Tags, "is", vec![], tags)
            }
            Filter::Issue(issue) => {
                let (from, to) = (number(issue.confidence_min), number(issue.confidence_max));
                let texts = vec![issue.kind.as_str().to_owned(), from, to];
                (FilterKind::Issues, issue.mode.word(), texts, vec![])
            }
            Filter::Duplicates(similarity) => {
                (FilterKind::Duplicates, "duplicates", vec![number(Some(*similarity))], vec![])
            }
            Filter::Uniqueness(score) => {
                (FilterKind::Uniqueness, "uniqueness", vec![number(Some(*score))], vec![])
            }
            Filter::Similar { anchor, max_distance } => {
                let word = if anchor.kind == AnchorKind::Upload { "upload" } else { "media" };
                let texts = vec![anchor.media.to_string(), number(*max_distance)];
                (FilterKind::Similarity, word, texts, vec![])
            }
        };
        let mut row = Self { choice: place(key, word), entries, ..Self::new(key) };
        for (field, text) in row.inputs.iter_mut().zip(texts) {
            *field = text.into();
        }
        row
    }

    /// The word of its choice.
    #[must_use]
    pub fn choice_keyword(&self) -> &'static str {
        self.kind.choices()[self.choice]
    }

    /// Changes its choice by some places, around the ends.
    pub fn cycle_choice(&mut self, by: isize) {
        let count = self.kind.choices().len().cast_signed();
        self.choice = (self.choice.cast_signed() + by).rem_euclid(count).cast_unsigned();
    }

    /// The fields it has, with what is typed in each.
    pub fn fields(&self) -> impl Iterator<Item = (FilterField, &Input)> {
        // Full text has no bound.
        let count = if self.choice_keyword() == "fts" { 1 } else { self.inputs.len() };
        self.kind.fields().iter().copied().zip(&self.inputs).take(count)
    }

    /// What is typed in one field.
    #[must_use]
    pub fn text(&self, field: usize) -> &str {
        self.inputs.get(field).map_or("", Input::value)
    }

    /// The text field that takes what is typed or pasted.
    pub fn input_mut(&mut self, field: usize) -> Option<&mut Input> {
        self.inputs.get_mut(field)
    }

    /// Gives a key to a field. Backspace in an empty line takes back the last entry of a list.
    pub fn edit(&mut self, field: usize, chord: Chord) {
        let Some(input) = self.inputs.get_mut(field) else { return };
        if chord.key == Button::Backspace && input.value().is_empty() && self.kind.is_list() {
            self.entries.pop();
        } else {
            edit(input, chord);
        }
    }

    /// Replaces what is typed in a field; in a list it becomes an entry.
    pub fn set_value(&mut self, field: usize, text: &str) {
        if self.kind.is_list() {
            self.entries.push(text.to_owned());
            self.entries.dedup();
        }
        if let Some(input) = self.inputs.get_mut(field) {
            *input = if self.kind.is_list() { Input::default() } else { text.into() };
        }
    }

    /// The filter.
    ///
    /// # Errors
    /// The field that is wrong, and what it must be.
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

    /// The entries with the one that is being typed.
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
    InvalidField { field, reason: "wants a number".to_owned() }
}

fn tag_id(tag: &str) -> Result<TagId, InvalidField> {
    tag.parse().map_err(|_| InvalidField {
        field: "value",
        reason: format!("“{}” is no tag id; names work once they were seen", SafeText::name(tag)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(key: FilterKind, choice: usize, texts: &[&str]) -> FilterRow {
        let mut row = FilterRow { choice, ..FilterRow::new(key) };
        for (input, text) in row.inputs.iter_mut().zip(texts) {
            *input = (*text).into();
        }
        row
    }

    #[test]
    fn every_filter_has_a_row_that_gives_it_back() {
        let id = "95233006-eddc-11ef-b303-76dbc3993eb2";
        for row in [
            row(FilterKind::Text, 0, &["red van", "0.35"]),
            row(FilterKind::Text, 1, &["red AND van", "0.35"]),
            row(FilterKind::Labels, 3, &["van"]),
            row(FilterKind::Tags, 0, &[id]),
            row(FilterKind::Issues, 1, &["blur", "0.2", "0.9"]),
            row(FilterKind::Issues, 0, &["grain"]),
            row(FilterKind::Duplicates, 0, &["0.95"]),
            row(FilterKind::Uniqueness, 0, &["0.8"]),
            row(FilterKind::Similarity, 1, &[id, ""]),
        ] {
            let filter = row.filter().unwrap();
            assert_eq!(FilterRow::from_filter(&filter).filter().unwrap(), filter);
        }
    }

    #[test]
    fn what_is_no_number_is_named() {
        let wrong = row(FilterKind::Duplicates, 0, &["0.9x"]).filter().unwrap_err();
        assert_eq!(wrong.to_string(), "value: wants a number");
        let wrong = row(FilterKind::Text, 0, &["van", "high"]).filter().unwrap_err();
        assert_eq!(wrong.field, "threshold");
    }

    #[test]
    fn a_tag_that_is_no_id_is_refused_here() {
        let wrong = row(FilterKind::Tags, 0, &["night"]).filter().unwrap_err().to_string();
        assert!(wrong.contains("“night” is no tag id"), "{wrong}");
    }
}

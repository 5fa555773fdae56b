//! A row of the query builder: one filter as it is being written, valid or not yet.
//!
//! A row has one choice (its `op`, or the `mode` of an issue) and a few fields of typed text. Every
//! row gives a [`Filter`] or says which field is wrong; it can hold nothing else, so that nobody
//! can build two keys in one object.

use tui_input::Input;

use crate::{
    app::overlay::field::edit,
    input::{Chord, Key as Button},
};
use tessera_model::{
    Anchor, AnchorKind, Filter, SafeText, TagId,
    vql::{Invalid, IssueWord, Label, LabelRule, Mode},
};

/// What a filter is about: its key on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
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
pub struct Field {
    /// Its name on the wire, as in [`Invalid::field`].
    pub name: &'static str,
    /// Its name on screen; empty for the value itself.
    pub label: &'static str,
}

const VALUE: Field = Field { name: "value", label: "" };

impl Key {
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
    pub fn word(self) -> &'static str {
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
    pub fn about(self) -> &'static str {
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

    fn fields(self) -> &'static [Field] {
        const MIN_SIMILARITY: Field = Field { name: "threshold", label: "min similarity" };
        const MAX_DISTANCE: Field = Field { name: "threshold", label: "max distance" };
        const FROM: Field = Field { name: "confidence_min", label: "confidence from" };
        const TO: Field = Field { name: "confidence_max", label: "to" };
        match self {
            Self::Text => &[VALUE, MIN_SIMILARITY],
            Self::Issues => &[VALUE, FROM, TO],
            Self::Similarity => &[VALUE, MAX_DISTANCE],
            Self::Labels | Self::Tags | Self::Duplicates | Self::Uniqueness => &[VALUE],
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
pub struct Row {
    /// Whether it is sent; a row that is off is only kept.
    pub on: bool,
    /// What it is about.
    pub key: Key,
    /// The place of its choice among [`Key::choices`].
    pub choice: usize,
    /// The entries of a list, as they are sent; empty where the value is no list.
    pub entries: Vec<String>,
    /// The typed text of each field; of a list, the entry that is being typed.
    pub(super) typed: Vec<Input>,
}

impl Row {
    /// An empty row that is on.
    #[must_use]
    pub fn new(key: Key) -> Self {
        let typed = vec![Input::default(); key.fields().len()];
        Self { on: true, key, choice: 0, entries: Vec::new(), typed }
    }

    /// A filter as a row.
    #[must_use]
    pub fn of(filter: &Filter) -> Self {
        let number = |number: Option<tessera_model::Fraction>| {
            number.map_or_else(String::new, |number| number.value().to_string())
        };
        let place = |key: Key, word: &str| {
            key.choices().iter().position(|choice| *choice == word).unwrap_or(0)
        };
        let (key, word, texts, entries) = match filter {
            Filter::FullText(text) => (Key::Text, "fts", vec![text.as_str().to_owned()], vec![]),
            Filter::Semantic { text, min_similarity } => {
                let texts = vec![text.as_str().to_owned(), number(*min_similarity)];
                (Key::Text, "semantic", texts, vec![])
            }
            Filter::Labels(rule, labels) => {
                let labels = labels.as_slice().iter().map(Label::as_str).map(str::to_owned);
                (Key::Labels, rule.word(), vec![], labels.collect())
            }
            Filter::Tags(tags) => {
                let tags = tags.as_slice().iter().map(TagId::to_string).collect();
                (Key::Tags, "is", vec![], tags)
            }
            Filter::Issue(issue) => {
                let (from, to) = (number(issue.confidence_min), number(issue.confidence_max));
                let texts = vec![issue.kind.as_str().to_owned(), from, to];
                (Key::Issues, issue.mode.word(), texts, vec![])
            }
            Filter::Duplicates(similarity) => {
                (Key::Duplicates, "duplicates", vec![number(Some(*similarity))], vec![])
            }
            Filter::Uniqueness(score) => {
                (Key::Uniqueness, "uniqueness", vec![number(Some(*score))], vec![])
            }
            Filter::Similar { anchor, max_distance } => {
                let word = if anchor.kind == AnchorKind::Upload { "upload" } else { "media" };
                let texts = vec![anchor.media.to_string(), number(*max_distance)];
                (Key::Similarity, word, texts, vec![])
            }
        };
        let mut row = Self { choice: place(key, word), entries, ..Self::new(key) };
        for (field, text) in row.typed.iter_mut().zip(texts) {
            *field = text.into();
        }
        row
    }

    /// The word of its choice.
    #[must_use]
    pub fn word(&self) -> &'static str {
        self.key.choices()[self.choice]
    }

    /// Changes its choice by some places, around the ends.
    pub fn turn(&mut self, by: isize) {
        let count = self.key.choices().len().cast_signed();
        self.choice = (self.choice.cast_signed() + by).rem_euclid(count).cast_unsigned();
    }

    /// The fields it has, with what is typed in each.
    pub fn fields(&self) -> impl Iterator<Item = (Field, &Input)> {
        // Full text has no bound (M61).
        let count = if self.word() == "fts" { 1 } else { self.typed.len() };
        self.key.fields().iter().copied().zip(&self.typed).take(count)
    }

    /// What is typed in one field.
    #[must_use]
    pub fn typed(&self, field: usize) -> &str {
        self.typed.get(field).map_or("", Input::value)
    }

    /// The text field that takes what is typed or pasted.
    pub fn input(&mut self, field: usize) -> Option<&mut Input> {
        self.typed.get_mut(field)
    }

    /// Gives a key to a field. Backspace in an empty line takes back the last entry of a list.
    pub fn edit(&mut self, field: usize, chord: Chord) {
        let Some(input) = self.typed.get_mut(field) else { return };
        if chord.key == Button::Backspace && input.value().is_empty() && self.key.is_list() {
            self.entries.pop();
        } else {
            edit(input, chord);
        }
    }

    /// Replaces what is typed in a field; in a list it becomes an entry.
    pub fn fill(&mut self, field: usize, text: &str) {
        if self.key.is_list() {
            self.entries.push(text.to_owned());
            self.entries.dedup();
        }
        if let Some(input) = self.typed.get_mut(field) {
            *input = if self.key.is_list() { Input::default() } else { text.into() };
        }
    }

    /// The filter.
    ///
    /// # Errors
    /// The field that is wrong, and what it must be.
    pub fn filter(&self) -> Result<Filter, Invalid> {
        let value = self.typed(0);
        match self.key {
            Key::Text if self.word() == "fts" => Filter::full_text(value),
            Key::Text => Filter::semantic(value, self.number(1)?),
            Key::Labels => {
                Filter::labels(LabelRule::ALL[self.choice], self.list().iter().map(String::as_str))
            }
            Key::Tags => {
                let tags: Result<Vec<TagId>, _> =
                    self.list().iter().map(|tag| tag_id(tag)).collect();
                Filter::tags(tags?)
            }
            Key::Issues => Filter::issue(
                IssueWord::new(value)?,
                Mode::ALL[self.choice],
                self.number(1)?,
                self.number(2)?,
            ),
            Key::Duplicates => Filter::duplicates(self.needed()?),
            Key::Uniqueness => Filter::uniqueness(self.needed()?),
            Key::Similarity => {
                let reason =
                    || Invalid { field: "value", reason: "must be the id of an image".into() };
                let media = value.trim().parse().map_err(|_| reason())?;
                let kind = if self.choice == 0 { AnchorKind::Media } else { AnchorKind::Upload };
                Filter::similar(Anchor { media, kind }, self.number(1)?)
            }
        }
    }

    /// The entries with the one that is being typed.
    fn list(&self) -> Vec<String> {
        let half = Some(self.typed(0).trim()).filter(|half| !half.is_empty());
        self.entries.iter().cloned().chain(half.map(str::to_owned)).collect()
    }

    fn needed(&self) -> Result<f64, Invalid> {
        self.number(0)?.ok_or_else(|| not_a_number("value"))
    }

    fn number(&self, field: usize) -> Result<Option<f64>, Invalid> {
        match self.typed(field).trim() {
            "" => Ok(None),
            typed => {
                let wrong = |_| not_a_number(self.key.fields()[field].name);
                typed.parse().map(Some).map_err(wrong)
            }
        }
    }
}

fn not_a_number(field: &'static str) -> Invalid {
    Invalid { field, reason: "wants a number".to_owned() }
}

fn tag_id(tag: &str) -> Result<TagId, Invalid> {
    tag.parse().map_err(|_| Invalid {
        field: "value",
        reason: format!("“{}” is no tag id; names work once they were seen", SafeText::name(tag)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(key: Key, choice: usize, texts: &[&str]) -> Row {
        let mut row = Row { choice, ..Row::new(key) };
        for (input, text) in row.typed.iter_mut().zip(texts) {
            *input = (*text).into();
        }
        row
    }

    #[test]
    fn m60_every_filter_has_a_row_that_gives_it_back() {
        let id = "95233006-eddc-11ef-b303-76dbc3993eb2";
        for row in [
            row(Key::Text, 0, &["red van", "0.35"]),
            row(Key::Text, 1, &["red AND van", "0.35"]),
            row(Key::Labels, 3, &["van"]),
            row(Key::Tags, 0, &[id]),
            row(Key::Issues, 1, &["blur", "0.2", "0.9"]),
            row(Key::Issues, 0, &["grain"]),
            row(Key::Duplicates, 0, &["0.95"]),
            row(Key::Uniqueness, 0, &["0.8"]),
            row(Key::Similarity, 1, &[id, ""]),
        ] {
            let filter = row.filter().unwrap();
            assert_eq!(Row::of(&filter).filter().unwrap(), filter);
        }
    }

    #[test]
    fn m66_what_is_no_number_is_named() {
        let wrong = row(Key::Duplicates, 0, &["0.9x"]).filter().unwrap_err();
        assert_eq!(wrong.to_string(), "value: wants a number");
        let wrong = row(Key::Text, 0, &["van", "high"]).filter().unwrap_err();
        assert_eq!(wrong.field, "threshold");
    }

    #[test]
    fn m59_a_tag_that_is_no_id_is_refused_here() {
        let wrong = row(Key::Tags, 0, &["night"]).filter().unwrap_err().to_string();
        assert!(wrong.contains("“night” is no tag id"), "{wrong}");
    }
}

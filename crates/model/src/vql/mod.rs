//! Filters of the query language (`vql`): which there are, and what each may hold.
//!
//! A [`Filter`] that exists is valid: its parts can only be made from what the interface allows.
//! `wire/vql.rs` spells them as JSON.

mod explain;
mod value;
mod warnings;

use std::fmt;

pub use value::{Fraction, Label, MAX_VALUES, QueryText, ValueList};
pub use warnings::{long_query_warning, unpublished_issue_warning};

use crate::{Anchor, TagId};

/// Most filters of one query.
pub const MAX_FILTERS: usize = 16;

/// One condition on media. The filters of a query combine with AND.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Filter {
    /// The caption matches a full-text query.
    FullText(QueryText),
    /// The caption or picture means something like the text.
    Semantic {
        /// What is meant.
        text: QueryText,
        /// Similarity that a medium must reach.
        min_similarity: Option<Fraction>,
    },
    /// About the classification labels.
    Labels(LabelRule, ValueList<Label>),
    /// Carries every one of these user tags.
    Tags(ValueList<TagId>),
    /// About one kind of quality issue.
    Issue(IssueFilter),
    /// Has a near-duplicate at least this similar.
    Duplicates(Fraction),
    /// Its uniqueness score is above this.
    Uniqueness(Fraction),
    /// Looks like an image.
    Similar {
        /// The image.
        anchor: Anchor,
        /// Cosine distance that a medium must stay within.
        max_distance: Option<Fraction>,
    },
}

/// Which field of a filter is wrong, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidField {
    /// The field as the wire names it: `value`, `threshold`, `confidence_min`, `confidence_max`.
    pub field: &'static str,
    /// What it must be.
    pub reason: String,
}

impl From<InvalidField> for (&'static str, String) {
    fn from(invalid: InvalidField) -> Self {
        (invalid.field, invalid.reason)
    }
}

impl fmt::Display for InvalidField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.reason)
    }
}

impl std::error::Error for InvalidField {}

impl InvalidField {
    fn new(field: &'static str, reason: impl Into<String>) -> Self {
        Self { field, reason: reason.into() }
    }
}

impl Filter {
    /// Captions that match a full-text query.
    ///
    /// # Errors
    /// The text is empty or too long. Its operators are not looked at here.
    pub fn full_text(text: &str) -> Result<Self, InvalidField> {
        QueryText::new(text).map(Self::FullText)
    }

    /// Media that mean something like `text`, of at least `min_similarity` (0.0-1.0).
    ///
    /// # Errors
    /// The text is empty or too long, or the similarity out of its range.
    pub fn semantic(text: &str, min_similarity: Option<f64>) -> Result<Self, InvalidField> {
        let min_similarity = optional("threshold", min_similarity)?;
        Ok(Self::Semantic { text: QueryText::new(text)?, min_similarity })
    }

    /// Media whose labels obey the rule.
    ///
    /// # Errors
    /// There is no label or too many, or one is empty or too long.
    pub fn labels<'a>(
        rule: LabelRule,
        labels: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, InvalidField> {
        let labels: Result<Vec<_>, _> = labels.into_iter().map(Label::new).collect();
        Ok(Self::Labels(rule, ValueList::new(labels?)?))
    }

    /// Media that carry every one of the tags.
    ///
    /// # Errors
    /// There is no tag or too many.
    pub fn tags(tags: Vec<TagId>) -> Result<Self, InvalidField> {
        ValueList::new(tags).map(Self::Tags)
    }

    /// Media with the issue (or without it), found with a confidence (0.0-1.0) inside the bounds.
    ///
    /// # Errors
    /// A bound is out of its range, or the lower one is above the upper one.
    pub fn issue(
        kind: impl Into<IssueName>,
        mode: IssueMode,
        confidence_min: Option<f64>,
        confidence_max: Option<f64>,
    ) -> Result<Self, InvalidField> {
        let min = optional("confidence_min", confidence_min)?;
        let max = optional("confidence_max", confidence_max)?;
        if min.zip(max).is_some_and(|(min, max)| min > max) {
            return Err(InvalidField::new("confidence_min", "must not be above confidence_max"));
        }
        Ok(Self::Issue(IssueFilter {
            kind: kind.into(),
            mode,
            confidence_min: min,
            confidence_max: max,
        }))
    }

    /// Media with a near-duplicate of at least this similarity (0.0-1.0).
    ///
    /// # Errors
    /// The number is out of its range.
    pub fn duplicates(similarity: f64) -> Result<Self, InvalidField> {
        fraction("value", similarity).map(Self::Duplicates)
    }

    /// Media whose uniqueness score (0.0-1.0) is above this.
    ///
    /// # Errors
    /// The number is out of its range.
    pub fn uniqueness(score: f64) -> Result<Self, InvalidField> {
        fraction("value", score).map(Self::Uniqueness)
    }

    /// Media that look like `anchor`, at a cosine distance of at most `max_distance` (0.0-1.0).
    ///
    /// # Errors
    /// The distance is out of its range.
    pub fn similar(anchor: Anchor, max_distance: Option<f64>) -> Result<Self, InvalidField> {
        Ok(Self::Similar { anchor, max_distance: optional("threshold", max_distance)? })
    }
}

fn fraction(field: &'static str, value: f64) -> Result<Fraction, InvalidField> {
    Fraction::new(value).ok_or_else(|| InvalidField::new(field, "must be a number from 0.0 to 1.0"))
}

fn optional(field: &'static str, value: Option<f64>) -> Result<Option<Fraction>, InvalidField> {
    value.map(|value| fraction(field, value)).transpose()
}

/// A condition about one kind of quality issue.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IssueFilter {
    /// Which issue.
    pub kind: IssueName,
    /// Media with it or without it.
    pub mode: IssueMode,
    /// Lowest confidence that counts.
    pub confidence_min: Option<Fraction>,
    /// Highest confidence that counts.
    pub confidence_max: Option<Fraction>,
}

/// The name of an issue. The interface publishes few of them, so that another word may mean
/// something to a service.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IssueName {
    /// One that we know.
    Known(IssueKind),
    /// Any other.
    Other(Label),
}

impl IssueName {
    /// The word, trimmed.
    ///
    /// # Errors
    /// It is blank or too long.
    pub fn new(raw: &str) -> Result<Self, InvalidField> {
        let word = value::non_blank(raw, Label::MAX_CHARS, "an issue")?;
        Ok(IssueKind::parse(&word).map_or_else(|| Self::Other(Label(word)), Self::Known))
    }

    /// The word on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Known(kind) => kind.word(),
            Self::Other(word) => word.as_str(),
        }
    }
}

impl From<IssueKind> for IssueName {
    fn from(kind: IssueKind) -> Self {
        Self::Known(kind)
    }
}

/// Makes an enum whose values are words of the wire.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$about])* $variant),* }

        impl $name {
            /// Every value, in the order people are offered them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The word on the wire.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }

            /// Reads the wire's word.
            pub fn parse(raw: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.word() == raw)
            }
        }
    };
}

words!(
    /// How labels are compared with a list.
    LabelRule {
        /// Has at least one of them.
        OneOf = "one_of",
        /// Has all of them.
        Is = "is",
        /// Does not have all of them.
        IsNot = "is_not",
        /// Has none of them.
        NotOneOf = "not_one_of",
    }
);

words!(
    /// Which side of an issue is wanted.
    IssueMode {
        /// Media with the issue.
        In = "in",
        /// Media without it.
        Out = "out",
    }
);

words!(
    /// What can be wrong with a medium.
    IssueKind {
        /// Not sharp.
        Blur = "blur",
        /// Too dark.
        Dark = "dark",
        /// Too bright.
        Bright = "bright",
        /// One of several that are nearly the same.
        Duplicates = "duplicates",
        /// Like nothing else in the dataset.
        Outliers = "outliers",
        /// Far wider or taller than the others.
        OddAspect = "odd_aspect",
        /// Far smaller or larger than the others.
        OddSize = "odd_size",
        /// Its label is probably wrong.
        Mislabels = "mislabels",
        /// Unlike the others of its label.
        LabelOutlier = "label_outlier",
        /// No issue at all.
        Normal = "normal",
    }
);

//! Filters of the query language (`vql`).
//!
//! A [`Filter`] is valid by construction. The `wire` crate reads and writes them as JSON.

mod explain;
mod value;
mod warnings;

use std::fmt;

pub use value::{Fraction, Label, MAX_VALUES, QueryText, ValueList};
pub use warnings::{long_query_warning, unpublished_issue_warning};

use crate::{Anchor, TagId};

pub const MAX_FILTERS: usize = 16;

/// One condition on media items. Filters combine with AND.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Filter {
    /// The caption matches a full-text query.
    FullText(QueryText),
    /// The caption or picture is similar in meaning to the text.
    Semantic {
        text: QueryText,
        /// Minimum similarity.
        min_similarity: Option<Fraction>,
    },
    Labels(LabelRule, ValueList<Label>),
    /// Has all of these user tags.
    Tags(ValueList<TagId>),
    /// Has, or does not have, a quality issue.
    Issue(IssueFilter),
    /// Has a near-duplicate with at least this similarity.
    Duplicates(Fraction),
    /// The uniqueness score is above this.
    Uniqueness(Fraction),
    Similar {
        anchor: Anchor,
        /// Maximum cosine distance.
        max_distance: Option<Fraction>,
    },
}

/// An invalid field of a filter or a request, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidField {
    /// The name on the wire.
    pub field: &'static str,
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
    /// The text's operators are not checked here.
    pub fn full_text(text: &str) -> Result<Self, InvalidField> {
        QueryText::new(text).map(Self::FullText)
    }

    pub fn semantic(text: &str, min_similarity: Option<f64>) -> Result<Self, InvalidField> {
        let min_similarity = optional("threshold", min_similarity)?;
        Ok(Self::Semantic { text: QueryText::new(text)?, min_similarity })
    }

    pub fn labels<'a>(
        rule: LabelRule,
        labels: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, InvalidField> {
        let labels: Result<Vec<_>, _> = labels.into_iter().map(Label::new).collect();
        Ok(Self::Labels(rule, ValueList::new(labels?)?))
    }

    pub fn tags(tags: Vec<TagId>) -> Result<Self, InvalidField> {
        ValueList::new(tags).map(Self::Tags)
    }

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

    pub fn duplicates(similarity: f64) -> Result<Self, InvalidField> {
        fraction("value", similarity).map(Self::Duplicates)
    }

    pub fn uniqueness(score: f64) -> Result<Self, InvalidField> {
        fraction("value", score).map(Self::Uniqueness)
    }

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

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IssueFilter {
    pub kind: IssueName,
    pub mode: IssueMode,
    pub confidence_min: Option<Fraction>,
    pub confidence_max: Option<Fraction>,
}

/// The name of an issue. The interface publishes only some, so other names may be valid.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IssueName {
    Known(IssueKind),
    Other(Label),
}

impl IssueName {
    pub fn new(raw: &str) -> Result<Self, InvalidField> {
        let word = value::non_blank(raw, Label::MAX_CHARS, "an issue")?;
        Ok(IssueKind::parse(&word).map_or_else(|| Self::Other(Label(word)), Self::Known))
    }

    pub fn as_str(&self) -> &str {
        match self {
            Self::Known(kind) => kind.as_str(),
            Self::Other(word) => word.as_str(),
        }
    }
}

impl From<IssueKind> for IssueName {
    fn from(kind: IssueKind) -> Self {
        Self::Known(kind)
    }
}

/// Defines an enum of wire words.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$about])* $variant),* }

        impl $name {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }

            pub fn parse(raw: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.as_str() == raw)
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
    /// Media items with the issue, or without it.
    IssueMode {
        In = "in",
        Out = "out",
    }
);

words!(
    /// A quality issue of a media item.
    IssueKind {
        Blur = "blur",
        Dark = "dark",
        Bright = "bright",
        Duplicates = "duplicates",
        Outliers = "outliers",
        /// Much wider or taller than the others.
        OddAspect = "odd_aspect",
        /// Much smaller or larger than the others.
        OddSize = "odd_size",
        Mislabels = "mislabels",
        /// Unlike the others of its label.
        LabelOutlier = "label_outlier",
        Normal = "normal",
    }
);

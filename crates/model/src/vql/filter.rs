//! A condition on media items.

use super::{
    Fraction, InvalidField, IssueFilter, IssueMode, IssueName, Label, QueryText, ValueList,
};
use crate::{Anchor, TagId, keyword::keyword_enum};

pub const MAX_FILTERS: usize = 16;

/// One condition on media items. Filters combine with AND.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Filter {
    FullText(QueryText),
    Semantic {
        text: QueryText,
        min_similarity: Option<Fraction>,
    },
    Labels(LabelRule, ValueList<Label>),
    /// Has all of these user tags.
    Tags(ValueList<TagId>),
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
        let confidence_min = optional("confidence_min", confidence_min)?;
        let confidence_max = optional("confidence_max", confidence_max)?;
        if confidence_min.zip(confidence_max).is_some_and(|(min, max)| min > max) {
            return Err(InvalidField::new("confidence_min", "must not be above confidence_max"));
        }
        Ok(Self::Issue(IssueFilter { kind: kind.into(), mode, confidence_min, confidence_max }))
    }

    pub fn duplicates(similarity: f64) -> Result<Self, InvalidField> {
        Fraction::for_field("value", similarity).map(Self::Duplicates)
    }

    pub fn uniqueness(score: f64) -> Result<Self, InvalidField> {
        Fraction::for_field("value", score).map(Self::Uniqueness)
    }

    pub fn similar(anchor: Anchor, max_distance: Option<f64>) -> Result<Self, InvalidField> {
        Ok(Self::Similar { anchor, max_distance: optional("threshold", max_distance)? })
    }
}

fn optional(field: &'static str, value: Option<f64>) -> Result<Option<Fraction>, InvalidField> {
    value.map(|value| Fraction::for_field(field, value)).transpose()
}

keyword_enum!(
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

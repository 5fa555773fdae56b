//! Explains each filter in one sentence.

use std::fmt;

use super::{
    FileProperty, Filter, Fraction, IssueFilter, IssueMode, Label, LabelRule, Operator, Property,
    PropertyFilter, PropertyValue,
};
use crate::{Anchor, AnchorKind, SafeText, TagId, text::group_digits};

impl fmt::Display for Filter {
    /// Writes a clause without a full stop: `its caption says “red van”`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FullText(text) => {
                write!(f, "its caption says “{}”, read as a full-text query", clean(text.as_str()))
            }
            Self::Semantic { text, min_similarity } => {
                let text = clean(text.as_str());
                write!(f, "its caption or picture is similar in meaning to “{text}”")?;
                bound(f, ", with a similarity of at least", *min_similarity, "higher is stricter")
            }
            Self::Labels(rule, labels) => {
                let quoted = |label: &Label| format!("“{}”", clean(label.as_str()));
                let labels: Vec<String> = labels.as_slice().iter().map(quoted).collect();
                write!(f, "{} {}", label_condition(*rule), labels.join(", "))
            }
            Self::Tags(tags) => {
                let tags: Vec<String> = tags.as_slice().iter().map(TagId::to_string).collect();
                write!(f, "it carries every one of the tags {}", tags.join(", "))
            }
            Self::Issue(issue) => explain_issue(f, issue),
            Self::Duplicates(similarity) => {
                let least = similarity.value();
                write!(f, "it has a near-duplicate with a similarity of at least {least}")
            }
            Self::Uniqueness(score) => {
                write!(f, "its uniqueness score is above {}", score.value())
            }
            Self::Similar { anchor: Anchor { media, kind }, max_distance } => {
                let kind = match kind {
                    AnchorKind::Upload => "the uploaded image",
                    AnchorKind::Media => "the image",
                };
                write!(f, "it is similar to {kind} {media}")?;
                bound(f, ", at a distance below", *max_distance, "lower is stricter")
            }
            Self::Property(filter) => explain_property(f, filter),
            Self::AnyOf(filters) => {
                let filters: Vec<String> = filters.as_slice().iter().map(Self::to_string).collect();
                write!(f, "one of these is true: {}", filters.join("; or "))
            }
            Self::Not(negated) => write!(f, "this is not true: {}", negated.filter()),
        }
    }
}

fn explain_property(f: &mut fmt::Formatter<'_>, filter: &PropertyFilter) -> fmt::Result {
    match filter.property() {
        Property::File(property) => write!(f, "its {} ", property.as_str())?,
        Property::Column(name) => write!(f, "its column “{}” ", clean(name.as_str()))?,
    }
    let has_patterns = matches!(filter.values(), [PropertyValue::Pattern(_), ..]);
    f.write_str(match filter.operator() {
        Operator::Is if has_patterns => "matches",
        Operator::IsNot if has_patterns => "does not match",
        Operator::OneOf if has_patterns => "matches one of",
        Operator::NotOneOf if has_patterns => "matches none of",
        Operator::Is => "is",
        Operator::IsNot => "is not",
        Operator::OneOf => "is one of",
        Operator::NotOneOf => "is none of",
        Operator::Contains => "contains",
        Operator::AtLeast => "is at least",
        Operator::AtMost => "is at most",
    })?;
    let values: Vec<String> = filter.values().iter().map(explain_value).collect();
    write!(f, " {}", values.join(", "))?;
    f.write_str(match filter.property() {
        Property::File(FileProperty::Size) => " bytes",
        Property::File(FileProperty::Width | FileProperty::Height) => " pixels",
        _ => "",
    })
}

fn explain_value(value: &PropertyValue) -> String {
    match value {
        PropertyValue::Pattern(pattern) => format!("“{}”", clean(pattern.as_str())),
        PropertyValue::Text(text) => format!("“{}”", clean(text)),
        PropertyValue::Date(date) => date.as_str().to_owned(),
        PropertyValue::Flag(flag) => flag.to_string(),
        PropertyValue::Number(_) => {
            let text = value.to_scalar().to_string();
            text.parse().map_or(text, group_digits)
        }
    }
}

fn explain_issue(f: &mut fmt::Formatter<'_>, issue: &IssueFilter) -> fmt::Result {
    let verb = match issue.mode {
        IssueMode::In => "has",
        IssueMode::Out => "does not have",
    };
    write!(f, "it {verb} the issue “{}”", clean(issue.kind.as_str()))?;
    if issue.confidence_min.or(issue.confidence_max).is_none() {
        return Ok(());
    }
    let min = issue.confidence_min.map_or(0.0, Fraction::value);
    let max = issue.confidence_max.map_or(1.0, Fraction::value);
    write!(f, ", found with a confidence of {min} to {max}")
}

fn label_condition(rule: LabelRule) -> &'static str {
    match rule {
        LabelRule::OneOf => "it has at least one of the labels",
        LabelRule::Is => "it has all of the labels",
        LabelRule::IsNot => "it does not have all of the labels",
        LabelRule::NotOneOf => "it has none of the labels",
    }
}

fn bound(
    f: &mut fmt::Formatter<'_>,
    label: &str,
    bound: Option<Fraction>,
    direction: &str,
) -> fmt::Result {
    bound.map_or(Ok(()), |bound| write!(f, "{label} {} ({direction})", bound.value()))
}

fn clean(text: &str) -> SafeText {
    SafeText::detail(text)
}

//! Filters of the query language (`vql`), their values and the sentences that explain them.
//!
//! A [`Filter`] is valid by construction. The `wire` crate reads and writes filters as JSON.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Anchor, AnchorKind, EnrichmentModel, SafeText, TagId, keyword::keyword_enum};

pub const MAX_FILTERS: usize = 16;

/// One condition on media items. Filters are combined with AND.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Filter {
    FullText(QueryText),
    Semantic {
        text: QueryText,
        min_similarity: Option<Fraction>,
    },
    Labels(LabelRule, ValueList<Label>),
    /// The media item has all of these user tags.
    Tags(ValueList<TagId>),
    Issue(IssueFilter),
    /// The media item has a near-duplicate with at least this similarity.
    Duplicates(Fraction),
    /// The media item has a uniqueness score above this.
    Uniqueness(Fraction),
    Similar {
        anchor: Anchor,
        /// The maximum cosine distance.
        max_distance: Option<Fraction>,
    },
}

impl Filter {
    /// Returns a full-text filter. The operators in `text` are not checked here.
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
        /// The media item has at least one of the labels.
        OneOf = "one_of",
        /// The media item has all of the labels.
        Is = "is",
        /// The media item lacks at least one of the labels.
        IsNot = "is_not",
        /// The media item has none of the labels.
        NotOneOf = "not_one_of",
    }
);

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IssueFilter {
    pub kind: IssueName,
    pub mode: IssueMode,
    pub confidence_min: Option<Fraction>,
    pub confidence_max: Option<Fraction>,
}

/// The name of an issue. The API publishes only some of the names, so unknown names may be valid.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IssueName {
    Known(IssueKind),
    Other(Label),
}

impl IssueName {
    pub fn new(raw: &str) -> Result<Self, InvalidField> {
        let name = non_blank(raw, Label::MAX_CHARS, "an issue")?;
        Ok(IssueKind::from_keyword(&name).map_or_else(|| Self::Other(Label(name)), Self::Known))
    }

    pub fn as_str(&self) -> &str {
        match self {
            Self::Known(kind) => kind.as_str(),
            Self::Other(name) => name.as_str(),
        }
    }
}

impl From<IssueKind> for IssueName {
    fn from(kind: IssueKind) -> Self {
        Self::Known(kind)
    }
}

keyword_enum!(
    IssueMode {
        In = "in",
        Out = "out",
    }
);

keyword_enum!(
    IssueKind {
        Blur = "blur",
        Dark = "dark",
        Bright = "bright",
        Duplicates = "duplicates",
        Outliers = "outliers",
        /// The picture is much wider or taller than the rest of the dataset.
        OddAspect = "odd_aspect",
        /// The picture is much smaller or larger than the rest of the dataset.
        OddSize = "odd_size",
        Mislabels = "mislabels",
        /// The picture differs from the rest of the pictures with the same label.
        LabelOutlier = "label_outlier",
        Normal = "normal",
    }
);

/// A number from 0.0 to 1.0. It is stored as its bits, which sort like the numbers because no number is negative.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Fraction(u64);

impl Fraction {
    pub fn new(value: f64) -> Option<Self> {
        // Adding 0.0 turns -0.0, which has different bits, into 0.0.
        (0.0..=1.0).contains(&value).then(|| Self((value + 0.0).to_bits()))
    }

    pub fn value(self) -> f64 {
        f64::from_bits(self.0)
    }

    fn for_field(field: &'static str, value: f64) -> Result<Self, InvalidField> {
        let invalid = || InvalidField::new(field, "must be a number from 0.0 to 1.0");
        Self::new(value).ok_or_else(invalid)
    }
}

impl TryFrom<f64> for Fraction {
    type Error = &'static str;

    fn try_from(value: f64) -> Result<Self, Self::Error> {
        Self::new(value).ok_or("must be a number from 0.0 to 1.0")
    }
}

impl From<Fraction> for f64 {
    fn from(fraction: Fraction) -> Self {
        fraction.value()
    }
}

impl fmt::Debug for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value().fmt(f)
    }
}

/// A search text. It is trimmed, not blank, and has at most [`QueryText::MAX_CHARS`] characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct QueryText(String);

impl QueryText {
    pub const MAX_CHARS: usize = 1_000;

    pub fn new(raw: &str) -> Result<Self, InvalidField> {
        non_blank(raw, Self::MAX_CHARS, "a text").map(Self)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for QueryText {
    type Error = InvalidField;

    fn try_from(raw: String) -> Result<Self, Self::Error> {
        Self::new(&raw)
    }
}

/// A classification label. It is trimmed, not blank, and has at most [`Label::MAX_CHARS`] characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(String);

impl Label {
    pub const MAX_CHARS: usize = 256;

    pub fn new(raw: &str) -> Result<Self, InvalidField> {
        non_blank(raw, Self::MAX_CHARS, "a label").map(Self)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn non_blank(raw: &str, longest: usize, what: &str) -> Result<String, InvalidField> {
    let text = raw.trim();
    if text.is_empty() {
        return Err(InvalidField::new("value", format!("{what} must not be empty")));
    }
    if text.chars().nth(longest).is_some() {
        return Err(InvalidField::new("value", format!("{what} has at most {longest} characters")));
    }
    Ok(text.to_owned())
}

/// A sorted list of 1 to [`MAX_VALUES`] unique values.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueList<T>(Vec<T>);

pub const MAX_VALUES: usize = 100;

impl<T: Ord> ValueList<T> {
    pub fn new(mut values: Vec<T>) -> Result<Self, InvalidField> {
        if values.is_empty() || values.len() > MAX_VALUES {
            let reason = format!("must be a list of 1 to {MAX_VALUES} entries");
            return Err(InvalidField::new("value", reason));
        }
        values.sort_unstable();
        values.dedup();
        Ok(Self(values))
    }

    pub fn as_slice(&self) -> &[T] {
        &self.0
    }
}

/// The reason for rejecting a field of a filter or a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidField {
    /// The name of the field on the wire.
    pub field: &'static str,
    pub reason: String,
}

impl fmt::Display for InvalidField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.reason)
    }
}

impl std::error::Error for InvalidField {}

impl InvalidField {
    pub fn new(field: &'static str, reason: impl Into<String>) -> Self {
        Self { field, reason: reason.into() }
    }
}

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
                bound(f, ", at a distance of at most", *max_distance, "lower is stricter")
            }
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

/// Some services and proxies reject URLs that are longer than this.
const LONG_QUERY_CHARS: usize = 4_000;

impl Filter {
    /// Returns the enrichment models that the filter needs. Any one of them is enough.
    pub fn required_models(&self) -> &'static [EnrichmentModel] {
        match self {
            Self::FullText(_) => EnrichmentModel::ANY_FOR_CAPTIONS,
            Self::Semantic { .. } => EnrichmentModel::ANY_FOR_SEMANTIC,
            Self::Labels(..) => EnrichmentModel::ANY_FOR_LABELS,
            _ => &[],
        }
    }
}

/// Warns about an issue name that the API does not publish, because services may reject it. The API publishes only one
/// name.
pub fn unpublished_issue_warning(name: &str) -> Option<String> {
    let name = name.trim();
    (!name.is_empty() && name != IssueKind::Blur.as_str()).then(|| {
        let name = SafeText::name(name);
        format!("“{name}” is not a published issue name: this service may reject it")
    })
}

pub fn long_query_warning(characters: usize) -> Option<String> {
    (characters > LONG_QUERY_CHARS)
        .then(|| format!("{characters} characters in the URL; some proxies reject URLs this long"))
}

//! Filters of the query language (`vql`), their values and the sentences that explain them.
//!
//! A [`Filter`] is valid by construction. The `wire` crate reads and writes filters as JSON.

mod column;
mod explanation;
mod pattern;
mod period;
mod property;
mod values;

pub use column::{ColumnName, ColumnValue, ExtraColumns, ItemValue};
pub use pattern::PathPattern;
pub use period::Period;
pub use property::{
    FileProperty, Operator, Property, PropertyFilter, PropertyValue, format_of_file,
};
pub use values::{
    Alternatives, Fraction, InvalidField, Label, MAX_VALUES, NegatedFilter, Number, QueryText,
    ValueList,
};

use values::non_blank;

use crate::{Anchor, EnrichmentModel, FileKind, SafeText, TagId, keyword::keyword_enum};

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
    /// The media item has a near-duplicate with at least this similarity, whose scale the API document does not state.
    Duplicates(Number),
    /// The media item has a uniqueness score above this. The API document does not state its scale.
    Uniqueness(Number),
    Similar {
        anchor: Anchor,
        /// The maximum cosine distance.
        max_distance: Option<Fraction>,
    },
    /// What the file is. This filter and the filters below are additions of the local deployment.
    Property(PropertyFilter),
    AnyOf(Alternatives),
    Not(NegatedFilter),
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
        Number::new(similarity).map(Self::Duplicates)
    }

    pub fn uniqueness(score: f64) -> Result<Self, InvalidField> {
        Number::new(score).map(Self::Uniqueness)
    }

    pub fn similar(anchor: Anchor, max_distance: Option<f64>) -> Result<Self, InvalidField> {
        Ok(Self::Similar { anchor, max_distance: optional("threshold", max_distance)? })
    }

    pub fn property(
        property: Property,
        operator: Operator,
        values: &[ColumnValue],
    ) -> Result<Self, InvalidField> {
        PropertyFilter::new(property, operator, values).map(Self::Property)
    }

    /// Returns a filter for everything in a folder.
    pub fn in_folder(folder: &str) -> Result<Self, InvalidField> {
        let pattern = ColumnValue::Text(PathPattern::literal(folder)?.as_str().to_owned());
        Self::property(Property::File(FileProperty::Path), Operator::Is, &[pattern])
    }

    pub fn any_of(filters: Vec<Self>) -> Result<Self, InvalidField> {
        Alternatives::new(filters).map(Self::AnyOf)
    }

    pub fn negated(filter: Self) -> Result<Self, InvalidField> {
        NegatedFilter::new(filter).map(Self::Not)
    }

    fn has_alternatives(&self) -> bool {
        match self {
            Self::AnyOf(_) => true,
            Self::Not(negated) => negated.filter().has_alternatives(),
            _ => false,
        }
    }

    /// Returns the key of a filter that only the local deployment knows. Filters that public clients send are not
    /// additions, even if the API document does not have them, because hosted services may know them.
    pub fn local_addition(&self) -> Option<&'static str> {
        match self {
            Self::Property(filter) => Some(filter.property().keyword()),
            Self::AnyOf(_) => Some("any_of"),
            Self::Not(_) => Some("not"),
            _ => None,
        }
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

/// Some services and proxies reject URLs that are longer than this.
const LONG_QUERY_CHARS: usize = 4_000;
/// The maximum number of characters of a URL that the HTTP library sends or accepts.
pub const MAX_URL_CHARS: usize = 65_534;

impl Filter {
    /// Returns the enrichment models that the filter needs. Any one of them is enough.
    pub fn required_models(&self) -> &'static [EnrichmentModel] {
        match self {
            Self::FullText(_) => EnrichmentModel::ANY_FOR_CAPTIONS,
            Self::Semantic { .. } => EnrichmentModel::ANY_FOR_SEMANTIC,
            Self::Labels(..) => EnrichmentModel::ANY_FOR_LABELS,
            Self::AnyOf(filters) => filters
                .as_slice()
                .iter()
                .map(Self::required_models)
                .find(|it| !it.is_empty())
                .unwrap_or_default(),
            Self::Not(negated) => negated.filter().required_models(),
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

/// Warns about a format that only a file without the usual extension could have.
pub fn unknown_format_warning(filter: &PropertyFilter) -> Option<String> {
    let is_unknown = |value: &&PropertyValue| match value {
        PropertyValue::Text(format) => !FileKind::from_name(&format!(".{format}")).is_media(),
        _ => false,
    };
    let is_format = *filter.property() == Property::File(FileProperty::Format);
    let unknown = filter.values().iter().find(is_unknown).filter(|_| is_format)?;
    let format = SafeText::name(&unknown.to_scalar().to_string());
    Some(format!("“{format}” is not a format of pictures or videos, such as jpeg, png or mp4"))
}

/// Warns about filters that take this many characters of a URL.
pub fn long_query_warning(characters: usize) -> Option<String> {
    let reason = if characters <= MAX_URL_CHARS {
        "some proxies reject URLs this long".to_owned()
    } else {
        format!("a URL has at most {MAX_URL_CHARS}, so use fewer or shorter filters")
    };
    let is_long = characters > LONG_QUERY_CHARS;
    is_long.then(|| format!("{characters} characters in the URL; {reason}"))
}

//! Quality issues of media items.

use super::{
    Fraction, InvalidField,
    value::{Label, non_blank},
};
use crate::keyword::keyword_enum;

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

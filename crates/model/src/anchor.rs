//! The image that others are compared with.

use std::str::FromStr;

use crate::{MediaId, keyword::keyword_enum};

keyword_enum!(
    AnchorKind {
        /// An uploaded query image.
        Upload = "UPLOAD",
        Media = "MEDIA",
    }
);

impl FromStr for AnchorKind {
    type Err = &'static str;

    /// Parses the keyword in any case.
    fn from_str(raw: &str) -> Result<Self, Self::Err> {
        Self::from_keyword(&raw.trim().to_uppercase()).ok_or("expected UPLOAD or MEDIA")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Anchor {
    pub media: MediaId,
    pub kind: AnchorKind,
}

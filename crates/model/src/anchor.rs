//! The image that others are compared with.

use crate::{MediaId, keyword::keyword_enum};

keyword_enum!(
    AnchorKind {
        /// An uploaded query image.
        Upload = "UPLOAD",
        Media = "MEDIA",
    }
);

impl AnchorKind {
    /// Parses the keyword in any case.
    pub fn parse(raw: &str) -> Option<Self> {
        Self::from_keyword(&raw.trim().to_uppercase())
    }
}

/// The image that others are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Anchor {
    pub media: MediaId,
    pub kind: AnchorKind,
}

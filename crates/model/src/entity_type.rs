//! The kind of cluster members.

use serde::Deserialize;

use crate::keyword::keyword_enum;

keyword_enum!(
    /// The kind of cluster members.
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "UPPERCASE")]
    EntityType {
        #[default]
        Images = "IMAGES",
        Objects = "OBJECTS",
    }
);

impl EntityType {
    pub fn toggled(self) -> Self {
        match self {
            Self::Images => Self::Objects,
            Self::Objects => Self::Images,
        }
    }

    /// Parses the keyword in any case, also in the singular.
    pub fn parse(raw: &str) -> Option<Self> {
        let keyword = raw.trim().to_uppercase();
        Self::from_keyword(&keyword).or_else(|| Self::from_keyword(&format!("{keyword}S")))
    }
}

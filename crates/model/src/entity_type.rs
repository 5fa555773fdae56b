//! The kind of cluster members.

use std::str::FromStr;

use serde::Deserialize;

use crate::keyword::keyword_enum;

keyword_enum!(
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
}

impl FromStr for EntityType {
    type Err = &'static str;

    /// Parses the keyword in any case, also in the singular.
    fn from_str(raw: &str) -> Result<Self, Self::Err> {
        let keyword = raw.trim().to_uppercase();
        let singular = || Self::from_keyword(&format!("{keyword}S"));
        Self::from_keyword(&keyword).or_else(singular).ok_or("expected images or objects")
    }
}

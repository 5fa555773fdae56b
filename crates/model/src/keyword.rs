//! Defines enums whose values are keywords, such as those of the API, by the macro [`keyword_enum`].
//! [`EntityType`], and [`Anchor`] for searches by a picture, are defined here as well.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::MediaId;

/// Defines an enum with the keyword of each variant, the list of all variants, and the conversions in both directions.
#[macro_export]
macro_rules! keyword_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $keyword:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$variant_doc])* $variant),* }

        impl $name {
            pub const ALL: [Self; [$($keyword),*].len()] = [$(Self::$variant),*];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $keyword),* }
            }

            /// Parses the exact keyword.
            pub fn from_keyword(raw: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.as_str() == raw)
            }
        }
    };
}

pub(crate) use keyword_enum;

keyword_enum!(
    #[derive(Default, Serialize, Deserialize)]
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

    /// Parses the keyword in any case, in the plural or the singular.
    fn from_str(raw: &str) -> Result<Self, Self::Err> {
        let keyword = raw.trim().to_uppercase();
        let singular = || Self::from_keyword(&format!("{keyword}S"));
        Self::from_keyword(&keyword).or_else(singular).ok_or("expected images or objects")
    }
}

keyword_enum!(
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "UPPERCASE")]
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Anchor {
    #[serde(rename = "anchor_media_id")]
    pub media: MediaId,
    #[serde(rename = "anchor_type")]
    pub kind: AnchorKind,
}

//! Defines enums whose values have texts as tables, by the macro [`text_enum`], so that a new value is added in one
//! place. The macro [`keyword_enum`] is for texts that are keywords, such as those of the API. [`EntityType`], and
//! [`Anchor`] for searches by a picture, are defined here as well.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::MediaId;

/// Defines an enum without fields. `ALL` has its values in their order, and a function returns the text of a value. A
/// second function returns a second text. A number in brackets is the value as a number.
#[macro_export]
macro_rules! text_enum {
    (
        $(#[$doc:meta])*
        pub enum $name:ident: $(#[$text_doc:meta])* $text:ident {
            $($(#[$variant_doc:meta])* $variant:ident $([$code:literal])? = $value:literal,)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$variant_doc])* $variant $(= $code)?,)* }

        impl $name {
            pub const ALL: [Self; [$($value),*].len()] = [$(Self::$variant),*];

            $(#[$text_doc])*
            pub const fn $text(self) -> &'static str {
                match self { $(Self::$variant => $value,)* }
            }
        }
    };
    (
        $(#[$doc:meta])*
        pub enum $name:ident: $(#[$text_doc:meta])* $text:ident, $(#[$second_doc:meta])* $second:ident {
            $($(#[$variant_doc:meta])* $variant:ident $([$code:literal])? = $value:literal, $second_value:literal;)*
        }
    ) => {
        $crate::text_enum! {
            $(#[$doc])*
            pub enum $name: $(#[$text_doc])* $text {
                $($(#[$variant_doc])* $variant $([$code])? = $value,)*
            }
        }

        impl $name {
            $(#[$second_doc])*
            pub const fn $second(self) -> &'static str {
                match self { $(Self::$variant => $second_value,)* }
            }
        }
    };
}

/// Defines an enum with the keyword of each variant, and the conversion of a keyword to its variant.
#[macro_export]
macro_rules! keyword_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $keyword:literal,)* }) => {
        $crate::text_enum! {
            $(#[$doc])*
            #[derive(Hash, PartialOrd, Ord)]
            pub enum $name: as_str {
                $($(#[$variant_doc])* $variant = $keyword,)*
            }
        }

        impl $name {
            /// Parses the exact keyword.
            pub fn from_keyword(raw: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.as_str() == raw)
            }
        }
    };
}

pub(crate) use keyword_enum;
pub(crate) use text_enum;

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

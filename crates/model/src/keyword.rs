//! Defines enums whose values have texts as tables, by the macro [`text_enum`], so that a new value is added in one
//! place. The macro [`keyword_enum`] is for texts that are keywords, such as those of the API.

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

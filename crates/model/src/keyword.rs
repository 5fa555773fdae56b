//! Enums whose values are keywords of the interface.

macro_rules! keyword_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $variant:ident = $keyword:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$about])* $variant),* }

        impl $name {
            pub const ALL: [Self; [$($keyword),*].len()] = [$(Self::$variant),*];

            pub fn as_str(self) -> &'static str {
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

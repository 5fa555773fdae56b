//! Reads the lists of rows in the text files of `assets`, and defines enums whose values have texts as tables. Both keep
//! one row for each thing, so that a new one is added in one place.

/// Returns the rows of a text file: a name, a colon and a text each. A line that begins with `#` is a comment.
pub fn rows(file: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    file.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(": "))
}

/// Returns the text of the row with this name. A row may have several names with spaces between them.
pub fn text_of(file: &'static str, name: &str) -> Option<&'static str> {
    let is_named = |names: &str| names.split(' ').any(|each| each == name);
    rows(file).find(|(names, _)| is_named(names)).map(|(_, text)| text)
}

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
            pub fn $text(self) -> &'static str {
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
            pub fn $second(self) -> &'static str {
                match self { $(Self::$variant => $second_value,)* }
            }
        }
    };
}

//! The languages that have a Snowball stemmer.

use rust_stemmers::{Algorithm, Stemmer};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Language {
    #[default]
    English,
    Arabic,
    Danish,
    Dutch,
    Finnish,
    French,
    German,
    Greek,
    Hungarian,
    Italian,
    Norwegian,
    Portuguese,
    Romanian,
    Russian,
    Spanish,
    Swedish,
    Tamil,
    Turkish,
}

/// Each with its code (ISO 639-1), its name and its stemmer.
const LANGUAGES: [(Language, &str, &str, Algorithm); 18] = [
    (Language::English, "en", "English", Algorithm::English),
    (Language::Arabic, "ar", "Arabic", Algorithm::Arabic),
    (Language::Danish, "da", "Danish", Algorithm::Danish),
    (Language::Dutch, "nl", "Dutch", Algorithm::Dutch),
    (Language::Finnish, "fi", "Finnish", Algorithm::Finnish),
    (Language::French, "fr", "French", Algorithm::French),
    (Language::German, "de", "German", Algorithm::German),
    (Language::Greek, "el", "Greek", Algorithm::Greek),
    (Language::Hungarian, "hu", "Hungarian", Algorithm::Hungarian),
    (Language::Italian, "it", "Italian", Algorithm::Italian),
    (Language::Norwegian, "no", "Norwegian", Algorithm::Norwegian),
    (Language::Portuguese, "pt", "Portuguese", Algorithm::Portuguese),
    (Language::Romanian, "ro", "Romanian", Algorithm::Romanian),
    (Language::Russian, "ru", "Russian", Algorithm::Russian),
    (Language::Spanish, "es", "Spanish", Algorithm::Spanish),
    (Language::Swedish, "sv", "Swedish", Algorithm::Swedish),
    (Language::Tamil, "ta", "Tamil", Algorithm::Tamil),
    (Language::Turkish, "tr", "Turkish", Algorithm::Turkish),
];

impl Language {
    /// All languages, the default first.
    pub fn all() -> impl Iterator<Item = Self> {
        LANGUAGES.into_iter().map(|(language, ..)| language)
    }

    pub fn from_code(code: &str) -> Option<Self> {
        Self::all().find(|language| language.code() == code)
    }

    pub fn code(self) -> &'static str {
        LANGUAGES[self as usize].1
    }

    pub fn name(self) -> &'static str {
        LANGUAGES[self as usize].2
    }

    pub fn stemmer(self) -> Stemmer {
        Stemmer::create(LANGUAGES[self as usize].3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_is_in_the_table_at_its_place() {
        for (number, (language, code, ..)) in LANGUAGES.into_iter().enumerate() {
            assert_eq!(language as usize, number, "{code}");
            assert_eq!(Language::from_code(code), Some(language));
        }
        assert_eq!(Language::all().next(), Some(Language::default()));
    }
}

//! The languages that have a Snowball stemmer.

use std::borrow::Cow;

use snowball_stemmers_rs::{Algorithm, Stemmer};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Language {
    #[default]
    English,
    Arabic,
    Armenian,
    Basque,
    Catalan,
    Czech,
    Danish,
    Dutch,
    Esperanto,
    Estonian,
    Finnish,
    French,
    German,
    Greek,
    Hindi,
    Hungarian,
    Indonesian,
    Irish,
    Italian,
    Lithuanian,
    Nepali,
    Norwegian,
    Persian,
    Polish,
    Portuguese,
    Romanian,
    Russian,
    Serbian,
    Sesotho,
    Spanish,
    Swedish,
    Tamil,
    Turkish,
    Ukrainian,
    Yiddish,
}

pub(super) const LANGUAGE_COUNT: usize = LANGUAGES.len();

/// Each with its code (ISO 639-1), its name and its stemmer.
const LANGUAGES: [(Language, &str, &str, Algorithm); 35] = [
    (Language::English, "en", "English", Algorithm::English),
    (Language::Arabic, "ar", "Arabic", Algorithm::Arabic),
    (Language::Armenian, "hy", "Armenian", Algorithm::Armenian),
    (Language::Basque, "eu", "Basque", Algorithm::Basque),
    (Language::Catalan, "ca", "Catalan", Algorithm::Catalan),
    (Language::Czech, "cs", "Czech", Algorithm::Czech),
    (Language::Danish, "da", "Danish", Algorithm::Danish),
    (Language::Dutch, "nl", "Dutch", Algorithm::Dutch),
    (Language::Esperanto, "eo", "Esperanto", Algorithm::Esperanto),
    (Language::Estonian, "et", "Estonian", Algorithm::Estonian),
    (Language::Finnish, "fi", "Finnish", Algorithm::Finnish),
    (Language::French, "fr", "French", Algorithm::French),
    (Language::German, "de", "German", Algorithm::German),
    (Language::Greek, "el", "Greek", Algorithm::Greek),
    (Language::Hindi, "hi", "Hindi", Algorithm::Hindi),
    (Language::Hungarian, "hu", "Hungarian", Algorithm::Hungarian),
    (Language::Indonesian, "id", "Indonesian", Algorithm::Indonesian),
    (Language::Irish, "ga", "Irish", Algorithm::Irish),
    (Language::Italian, "it", "Italian", Algorithm::Italian),
    (Language::Lithuanian, "lt", "Lithuanian", Algorithm::Lithuanian),
    (Language::Nepali, "ne", "Nepali", Algorithm::Nepali),
    (Language::Norwegian, "no", "Norwegian", Algorithm::Norwegian),
    (Language::Persian, "fa", "Persian", Algorithm::Persian),
    (Language::Polish, "pl", "Polish", Algorithm::Polish),
    (Language::Portuguese, "pt", "Portuguese", Algorithm::Portuguese),
    (Language::Romanian, "ro", "Romanian", Algorithm::Romanian),
    (Language::Russian, "ru", "Russian", Algorithm::Russian),
    (Language::Serbian, "sr", "Serbian", Algorithm::Serbian),
    (Language::Sesotho, "st", "Sesotho", Algorithm::Sesotho),
    (Language::Spanish, "es", "Spanish", Algorithm::Spanish),
    (Language::Swedish, "sv", "Swedish", Algorithm::Swedish),
    (Language::Tamil, "ta", "Tamil", Algorithm::Tamil),
    (Language::Turkish, "tr", "Turkish", Algorithm::Turkish),
    (Language::Ukrainian, "uk", "Ukrainian", Algorithm::Ukrainian),
    (Language::Yiddish, "yi", "Yiddish", Algorithm::Yiddish),
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

    /// Returns the stem of a word in lower case. Some stemmers take all of a word for an ending, such as the Greek one
    /// of `ιστός`; its stem is the word.
    pub fn stem(self, word: &str) -> Cow<'_, str> {
        let stem = Stemmer::create(LANGUAGES[self as usize].3).stem(word);
        if stem.is_empty() { Cow::Borrowed(word) } else { stem }
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

//! The languages of captions and their stemmers. To add a language, add it here, add its letters to
//! `language_detection`, and add its stop words to `stop_words`.

use std::{borrow::Cow, collections::HashMap, str::FromStr};

use snowball_stemmers_rs::{Algorithm, Stemmer};

/// Defines [`Language`] and its table from the languages with their codes (ISO 639-1).
macro_rules! languages {
    ($($(#[$attribute:meta])? $language:ident = $code:literal,)*) => {
        /// A language that has a Snowball stemmer.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Language { $($(#[$attribute])? $language),* }

        /// Each language with its code, its name and its stemmer.
        const LANGUAGES: [(Language, &str, &str, Algorithm); [$($code),*].len()] =
            [$((Language::$language, $code, stringify!($language), Algorithm::$language)),*];
    };
}

languages! {
    #[default]
    English = "en",
    Arabic = "ar",
    Armenian = "hy",
    Basque = "eu",
    Catalan = "ca",
    Czech = "cs",
    Danish = "da",
    Dutch = "nl",
    Esperanto = "eo",
    Estonian = "et",
    Finnish = "fi",
    French = "fr",
    German = "de",
    Greek = "el",
    Hindi = "hi",
    Hungarian = "hu",
    Indonesian = "id",
    Irish = "ga",
    Italian = "it",
    Lithuanian = "lt",
    Nepali = "ne",
    Norwegian = "no",
    Persian = "fa",
    Polish = "pl",
    Portuguese = "pt",
    Romanian = "ro",
    Russian = "ru",
    Serbian = "sr",
    Sesotho = "st",
    Spanish = "es",
    Swedish = "sv",
    Tamil = "ta",
    Turkish = "tr",
    Ukrainian = "uk",
    Yiddish = "yi",
}

pub(super) const LANGUAGE_COUNT: usize = LANGUAGES.len();

impl Language {
    /// Iterates over all languages, with the default language first.
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

    /// Returns the stem of a word in lower case. Some stemmers mistake a whole word for an ending, as the Greek one
    /// does with `ιστός`. The stem of such a word is the word itself.
    pub fn stem(self, word: &str) -> Cow<'_, str> {
        let stem = Stemmer::create(LANGUAGES[self as usize].3).stem(word);
        if stem.is_empty() { Cow::Borrowed(word) } else { stem }
    }
}

/// The language setting of a dataset: a fixed language, or detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LanguageChoice {
    Detected,
    Language(Language),
}

impl LanguageChoice {
    const DETECTED: &str = "auto";

    pub fn language(self) -> Option<Language> {
        match self {
            Self::Detected => None,
            Self::Language(language) => Some(language),
        }
    }
}

impl FromStr for LanguageChoice {
    type Err = String;

    fn from_str(raw: &str) -> Result<Self, String> {
        if raw == Self::DETECTED {
            return Ok(Self::Detected);
        }
        Language::from_code(raw).map(Self::Language).ok_or_else(|| {
            let codes: Vec<&str> = Language::all().map(Language::code).collect();
            format!("expected {} or one of {}", Self::DETECTED, codes.join(", "))
        })
    }
}

/// A set of languages, with one bit per language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LanguageSet(u64);

const _: () = assert!(LANGUAGE_COUNT <= 64);

impl LanguageSet {
    pub(super) const ALL: Self = Self(u64::MAX >> (64 - LANGUAGE_COUNT));

    pub fn insert(&mut self, language: Language) {
        self.0 |= 1 << language as u32;
    }

    pub(super) fn contains(self, language: Language) -> bool {
        self.0 >> language as u32 & 1 == 1
    }

    pub(super) fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the number of languages that are not in the set.
    pub(super) fn excluded(self) -> u32 {
        Self::ALL.0.count_ones() - self.0.count_ones()
    }

    pub(super) fn iter(self) -> impl Iterator<Item = Language> {
        Language::all().filter(move |&language| self.contains(language))
    }
}

/// The languages in which each word occurs.
pub(super) struct WordTable(HashMap<&'static str, LanguageSet>);

impl WordTable {
    /// Creates a table from the words of languages, separated by spaces.
    pub fn new(lists: impl IntoIterator<Item = (Language, &'static str)>) -> Self {
        let mut table: HashMap<&str, LanguageSet> = HashMap::new();
        for (language, words) in lists {
            for word in words.split_whitespace() {
                table.entry(word).or_default().insert(language);
            }
        }
        Self(table)
    }

    pub(super) fn languages(&self, word: &str) -> LanguageSet {
        self.0.get(word).copied().unwrap_or_default()
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

//! Sets of languages, and the languages of words.

use std::collections::HashMap;

use super::{Language, supported::LANGUAGE_COUNT};

/// One bit per language.
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

    /// How many languages are not in the set.
    pub(super) fn excluded(self) -> u32 {
        Self::ALL.0.count_ones() - self.0.count_ones()
    }

    pub(super) fn iter(self) -> impl Iterator<Item = Language> {
        Language::all().filter(move |&language| self.contains(language))
    }
}

/// The languages that have each word.
pub(super) struct WordTable(HashMap<&'static str, LanguageSet>);

impl WordTable {
    /// From the words of languages, separated by spaces.
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

//! Stop words: the articles, prepositions, conjunctions, pronouns and auxiliary verbs that are frequent in captions.
//!
//! Our own selection, made from the lists of the Snowball project and of `stopwords-iso` (MIT) for the languages that
//! have one; those of Nepali, Serbian and Yiddish are in neither.

mod balto_slavic;
mod germanic;
mod indo_iranian;
mod other_families;
mod romance;
mod uralic;

use std::sync::LazyLock;

use super::{
    Language,
    language_set::{LanguageSet, WordTable},
};

const FAMILIES: [&[(Language, &str)]; 6] = [
    &germanic::LISTS,
    &romance::LISTS,
    &balto_slavic::LISTS,
    &uralic::LISTS,
    &indo_iranian::LISTS,
    &other_families::LISTS,
];

/// Whether a word, as `words` returns it, occurs in captions of any picture.
pub fn is_stop_word(word: &str, language: Language) -> bool {
    languages_of(word).contains(language)
}

/// The languages in which a word is a stop word.
pub(super) fn languages_of(word: &str) -> LanguageSet {
    static LANGUAGES: LazyLock<WordTable> =
        LazyLock::new(|| WordTable::new(FAMILIES.into_iter().flatten().copied()));
    LANGUAGES.languages(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::words::words;

    #[test]
    fn every_language_has_a_list_of_words_as_they_occur_in_texts() {
        for language in Language::all() {
            let mut lists = FAMILIES.into_iter().flatten().filter(|(of, _)| *of == language);
            let (_, list) = lists.next().unwrap();
            assert_eq!(lists.next(), None, "{language:?}");
            let listed: Vec<&str> = list.split_whitespace().collect();
            assert!((45..=260).contains(&listed.len()), "{language:?}: {}", listed.len());
            assert_eq!(words(list).collect::<Vec<_>>(), listed, "{language:?}");
            let mut unique = listed.clone();
            unique.sort_unstable();
            unique.dedup();
            assert_eq!(unique.len(), listed.len(), "{language:?}");
        }
    }
}

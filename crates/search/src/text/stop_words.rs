//! Stop words: the articles, prepositions, conjunctions, pronouns and auxiliary verbs that are frequent in captions.
//!
//! The lists are our own selection from the lists of the Snowball project and of `stopwords-iso` (MIT). Nepali, Serbian
//! and Yiddish are in neither source.

use std::sync::LazyLock;

use super::language::{Language, LanguageSet, WordTable};

/// Whether a word, as returned by `words`, occurs in captions of any picture.
pub(super) fn is_stop_word(word: &str, language: Language) -> bool {
    languages_of(word).contains(language)
}

/// Returns the languages in which a word is a stop word.
pub(super) fn languages_of(word: &str) -> LanguageSet {
    static LANGUAGES: LazyLock<WordTable> = LazyLock::new(|| WordTable::new(lists()));
    LANGUAGES.languages(word)
}

/// Returns the stop words of each language, separated by white space. In the file, the words of a language follow its
/// code.
fn lists() -> impl Iterator<Item = (Language, &'static str)> {
    include_str!("stop_words.txt").split("\n\n").filter_map(|section| {
        let (code, words) = section.split_once('\n')?;
        Some((Language::from_code(code)?, words))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::words::words;

    #[test]
    fn every_language_has_a_list_of_words_as_they_occur_in_texts() {
        for language in Language::all() {
            let mut lists = lists().filter(|(of, _)| *of == language);
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

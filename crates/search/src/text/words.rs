//! Splits texts into words and reduces words to their stems, so that "sailing boats" and "a boat sails" share both
//! stems.

use std::sync::LazyLock;

use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

use super::language::{Language, LanguageSet, WordTable};

/// Maximum length of a content word, in characters. Longer words are rarely real words.
const MAX_WORD_CHARS: usize = 64;

/// Returns the words of a text in lower case. Combining marks belong to words, because in Devanagari and Tamil they are
/// vowels and join consonants.
pub fn words(text: &str) -> impl Iterator<Item = String> {
    let text = normalized(text);
    let words = text
        .split(|c: char| !c.is_alphanumeric() && !is_combining_mark(c))
        .filter(|word| word.contains(char::is_alphanumeric));
    words.map(str::to_owned).collect::<Vec<_>>().into_iter()
}

/// Returns the stems of the words that describe a picture, in order, including repetitions.
pub fn content_stems(text: &str, language: Language) -> Vec<String> {
    words(text)
        .filter(|word| is_content_word(word, language))
        .map(|word| language.stem(&word).into_owned())
        .collect()
}

/// Returns the stems of all words of a text, separated by spaces, as the full-text index contains them.
pub fn stemmed_text(text: &str, language: Language) -> String {
    let stems: Vec<String> = words(text).map(|word| language.stem(&word).into_owned()).collect();
    stems.join(" ")
}

/// Splits a stemmed text into the words by which captions are found, in order and without diacritics. Letters are
/// folded as by the tokenizer `unicode61` of `SQLite`.
pub fn indexed_words(stemmed: &str) -> Vec<String> {
    let words = stemmed.split(|c: char| !is_indexed(c));
    let words = words
        .map(|word| word.chars().filter(|&c| !is_diacritic(c)).map(without_diacritics).collect());
    words.filter(|word: &String| !word.is_empty()).collect()
}

/// Whether a character belongs to an indexed word. Circled letters are symbols, although they are alphabetic.
fn is_indexed(c: char) -> bool {
    let is_circled = matches!(c, 'Ⓐ'..='ⓩ' | '\u{1F130}'..='\u{1F189}');
    (c.is_alphanumeric() && !is_circled) || is_combining_mark(c)
}

/// Whether a character is a diacritic that is removed. Other combining marks, such as the vowels of Devanagari, are
/// kept because they make a different word.
fn is_diacritic(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{304}' | '\u{306}'..='\u{30C}' | '\u{30F}' | '\u{311}' | '\u{31B}'
        | '\u{323}'..='\u{328}' | '\u{32D}' | '\u{32E}' | '\u{330}' | '\u{331}')
}

/// Returns a character in lower case. A Latin letter with diacritics loses them.
fn without_diacritics(c: char) -> char {
    let folded = folded(c);
    let mut parts = std::iter::once(folded).nfd();
    match parts.next() {
        Some(letter) if letter.is_ascii_alphabetic() && parts.all(is_diacritic) => {
            letter.to_ascii_lowercase()
        }
        _ => folded,
    }
}

/// Returns the lower case of the capital letter, so that a Greek sigma is the same at the end of a word. The dotless i
/// of Turkish stays different from the dotted i, with which it shares the capital letter.
fn folded(c: char) -> char {
    if c == 'ı' {
        return c;
    }
    let capital = only(c.to_uppercase());
    capital.and_then(|capital| only(capital.to_lowercase())).unwrap_or(c)
}

fn only(mut chars: impl Iterator<Item = char>) -> Option<char> {
    let first = chars.next()?;
    chars.next().is_none().then_some(first)
}

/// Whether a word describes a picture. Single Latin letters do not, because they are articles or are left over from an
/// apostrophe.
fn is_content_word(word: &str, language: Language) -> bool {
    let letter = word.len() == 1 && word.bytes().all(|b| b.is_ascii_alphabetic());
    !letter && word.chars().count() <= MAX_WORD_CHARS && !is_stop_word(word, language)
}

/// Returns a text in lower case with composed characters, and without optional characters.
fn normalized(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut composed = String::with_capacity(text.len());
    for c in text.nfc().filter(|&c| !is_optional(c)) {
        match c {
            // The ligatures of Yiddish are written as two letters.
            '\u{5F0}' => composed.push_str("\u{5D5}\u{5D5}"),
            '\u{5F1}' => composed.push_str("\u{5D5}\u{5D9}"),
            '\u{5F2}' => composed.push_str("\u{5D9}\u{5D9}"),
            _ => composed.push(c),
        }
    }
    // Lower case turns a capital I with a dot into two characters.
    composed.to_lowercase().replace("i\u{307}", "i")
}

/// Whether a word is the same with and without a character.
fn is_optional(c: char) -> bool {
    matches!(c,
        // Soft hyphens and joiners. Persian, for example, writes می‌رود also as میرود.
        '\u{AD}' | '\u{200C}' | '\u{200D}'
        // The points of the Hebrew script, and the vowels of the Arabic script.
        | '\u{591}'..='\u{5BD}' | '\u{5BF}' | '\u{5C1}' | '\u{5C2}' | '\u{5C4}' | '\u{5C5}' | '\u{5C7}'
        | '\u{610}'..='\u{61A}' | '\u{64B}'..='\u{65F}' | '\u{670}'
        // Variation selectors, which choose how an emoji is drawn.
        | '\u{20E3}' | '\u{FE00}'..='\u{FE0F}')
}

// Stop words: the articles, prepositions, conjunctions, pronouns and auxiliary verbs that are frequent in captions.
//
// The lists are our own selection from the lists of the Snowball project and of `stopwords-iso` (MIT). Nepali, Serbian
// and Yiddish are in neither source.

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

    fn joined(text: &str) -> String {
        words(text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn words_contain_their_combining_marks() {
        assert_eq!(joined("बच्चे, पार्क में खेल रहे हैं।"), "बच्चे पार्क में खेल रहे हैं");
        assert_eq!(joined("நாய்கள் (மரம்)"), "நாய்கள் மரம்");
        assert_eq!(joined("Մի շուն՝ լողափին։"), "մի շուն լողափին");
        assert_eq!(joined("cafe\u{301}s, CAFÉS"), "cafés cafés");
        assert_eq!(joined("\u{301} ❤\u{FE0F} 1\u{FE0F}\u{20E3}"), "1");
    }

    #[test]
    fn spellings_of_the_same_word_are_equal() {
        for (one, other) in [
            ("می‌رود", "میرود"),
            ("گربه‌ها", "گربهها"),
            ("كِتَابٌ", "كتاب"),
            ("אַ הױז, פֿאַר־ײדן", "א הויז פאר יידן"),
            ("\u{FB2E} \u{FB4E}", "א פ"),
            ("क्‍या", "क्या"),
            ("İstanbul", "istanbul"),
            ("Strand\u{AD}korb", "strandkorb"),
        ] {
            assert_eq!(joined(one), joined(other), "{one}");
        }
    }

    #[test]
    fn indexed_words_are_without_diacritics() {
        let indexed = |text: &str| indexed_words(text).join(" ");
        assert_eq!(indexed("cafés naïve łódź ấy"), "cafes naive łodz ay");
        assert_eq!(indexed("λόγος λογοσ ılık"), "λόγοσ λογοσ ılık");
        assert_eq!(indexed("पार्क किताबें йод 한국 か"), "पार्क किताबें йод 한국 か");
        assert_eq!(indexed("a\u{301}b \u{301} Ⓐ don't"), "ab don t");
    }

    #[test]
    fn a_long_word_of_a_script_with_many_bytes_is_a_content_word() {
        let playing = "விளையாடிக்கொண்டிருக்கிறார்கள்";
        assert_eq!(content_stems(playing, Language::Tamil).len(), 1);
        assert!(content_stems(&"a".repeat(65), Language::English).is_empty());
    }

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

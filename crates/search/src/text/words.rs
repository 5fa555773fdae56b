//! Splits texts into words and reduces words to their stems, so that "sailing boats" and "a boat sails" share both
//! stems.

use std::sync::LazyLock;

use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

use super::language::{Language, LanguageSet, WordTable};

/// Maximum length of a content word, in characters. Longer words are rarely real words.
const MAX_WORD_CHARS: usize = 64;

/// Returns the words of a text in the lower case of its language. Combining marks belong to words, because in Devanagari
/// and Tamil they are vowels and join consonants.
pub fn words(text: &str, language: Language) -> impl Iterator<Item = String> {
    let text = normalized(text, language);
    let words = text
        .split(|c: char| !c.is_alphanumeric() && !is_combining_mark(c))
        .filter(|word| word.contains(char::is_alphanumeric));
    words.map(str::to_owned).collect::<Vec<_>>().into_iter()
}

/// Returns the stems of the words that describe a picture, in order, including repetitions.
pub fn content_stems(text: &str, language: Language) -> Vec<String> {
    words(text, language)
        .filter(|word| is_content_word(word, language))
        .map(|word| stem(&word, language))
        .collect()
}

/// Returns the stems of all words of a text, separated by spaces, as the full-text index contains them.
pub fn stemmed_text(text: &str, language: Language) -> String {
    let stems: Vec<String> = words(text, language).map(|word| stem(&word, language)).collect();
    stems.join(" ")
}

/// Returns the stem of a word in lower case. Stemmers need diacritics to recognize the endings of their language, but
/// many remove a last vowel only without diacritics: the English one leaves `résumé` as it is, and makes `resum` of
/// `resume`. The stem of such a word is therefore the one without diacritics. Only the German stemmer spells out ß.
pub fn stem(word: &str, language: Language) -> String {
    let stem = language.stem(&word.replace('ß', "ss")).into_owned();
    let folded = indexed_words(&stem).concat();
    let has_marked_vowel = folded.ends_with(['a', 'e', 'i', 'o', 'u'])
        && stem.ends_with(|last: char| !last.is_ascii());
    if has_marked_vowel { language.stem(&folded).into_owned() } else { stem }
}

/// Splits a stemmed text into the words by which captions are found, in order and without diacritics. Letters are
/// folded as by the tokenizer `unicode61` of `SQLite`, and Latin letters such as œ are spelled out. In scripts that do
/// not separate words, each character is a word, so that a word is found as a phrase inside longer texts.
pub fn indexed_words(stemmed: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut follows_character = false;
    for c in stemmed.chars().filter(|&c| !is_diacritic(c)) {
        let is_character = is_in_script_without_words(c);
        let starts_word = (is_character || follows_character) && !is_combining_mark(c);
        if starts_word || !is_indexed(c) {
            words.push(String::new());
            follows_character = is_character;
        }
        if let Some(word) = words.last_mut().filter(|_| is_indexed(c)) {
            push_folded(c, word);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether a character belongs to a script that does not separate words, or that joins words and their endings.
fn is_in_script_without_words(c: char) -> bool {
    matches!(c,
        // Thai, Lao, Myanmar and Khmer
        '\u{E00}'..='\u{EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}'
        | '\u{A9E0}'..='\u{A9FF}' | '\u{AA60}'..='\u{AA7F}'
        // Hiragana, Katakana and Hangul
        | '\u{3040}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}' | '\u{AC00}'..='\u{D7A3}' | '\u{FF66}'..='\u{FF9F}'
        // Han
        | '\u{3005}'..='\u{3007}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFF}')
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

/// Appends a character in lower case. A Latin letter with diacritics loses them.
fn push_folded(c: char, word: &mut String) {
    let folded = folded(c);
    let mut parts = std::iter::once(folded).nfd();
    let letter = parts.next().filter(|_| parts.all(is_diacritic)).unwrap_or(folded);
    match ascii_spelling(letter) {
        Some(spelling) => word.push_str(spelling),
        None if letter.is_ascii_alphabetic() => word.push(letter.to_ascii_lowercase()),
        None => word.push(folded),
    }
}

/// Returns how a Latin letter is written on a keyboard that lacks it.
fn ascii_spelling(letter: char) -> Option<&'static str> {
    Some(match letter {
        'æ' => "ae",
        'œ' => "oe",
        'ß' => "ss",
        'þ' => "th",
        'ø' => "o",
        'ł' => "l",
        'đ' | 'ð' => "d",
        'ħ' => "h",
        _ => return None,
    })
}

/// Returns the lower case of the capital letter, so that a Greek sigma is the same at the end of a word, and the dotless
/// i of Turkish is found by the dotted i, with which it shares the capital letter.
fn folded(c: char) -> char {
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
    let has_length =
        word.chars().count() <= MAX_WORD_CHARS || word.contains(is_in_script_without_words);
    !letter && has_length && !is_stop_word(word, language)
}

/// Returns a text in the lower case of its language with composed characters, and without optional characters.
fn normalized(text: &str, language: Language) -> String {
    let is_turkish = language == Language::Turkish;
    if text.is_ascii() && !is_turkish {
        return text.to_ascii_lowercase();
    }
    let mut composed = String::with_capacity(text.len());
    for c in text.nfc().filter(|&c| !is_optional(c)) {
        match c {
            // The ligatures of Yiddish are written as two letters.
            '\u{5F0}' => composed.push_str("\u{5D5}\u{5D5}"),
            '\u{5F1}' => composed.push_str("\u{5D5}\u{5D9}"),
            '\u{5F2}' => composed.push_str("\u{5D9}\u{5D9}"),
            'I' if is_turkish => composed.push('ı'),
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
        words(text, Language::English).collect::<Vec<_>>().join(" ")
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
        assert_eq!(indexed("cafés naïve łódź ấy"), "cafes naive lodz ay");
        assert_eq!(indexed("λόγος λογοσ ılık"), "λόγοσ λογοσ ilik");
        assert_eq!(indexed("cœur ǽ straße øl đak"), "coeur ae strasse ol dak");
        assert_eq!(indexed("पार्क किताबें йод"), "पार्क किताबें йод");
        assert_eq!(indexed("a\u{301}b \u{301} Ⓐ don't"), "ab don t");
    }

    #[test]
    fn characters_are_words_in_scripts_that_do_not_separate_words() {
        let indexed = |text: &str| indexed_words(text).join(" ");
        assert_eq!(indexed("3只黑猫, usb充电器a1"), "3 只 黑 猫 usb 充 电 器 a1");
        assert_eq!(indexed("東京タワー の夜景"), "東 京 タ ワ ー の 夜 景");
        assert_eq!(indexed("고양이가 か\u{3099}"), "고 양 이 가 か\u{3099}");
        assert_eq!(indexed("ที่นี่ ឆ្កែ ခွေး"), "ที่ นี่ ឆ្ កែ ခွေး");
        let long = "猫".repeat(65);
        assert_eq!(content_stems(&long, Language::English), [long]);
    }

    #[test]
    fn capitals_of_turkish_are_its_own_letters() {
        for word in ["kırmızı", "istanbul", "ışık"] {
            let capitals = word.replace('i', "İ").to_uppercase();
            let stems = |text: &str| content_stems(text, Language::Turkish);
            assert_eq!(stems(&capitals), stems(word), "{capitals}");
        }
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
            assert_eq!(words(list, language).collect::<Vec<_>>(), listed, "{language:?}");
            let mut unique = listed.clone();
            unique.sort_unstable();
            unique.dedup();
            assert_eq!(unique.len(), listed.len(), "{language:?}");
        }
    }
}

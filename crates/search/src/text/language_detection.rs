//! Detects the language of captions by stop words and by letters beyond a to z.

use std::{collections::HashMap, ops::RangeInclusive, sync::LazyLock};

use super::{
    language::{LANGUAGE_COUNT, Language, LanguageSet, WordTable},
    words::{self, words},
};

/// Frequent words of captions in languages whose stop words are nearly the same.
const CAPTION_WORDS: [(Language, &str); 4] = [
    (Language::Danish, "dreng gade hvid hvide hvidt kvinde kvinder mand pige sidder vand"),
    (Language::Norwegian, "gutt hvit hvite hvitt jente kvinne kvinner løper sitter vann"),
    (Language::Estonian, "istub istuvad kass koer laps lapsed mees naine poiss tüdruk valge vesi"),
    (
        Language::Finnish,
        "istuu istuvat kissa koira lapsi lapset mies nainen poika tyttö valkoinen vettä",
    ),
];

/// The weight of a word of a language, relative to the weight of the letters of a word.
const WORD_WEIGHT: u64 = 2;

/// Returns the language with the highest score, or `None` if the captions do not show a language. If several languages
/// have the same score, the first one in the order of [`Language::all`] is returned.
///
/// A stop word counts for its languages, and a letter beyond a to z counts for the languages whose alphabet contains
/// it. The weight of both is the number of languages that they exclude, so `the` weighs more than `a`, which twelve
/// languages have. In 8,000 groups of four sentences of eight words in 33 languages, the detected language was right in
/// 98.7 % of the groups, and in 97.5 % if each stop word counted one. For single sentences, the shares are 89 % and 78
/// %.
pub fn detect_language<T: AsRef<str>>(captions: impl IntoIterator<Item = T>) -> Option<Language> {
    let mut scores = [0_u64; LANGUAGE_COUNT];
    let mut add = |languages: LanguageSet, weight: u64| {
        for language in languages.iter() {
            scores[language as usize] += weight * u64::from(languages.excluded());
        }
    };
    for caption in captions {
        for word in words(caption.as_ref(), Language::default()) {
            add(words::languages_of(&word), WORD_WEIGHT);
            add(languages_of_caption_word(&word), WORD_WEIGHT);
            add(languages_of_letters(&word), 1);
        }
    }
    let best = scores.into_iter().max().filter(|&score| score > 0)?;
    Language::all().find(|&language| scores[language as usize] == best)
}

fn languages_of_caption_word(word: &str) -> LanguageSet {
    static WORDS: LazyLock<WordTable> = LazyLock::new(|| WordTable::new(CAPTION_WORDS));
    WORDS.languages(word)
}

/// Scripts whose letters all belong to the same languages. The script of Yiddish is missing, because Hebrew captions
/// use it too.
const SCRIPTS: [(RangeInclusive<char>, &[Language]); 4] = [
    ('\u{370}'..='\u{3FF}', &[Language::Greek]),
    ('\u{530}'..='\u{58F}', &[Language::Armenian]),
    ('\u{900}'..='\u{97F}', &[Language::Hindi, Language::Nepali]),
    ('\u{B80}'..='\u{BFF}', &[Language::Tamil]),
];

const ALPHABETS: [(Language, &str); 25] = [
    (Language::Arabic, "ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىي"),
    (Language::Catalan, "àçèéíïòóúü"),
    (Language::Czech, "áčďéěíňóřšťúůýž"),
    (Language::Danish, "æøåé"),
    (Language::Dutch, "éëï"),
    (Language::Esperanto, "ĉĝĥĵŝŭ"),
    (Language::Estonian, "äöõüšž"),
    (Language::Finnish, "äö"),
    (Language::French, "àâæçèéêëîïôœùûü"),
    (Language::German, "äöüß"),
    (Language::Hungarian, "áéíóöőúüű"),
    (Language::Irish, "áéíóú"),
    (Language::Italian, "àèéìòù"),
    (Language::Lithuanian, "ąčęėįšųūž"),
    (Language::Norwegian, "æøåé"),
    (Language::Persian, "ءآئابپتثجچحخدذرزژسشصضطظعغفقلمنهوکگی"),
    (Language::Polish, "ąćęłńóśźż"),
    (Language::Portuguese, "áâãàçéêíóôõú"),
    (Language::Romanian, "ăâîșşțţ"),
    (Language::Russian, "абвгдежзийклмнопрстуфхцчшщъыьэюяё"),
    (Language::Serbian, "ćčđšžабвгдђежзијклљмнњопрстћуфхцчџш"),
    (Language::Spanish, "áéíñóúü"),
    (Language::Swedish, "åäöé"),
    (Language::Turkish, "âçğıöşü"),
    (Language::Ukrainian, "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя"),
];

/// Returns the languages whose alphabet contains all letters of a word beyond a to z. Returns none if the word contains
/// no such letter.
fn languages_of_letters(word: &str) -> LanguageSet {
    let letters = word.chars().filter(|c| !c.is_ascii() && c.is_alphabetic());
    letters.map(languages_of_letter).reduce(LanguageSet::intersection).unwrap_or_default()
}

fn languages_of_letter(letter: char) -> LanguageSet {
    static LANGUAGES: LazyLock<HashMap<char, LanguageSet>> = LazyLock::new(|| {
        let scripts = SCRIPTS.into_iter().flat_map(|(letters, languages)| {
            letters.flat_map(|letter| languages.iter().map(move |&language| (language, letter)))
        });
        let alphabets = ALPHABETS.into_iter();
        let alphabets = alphabets
            .flat_map(|(language, letters)| letters.chars().map(move |letter| (language, letter)));
        let mut languages: HashMap<char, LanguageSet> = HashMap::new();
        for (language, letter) in scripts.chain(alphabets) {
            languages.entry(letter).or_default().insert(language);
        }
        languages
    });
    LANGUAGES.get(&letter).copied().unwrap_or_default()
}

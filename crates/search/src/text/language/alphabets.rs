//! The letters beyond a to z that each language is written in.

use std::{collections::HashMap, ops::RangeInclusive, sync::LazyLock};

use super::{Language, language_set::LanguageSet};

/// Scripts of which all letters are of the same languages. That of Yiddish is not here, because Hebrew captions have it,
/// too.
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

/// Returns the languages whose alphabet contains all letters of a word beyond a to z; none if it contains no such
/// letter.
pub(super) fn languages_of_letters(word: &str) -> LanguageSet {
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

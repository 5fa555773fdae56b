//! The languages of captions: each is recognized, and its words have the stems that Snowball publishes.

mod captions;

use std::collections::BTreeSet;

use proptest::prelude::*;
use tessera_search::text::{
    detect_language,
    language::Language,
    words::{content_stems, indexed_words, stemmed_text},
};

use captions::CAPTIONS;

/// Inflected words with their stems, from the vocabularies of Snowball where it publishes one.
const STEMS: [(Language, &str, &str); 35] = [
    (Language::English, "boats skies running", "boat sky run"),
    (Language::Arabic, "الكتاب السيارات", "كتاب سيار"),
    (Language::Armenian, "երեխաներ քաղաքում", "երեխ քաղա"),
    (Language::Basque, "etxeak mendietan", "etxe mendi"),
    (Language::Catalan, "cases nens muntanyes", "case nen muntany"),
    (Language::Czech, "kočky stromy mostem", "kočk strom most"),
    (Language::Danish, "hundene husene", "hund hus"),
    (Language::Dutch, "huizen bomen", "huis boom"),
    (Language::Esperanto, "hundojn infanoj", "hund infan"),
    (Language::Estonian, "majades linnas", "maja linna"),
    (Language::Finnish, "koirat talossa", "koira talo"),
    (Language::French, "chevaux petites", "cheval petit"),
    (Language::German, "Häuser Bäume", "haus baum"),
    (Language::Greek, "σκύλοι ιστός", "σκυλ ιστός"),
    (Language::Hindi, "लड़कियाँ किताबें कुत्तों", "लड़क किताब कुत्त"),
    (Language::Hungarian, "kutyák", "kutya"),
    (Language::Indonesian, "anjingnya bermain permainan", "anjing main main"),
    (Language::Irish, "mbád bhád gcapall", "bád bád capall"),
    (Language::Italian, "bambini gatti", "bambin gatt"),
    (Language::Lithuanian, "namai medžiai", "nam med"),
    (Language::Nepali, "अध्ययनमा अधिकारीहरूको", "अध्ययन अधिकारी"),
    (Language::Norwegian, "hundene båter", "hund båt"),
    (Language::Persian, "کتاب‌ها کتابها", "کتاب کتاب"),
    (Language::Polish, "koty drzewa domów", "kot drzew dom"),
    (Language::Portuguese, "meninos barcos", "menin barc"),
    (Language::Romanian, "câini case", "câin cas"),
    (Language::Russian, "собаки домами", "собак дом"),
    (Language::Serbian, "мачке mačka", "mačk mačk"),
    (Language::Sesotho, "basadi mosadi", "sad sad"),
    (Language::Spanish, "niños perros", "niñ perr"),
    (Language::Swedish, "hundar flickor", "hund flick"),
    (Language::Tamil, "பூனைகள் வீடுகள்", "பூனை வீடு"),
    (Language::Turkish, "köpekler evler", "köpek ev"),
    (Language::Ukrainian, "собаками червоної", "собак червон"),
    (Language::Yiddish, "קינדער בילדער", "קינד בילד"),
];

#[test]
fn every_language_is_detected_in_a_few_captions() {
    let tested: BTreeSet<Language> = CAPTIONS.iter().map(|(language, _)| *language).collect();
    assert!(Language::all().eq(tested), "all of them");
    for (language, captions) in CAPTIONS {
        assert_eq!(detect_language(captions), Some(language), "{captions:?}");
    }
}

#[test]
fn two_captions_are_enough() {
    for (language, captions) in CAPTIONS {
        for two in captions.windows(2) {
            assert_eq!(detect_language(two), Some(language), "{two:?}");
        }
    }
}

#[test]
fn english_captions_with_loan_words_are_english() {
    for captions in [
        ["A café with a croissant and a crème brûlée", "An old man in a beret plays pétanque"],
        ["Tacos al pastor with jalapeño on a plate", "A mariachi band at the Plaza de la Luz"],
        [
            "A kindergarten class with a dachshund",
            "Doppelgänger in Lederhosen at the Biergarten über München",
        ],
        ["The smörgåsbord on a wooden table", "Skiers in an après-ski bar at Åre"],
        ["A matryoshka and a samovar on a shelf", "Sushi and karaoke in Tōkyō at night"],
        ["Pizza and spaghetti alla carbonara on a table", "A gondola near the Piazza San Marco"],
    ] {
        assert_eq!(detect_language(captions), Some(Language::English), "{captions:?}");
    }
}

#[test]
fn words_of_other_scripts_show_no_language() {
    for caption in ["海の近くの犬", "บ้านริมทะเล", "red boats", "כלב ליד הים", "", "1234 ❤"]
    {
        assert_eq!(detect_language([caption]), None, "{caption}");
    }
}

#[test]
fn the_documentation_names_every_language() {
    let documentation = include_str!("../../../../../docs/searching.md");
    for language in Language::all() {
        assert!(documentation.contains(language.name()), "{language:?}");
    }
}

#[test]
fn inflected_words_have_the_stems_of_snowball() {
    assert!(Language::all().eq(STEMS.iter().map(|(language, ..)| *language)), "all of them");
    for (language, text, stems) in STEMS {
        assert_eq!(stemmed_text(text, language), stems, "{language:?}");
    }
}

#[test]
fn words_are_found_without_their_diacritics() {
    for (language, written, typed) in [
        (Language::English, "résumé soufflé clichés Straße", "resume souffle cliches strasse"),
        (Language::German, "Café Größe Bücher Straße", "cafe grosse bucher strasse"),
        (Language::Portuguese, "maçã avó", "maca avo"),
        (Language::Norwegian, "kafé oppå", "kafe oppa"),
        (Language::French, "préférences élevé cafés", "preferences eleve cafes"),
        (Language::Spanish, "niño montañas jardín", "nino montanas jardin"),
    ] {
        let indexed = |text| indexed_words(&stemmed_text(text, language));
        assert_eq!(indexed(written), indexed(typed), "{language:?}");
    }
}

#[test]
fn captions_have_content_words_and_stop_words_in_every_language() {
    for (language, captions) in CAPTIONS {
        for caption in captions {
            let (all, content) =
                (stemmed_text(caption, language), content_stems(caption, language));
            let all = all.split(' ').count();
            assert!((2..=all).contains(&content.len()), "{language:?}: {caption}: {content:?}");
        }
        let text = captions.join(" ");
        let all = stemmed_text(&text, language).split(' ').count();
        assert!(content_stems(&text, language).len() < all, "{language:?}");
    }
}

proptest! {
    #[test]
    fn every_text_has_stems_in_every_language(text in any::<String>(), number in 0..35_usize, part in 0..4_usize) {
        let language = Language::all().nth(number).unwrap();
        let caption = CAPTIONS.iter().find(|(of, _)| *of == language).unwrap().1[part];
        let mixed: String = text.chars().zip(caption.chars()).flat_map(|(a, b)| [b, a]).collect();
        for text in [text, mixed] {
            let stems = stemmed_text(&text, language);
            prop_assert!(stems.split(' ').all(|stem| !stem.is_empty()) || stems.is_empty());
        }
    }
}

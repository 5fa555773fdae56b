//! Compares the index with the full-text index of `SQLite`, and reads damaged files.

use super::*;
use crate::caption_index::CaptionIndexBuilder;
use proptest::{
    collection::vec,
    prelude::*,
    sample::{Index, select},
    strategy::Union,
};
use tessera_search::text::{
    full_text_query::{FullTextQuery, parse},
    language::Language,
    words::{indexed_words, stem, words},
};
use tessera_testing::full_text::{
    captions, captions_with_excluded_words, full_text_matches, queries, tokenized,
};

fn index_of(captions: &[impl AsRef<str>], language: Language) -> CaptionIndex {
    let mut builder = CaptionIndexBuilder::new(language);
    for (row, caption) in (0..).zip(captions) {
        builder.push(row * 3, caption.as_ref());
    }
    let mut file = Vec::new();
    builder.finish().write(&mut file).unwrap();
    CaptionIndex::read(&mut &file[..]).unwrap()
}

fn query(text: &str) -> FullTextQuery {
    parse(text, Language::English).unwrap()
}

fn rows(index: &CaptionIndex, text: &str) -> Vec<i64> {
    index.search(&query(text)).into_iter().map(|(row, _)| row / 3).collect()
}

/// Returns letters, digits and combining marks. Latin letters are omitted that `SQLite` does not spell out, or of which
/// it does not know that they have two diacritics.
fn characters() -> impl Strategy<Value = char> {
    let scripts = [0x20..0x530, 0x300..0x370, 0x900..0x970];
    let scripts = scripts.map(|script: std::ops::Range<u32>| {
        script.prop_filter_map("not a character", char::from_u32)
    });
    let is_mark = |c| matches!(c, '\u{300}'..='\u{36F}' | '\u{900}'..='\u{96F}');
    Union::new(scripts).prop_filter("a symbol", move |&c| {
        (c.is_alphanumeric() || is_mark(c)) && !"ǠǡÆæǢǣǼǽŒœßÞþØøǾǿŁłĐđÐðĦħı".contains(c)
    })
}

/// Returns lists of bytes, some of which are words that queries contain.
fn byte_lists() -> impl Strategy<Value = Lists<u8>> {
    let word = select(vec!["boat", "red", "sea"]).prop_map(|word| word.as_bytes().to_vec());
    vec(prop_oneof![word, vec(any::<u8>(), 0..9)], 0..4).prop_map(|lists| {
        let mut all = Lists::default();
        for list in &lists {
            all.push(list.iter().copied());
        }
        all
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]
    #[test]
    fn matches_and_scores_are_those_of_sqlite(captions in captions(), text in queries()) {
        let joined: Vec<String> = captions.iter().map(|words| words.join(", ")).collect();
        compare_with_sqlite(&captions, &text, &index_of(&joined, Language::English))?;
    }

    #[test]
    fn columns_of_any_content_are_refused_or_searched_to_an_end(
        (rows, lengths) in (vec(any::<i64>(), 0..4), vec(any::<u32>(), 0..4)),
        (words, postings) in (byte_lists(), byte_lists()),
        text in queries(),
    ) {
        let fits = rows.len() == lengths.len() && words.len() == postings.len();
        let mut file = Vec::new();
        CaptionIndex { rows, lengths, words, postings }.write(&mut file).unwrap();
        let read = CaptionIndex::read(&mut &file[..]);
        prop_assert_eq!(read.is_ok(), fits);
        if let Ok(index) = read {
            index.search(&query(&text));
        }
    }

    #[test]
    fn letters_digits_and_marks_are_indexed_as_in_sqlite(
        text in vec(prop_oneof![characters(), select(vec![' ', '.', '\'', 'İ', 'ς'])], 0..24),
    ) {
        let text = text.into_iter().collect::<String>().to_lowercase();
        prop_assert_eq!(indexed_words(&text), tokenized(&text), "{}", text);
    }

    #[test]
    fn captions_of_any_characters_are_found_by_their_words(
        captions in vec("\\PC{0,30}", 1..6), at in any::<Index>(),
    ) {
        let index = index_of(&captions, Language::English);
        let number = at.index(captions.len());
        for word in words(&captions[number], Language::English) {
            let stem = stem(&word, Language::English);
            if !indexed_words(&stem).is_empty() {
                let found = rows(&index, &format!("\"{word}\""));
                prop_assert!(found.contains(&i64::try_from(number).unwrap()), "{word}");
            }
        }
    }
}

fn compare_with_sqlite(
    captions: &[Vec<&str>],
    text: &str,
    index: &CaptionIndex,
) -> Result<(), TestCaseError> {
    let query = query(text);
    let (found, expected) = (index.search(&query), full_text_matches(captions, &query));
    let incomparable = captions_with_excluded_words(captions, &query);
    prop_assert_eq!(found.len(), expected.len(), "{}", text);
    for ((row, score), (number, expected)) in found.into_iter().zip(expected) {
        prop_assert_eq!(row, 3 * i64::try_from(number).unwrap(), "{}", text);
        let difference = (f64::from(score) - expected).abs();
        let is_close = difference <= 1e-6 * expected.abs();
        prop_assert!(is_close || incomparable.contains(&number), "{text}: {score}, {expected}");
    }
    Ok(())
}

#[test]
fn excluded_words_do_not_count() {
    let captions = [vec!["walls"], vec!["लड़की"]];
    let index = index_of(&captions.concat(), Language::English);
    let score = |text: &str| index.search(&query(text));
    assert_eq!(score(r#"("walls" OR (-"walls" "boats"))"#), score("walls"));
}

#[test]
fn all_words_beside_an_exclusion_count() {
    let captions = [vec!["walls"], vec!["sea", "walls", "walls"]];
    let joined = captions.each_ref().map(|words| words.join(" "));
    let text = r#"-(-"walls walls" OR "red" OR (-"walls" (-"sea")))"#;
    compare_with_sqlite(&captions, text, &index_of(&joined, Language::English)).unwrap();
}

#[test]
fn words_of_scripts_that_do_not_separate_words_are_found_inside_longer_texts() {
    let captions =
        ["一只黑猫坐在墙上", "東京タワーの夜景", "แมวนอนอยู่บนโซฟา", "고양이가 잔다", "猫黑"];
    let index = index_of(&captions, Language::English);
    for (text, found) in [
        ("猫", &[0, 4][..]),
        ("黑猫", &[0]),
        ("東京", &[1]),
        ("แมว", &[2]),
        ("고양이", &[3]),
        ("京東", &[]),
    ] {
        assert_eq!(rows(&index, text), found, "{text}");
    }
}

#[test]
fn words_are_stemmed_and_without_diacritics() {
    let index = index_of(&["Sailing boats", "Cafés at night", ""], Language::English);
    for (text, row) in [
        ("boat sail", 0),
        ("SAILED", 0),
        ("cafe", 1),
        ("\"cafe at\"", 1),
        ("“at night”", 1),
        ("café-at", 1),
    ] {
        assert_eq!(rows(&index, text), [row], "{text}");
    }
    assert!(rows(&index, "\"at cafe\"").is_empty());
    assert!(rows(&index, "near words").is_empty());
    assert_eq!(rows(&index, "Ⓐ OR boat"), [0]);
}

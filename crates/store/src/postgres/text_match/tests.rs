//! Compares the matches with those of the full-text index of `SQLite`.

use proptest::prelude::*;

use super::{TextQuery, TextStatistics, occurrences};
use tessera_search::text::{
    bm25::CaptionTotals,
    full_text_query::{FullTextQuery, parse},
    language::Language,
    words::{indexed_words, stemmed_text},
};
use tessera_testing::full_text::{
    captions, full_text_matches as indexed, is_nested_exclusion, queries,
};

type ScoredTexts = Vec<(usize, f64)>;

fn parsed(text: &str) -> FullTextQuery {
    parse(text, Language::English).unwrap()
}

/// Returns the matches that this implementation finds.
fn matched(captions: &[Vec<&str>], query: &FullTextQuery) -> ScoredTexts {
    let query = TextQuery::new(query, indexed_words);
    let texts: Vec<Vec<String>> = captions
        .iter()
        .map(|caption| indexed_words(&stemmed_text(&caption.join(" "), Language::English)))
        .collect();
    let texts: Vec<Vec<&str>> =
        texts.iter().map(|words| words.iter().map(String::as_str).collect()).collect();
    let containing = |phrase: &Vec<String>| {
        texts.iter().filter(|words| occurrences(phrase, words) > 0).count() as u64
    };
    let containing: Vec<u64> = query.phrases.iter().map(containing).collect();
    let words = texts.iter().map(Vec::len).sum::<usize>() as u64;
    let totals = CaptionTotals { captions: texts.len() as u64, words };
    let statistics = TextStatistics::new(totals, &containing);
    let score = |(number, words): (usize, &Vec<&str>)| {
        let counts = query.matches(words)?;
        let length = u32::try_from(words.len()).unwrap();
        Some((number, statistics.score(&counts, length)))
    };
    texts.iter().enumerate().filter_map(score).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn random_queries_match_as_in_sqlite(captions in captions(), text in queries()) {
        let query = parsed(&text);
        let (found, expected) = (matched(&captions, &query), indexed(&captions, &query));
        prop_assert_eq!(found.len(), expected.len(), "{}", text);
        for ((row, score), (expected_row, expected)) in found.into_iter().zip(expected) {
            prop_assert_eq!(row, expected_row, "{}", text);
            let is_close = (score - expected).abs() < 1e-12;
            prop_assert!(is_close || is_nested_exclusion(&text), "{text}: {score}, {expected}");
        }
    }
}

#[test]
fn a_condition_excludes_no_match() {
    let condition = |text: &str| TextQuery::new(&parsed(text), indexed_words).condition();
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(condition(r#""red walls""#), some("('red' & 'wall')"));
    assert_eq!(condition(r#"red -"sea boat""#), some("('red')"));
    assert_eq!(condition("red OR (sea AND Ⓐ)"), some("(('red'))"));
    assert_eq!(condition("red AND Ⓐ"), None);
}

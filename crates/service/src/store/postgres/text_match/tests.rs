//! Compared with the full-text index of `SQLite`.

use proptest::{collection::vec, prelude::*, sample::select};
use rusqlite::{Connection, params};

use super::{TextQuery, TextStatistics, occurrences};
use crate::store::{rules::caption_tokenizer, sqlite::split_words};

const WORDS: [&str; 6] = ["boats", "sea", "red", "Café", "walls", "walled"];

type ScoredTexts = Vec<(usize, f64)>;

/// The matches in `SQLite`'s full-text index.
fn indexed(captions: &[Vec<&str>], expression: &str) -> ScoredTexts {
    let index = Connection::open_in_memory().unwrap();
    let tokenizer = caption_tokenizer!();
    let sql = format!("CREATE VIRTUAL TABLE words USING fts5(caption, tokenize = '{tokenizer}')");
    index.execute_batch(&sql).unwrap();
    for (number, caption) in captions.iter().enumerate() {
        let sql = "INSERT INTO words (rowid, caption) VALUES (?1, ?2)";
        index.execute(sql, params![number, caption.join(" ")]).unwrap();
    }
    let sql = "SELECT rowid, bm25(words) FROM words WHERE words MATCH ?1 ORDER BY rowid";
    let mut query = index.prepare(sql).unwrap();
    let rows = query.query_map([expression], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

/// The matches found here.
fn matched(captions: &[Vec<&str>], expression: &str) -> ScoredTexts {
    let split = |text: &str| Ok(split_words(text)?);
    let query = TextQuery::parse(expression, split).unwrap();
    let texts: Vec<Vec<String>> =
        captions.iter().map(|caption| split(&caption.join(" ")).unwrap()).collect();
    let texts: Vec<Vec<&str>> =
        texts.iter().map(|words| words.iter().map(String::as_str).collect()).collect();
    let containing = |phrase: &Vec<String>| {
        texts.iter().filter(|words| occurrences(phrase, words) > 0).count() as u64
    };
    let containing: Vec<u64> = query.phrases.iter().map(containing).collect();
    let words = texts.iter().map(Vec::len).sum::<usize>() as u64;
    let statistics = TextStatistics::new(texts.len() as u64, words, &containing);
    let score = |(number, words): (usize, &Vec<&str>)| {
        let counts = query.matches(words)?;
        let length = u32::try_from(words.len()).unwrap();
        Some((number, statistics.score(&counts, length)))
    };
    texts.iter().enumerate().filter_map(score).collect()
}

fn expressions() -> impl Strategy<Value = String> {
    let phrase = vec(select(&WORDS[..]), 1..3).prop_map(|words| format!("\"{}\"", words.join(" ")));
    phrase.prop_recursive(3, 12, 3, |inner| {
        (vec(inner, 2..4), select(&[" AND ", " OR ", " NOT "][..])).prop_map(|(parts, operator)| {
            let parts = if operator == " NOT " { &parts[..2] } else { &parts[..] };
            format!("({})", parts.join(operator))
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn random_expressions_match_as_in_sqlite(
        captions in vec(vec(select(&WORDS[..]), 1..6), 1..20), expression in expressions(),
    ) {
        let rows = |scores: ScoredTexts| scores.into_iter().map(|(row, _)| row).collect::<Vec<_>>();
        let found = rows(matched(&captions, &expression));
        prop_assert_eq!(found, rows(indexed(&captions, &expression)), "{}", expression);
    }

    #[test]
    fn scores_are_those_of_sqlite(
        captions in vec(vec(select(&WORDS[..]), 1..6), 1..20),
        phrases in vec(vec(select(&WORDS[..]), 1..3), 2..4),
        operator in select(&[" AND ", " OR "][..]),
    ) {
        let phrases: Vec<String> =
            phrases.iter().map(|words| format!("\"{}\"", words.join(" "))).collect();
        let expression = format!("({})", phrases.join(operator));
        let (found, expected) = (matched(&captions, &expression), indexed(&captions, &expression));
        prop_assert_eq!(found.len(), expected.len());
        for ((_, found), (_, expected)) in found.into_iter().zip(expected) {
            prop_assert!((found - expected).abs() < 1e-12, "{expression}: {found}, {expected}");
        }
    }
}

#[test]
fn a_condition_excludes_no_match() {
    let split = |text: &str| Ok(split_words(text)?);
    let condition = |expression: &str| TextQuery::parse(expression, split).unwrap().condition();
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(condition(r#""red walls""#), some("('red' & 'walls')"));
    assert_eq!(condition(r#"("red" NOT "sea boat")"#), some("('red')"));
    assert_eq!(condition(r#"("red" OR ("sea" AND "€"))"#), some("(('red'))"));
    assert_eq!(condition(r#"("red" AND "€")"#), None);
    assert!(TextQuery::parse("red", split).is_err());
    assert!(TextQuery::parse(r#""red" "sea""#, split).is_err());
}

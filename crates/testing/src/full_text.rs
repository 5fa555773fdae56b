//! Generates random captions and queries over a few words, and searches with the full-text index of `SQLite`, for tests
//! that compare it with our own index.

use std::collections::{BTreeMap, BTreeSet};

use proptest::{collection::vec, prelude::*, sample::select};
use rusqlite::{Connection, params};

use tessera_search::text::{
    full_text_query::{self, FullTextQuery, TextExpression},
    language::Language,
    words::stemmed_text,
};

const WORDS: [&str; 8] = ["boats", "sea", "red", "Café", "walls", "walled", "the", "लड़की"];

pub fn captions() -> impl Strategy<Value = Vec<Vec<&'static str>>> {
    vec(vec(select(&WORDS[..]), 0..7), 1..20)
}

/// Generates texts of queries that are not negated.
pub fn queries() -> impl Strategy<Value = String> {
    let phrase = vec(select(&WORDS[..]), 1..3).prop_map(|words| format!("\"{}\"", words.join(" ")));
    let part = phrase.prop_recursive(3, 16, 4, |inner| {
        (vec((inner, any::<bool>()), 1..4), select(&[" ", " AND ", " OR "][..])).prop_map(
            |(parts, operator)| {
                let signed = |(part, is_negated): (String, bool)| {
                    if is_negated { format!("-{part}") } else { part }
                };
                let parts: Vec<String> = parts.into_iter().map(signed).collect();
                format!("({})", parts.join(operator))
            },
        )
    });
    part.prop_map(|text| {
        let query = full_text_query::parse(&text, Language::English);
        if query.is_ok_and(|query| query.is_negated) { format!("-{text}") } else { text }
    })
}

/// Returns the positions of the captions with words that some part of a query excludes. Such a caption can still match
/// by another part, such as `walls` in `walls OR (boats -walls)`. The words of the part that excludes it then do not
/// count, so that its score is not the one of [`full_text_matches`].
pub fn captions_with_excluded_words(
    captions: &[Vec<&str>],
    query: &FullTextQuery,
) -> BTreeSet<usize> {
    let mut excluded = BTreeSet::new();
    collect_excluded(&query.expression, false, &mut excluded);
    let containing = |phrase| {
        let expression = TextExpression::Phrase(phrase);
        full_text_matches(captions, &FullTextQuery { expression, ..query.clone() })
    };
    excluded.into_iter().flat_map(containing).map(|(number, _)| number).collect()
}

/// Collects the phrases of an expression that are inside an exclusion.
fn collect_excluded(expression: &TextExpression, is_inside: bool, found: &mut BTreeSet<usize>) {
    match expression {
        TextExpression::Phrase(number) => found.extend(is_inside.then_some(*number)),
        TextExpression::And(parts) | TextExpression::Or(parts) => {
            for part in parts {
                collect_excluded(part, is_inside, found);
            }
        }
        TextExpression::Without(first, second) => {
            collect_excluded(first, is_inside, found);
            collect_excluded(second, true, found);
        }
    }
}

/// The tokenizer that splits stemmed captions into words without diacritics. It keeps the combining marks of scripts
/// such as Devanagari, at which `SQLite` would otherwise split words.
const TOKENIZER: &str = "unicode61 remove_diacritics 2 categories ''L* N* Co M*''";

/// Returns the words of a text in an index, in order. Text that consists only of diacritics is not a word.
pub fn tokenized(text: &str) -> Vec<String> {
    let index = Connection::open_in_memory().unwrap();
    let sql = format!(
        "CREATE VIRTUAL TABLE caption USING fts5(words, content = '', tokenize = '{TOKENIZER}');
         CREATE VIRTUAL TABLE word USING fts5vocab(caption, instance);"
    );
    index.execute_batch(&sql).unwrap();
    index.execute("INSERT INTO caption (rowid, words) VALUES (1, ?1)", params![text]).unwrap();
    let mut words = index.prepare("SELECT term FROM word ORDER BY offset").unwrap();
    let words = words.query_map([], |row| row.get::<_, Option<String>>(0)).unwrap();
    words.filter_map(Result::unwrap).filter(|word| !word.is_empty()).collect()
}

/// Returns the positions of the captions that match the expression of a query, with their scores. The scores are those
/// of the expression without its exclusions, because `SQLite` counts some words of a caption not at all, and others
/// twice, if the expression excludes any word.
pub fn full_text_matches(captions: &[Vec<&str>], query: &FullTextQuery) -> Vec<(usize, f64)> {
    let index = Connection::open_in_memory().unwrap();
    let sql = format!("CREATE VIRTUAL TABLE words USING fts5(caption, tokenize = '{TOKENIZER}')");
    index.execute_batch(&sql).unwrap();
    for (number, caption) in captions.iter().enumerate() {
        let sql = "INSERT INTO words (rowid, caption) VALUES (?1, ?2)";
        let stems = stemmed_text(&caption.join(" "), Language::English);
        index.execute(sql, params![number, stems]).unwrap();
    }
    let sql = "SELECT rowid, bm25(words) FROM words WHERE words MATCH ?1 ORDER BY rowid";
    let mut statement = index.prepare(sql).unwrap();
    let mut search = |expression: &TextExpression| -> BTreeMap<usize, f64> {
        let expression = fts5_expression(query, expression);
        let rows = statement.query_map([expression], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.map(Result::unwrap).collect()
    };
    let scores = search(&without_exclusions(&query.expression));
    search(&query.expression).into_keys().map(|number| (number, scores[&number])).collect()
}

fn without_exclusions(expression: &TextExpression) -> TextExpression {
    let all = |parts: &[TextExpression]| parts.iter().map(without_exclusions).collect();
    match expression {
        TextExpression::Phrase(number) => TextExpression::Phrase(*number),
        TextExpression::And(parts) => TextExpression::And(all(parts)),
        TextExpression::Or(parts) => TextExpression::Or(all(parts)),
        TextExpression::Without(first, _) => without_exclusions(first),
    }
}

fn fts5_expression(query: &FullTextQuery, expression: &TextExpression) -> String {
    let joined = |parts: &[TextExpression], operator: &str| {
        let parts: Vec<_> = parts.iter().map(|part| fts5_expression(query, part)).collect();
        format!("({})", parts.join(operator))
    };
    match expression {
        TextExpression::Phrase(number) => format!("\"{}\"", query.phrases[*number]),
        TextExpression::And(parts) => joined(parts, " AND "),
        TextExpression::Or(parts) => joined(parts, " OR "),
        TextExpression::Without(first, second) => {
            let [first, second] = [first, second].map(|part| fts5_expression(query, part));
            format!("({first} NOT {second})")
        }
    }
}

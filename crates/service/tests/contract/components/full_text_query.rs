//! The full-text query language, run against FTS5.

use std::collections::BTreeSet;

use proptest::{
    collection::vec,
    prelude::*,
    sample::{Index, select},
};
use rusqlite::Connection;
use tessera_service::text::{
    full_text_query::{self, FtsExpression, SyntaxError},
    language::Language,
    words::stemmed_text,
};

const WORDS: [&str; 6] = ["boat", "red", "sea", "house", "near", "sun"];

fn parse(text: &str) -> Result<FtsExpression, SyntaxError> {
    full_text_query::parse(text, Language::English)
}

fn captions(captions: &[Vec<&str>]) -> Connection {
    let table = Connection::open_in_memory().unwrap();
    table
        .execute_batch(
            "CREATE VIRTUAL TABLE caption USING fts5
             (words, tokenize = 'unicode61 remove_diacritics 2 categories ''L* N* Co M*''')",
        )
        .unwrap();
    for (row, caption) in captions.iter().enumerate() {
        let add = "INSERT INTO caption (rowid, words) VALUES (?1, ?2)";
        table
            .execute(
                add,
                (i64::try_from(row).unwrap(), stemmed_text(&caption.join(" "), Language::English)),
            )
            .unwrap();
    }
    table
}

fn rows(table: &Connection, expression: &str) -> BTreeSet<usize> {
    let mut read = table.prepare("SELECT rowid FROM caption WHERE caption MATCH ?1").unwrap();
    let rows = read.query_map([expression], |row| row.get(0)).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

fn found(table: &Connection, count: usize, text: &str) -> BTreeSet<usize> {
    match parse(text).unwrap() {
        FtsExpression::Matching(expression) => rows(table, &expression),
        FtsExpression::NotMatching(expression) => {
            let matching = rows(table, &expression);
            (0..count).filter(|row| !matching.contains(row)).collect()
        }
    }
}

/// A query with its meaning, independent of its syntax.
#[derive(Clone, Debug)]
enum ExpectedQuery {
    Phrase(Vec<&'static str>),
    Not(Box<ExpectedQuery>),
    And(Vec<(ExpectedQuery, bool)>),
    Or(Vec<ExpectedQuery>),
}

impl ExpectedQuery {
    fn matches(&self, caption: &[&str]) -> bool {
        match self {
            Self::Phrase(words) => caption.windows(words.len()).any(|part| part == words),
            Self::Not(inner) => !inner.matches(caption),
            Self::And(parts) => parts.iter().all(|(part, _)| part.matches(caption)),
            Self::Or(parts) => parts.iter().any(|part| part.matches(caption)),
        }
    }

    fn to_text(&self) -> String {
        match self {
            Self::Phrase(words) if words.len() == 1 => words[0].to_owned(),
            Self::Phrase(words) => format!("\"{}\"", words.join(" ")),
            Self::Not(inner) => format!("-{}", inner.to_text()),
            Self::And(parts) => {
                let parts: Vec<String> = parts
                    .iter()
                    .enumerate()
                    .map(|(index, (part, spoken))| {
                        let and = if *spoken && index > 0 { "AND " } else { "" };
                        format!("{and}{}", part.to_text())
                    })
                    .collect();
                format!("({})", parts.join(" "))
            }
            Self::Or(parts) => {
                let parts: Vec<String> = parts.iter().map(Self::to_text).collect();
                format!("( {} )", parts.join(" OR "))
            }
        }
    }
}

fn queries() -> impl Strategy<Value = ExpectedQuery> {
    let phrase = vec(select(&WORDS[..]), 1..3).prop_map(ExpectedQuery::Phrase);
    phrase.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|wish| ExpectedQuery::Not(Box::new(wish))),
            vec((inner.clone(), any::<bool>()), 1..4).prop_map(ExpectedQuery::And),
            vec(inner, 1..4).prop_map(ExpectedQuery::Or),
        ]
    })
}

fn random_captions() -> impl Strategy<Value = Vec<Vec<&'static str>>> {
    vec(vec(any::<Index>().prop_map(|word| *word.get(&WORDS)), 0..7), 1..24)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn random_queries_match_the_expected_captions(
        wish in queries(), captions_of in random_captions(),
    ) {
        let table = captions(&captions_of);
        let expected: BTreeSet<usize> = (0..captions_of.len())
            .filter(|&row| wish.matches(&captions_of[row]))
            .collect();
        let text = wish.to_text();
        prop_assert_eq!(found(&table, captions_of.len(), &text), expected, "{}", text);
    }
}

proptest! {
    #[test]
    fn user_input_never_reaches_fts5_as_syntax(
        text in prop_oneof![
            "\\PC{0,60}",
            r#"[-+*^:{}()" \u{0}\u{1}a-c'.,“]{0,40}"#,
            r#"((AND|OR|NOT|NEAR|words|a|-|"|\(|\)|\*|\^|:|,|[0-9]) ?){0,12}"#,
        ],
    ) {
        thread_local! {
            static TABLE: Connection = captions(&[vec!["a", "near", "words"]]);
        }
        if parse(&text).is_ok() {
            TABLE.with(|table| found(table, 1, &text));
        }
    }
}

#[test]
fn words_are_stemmed_and_folded() {
    let table = captions(&[vec!["Sailing", "boats"], vec!["Cafés", "at", "night"]]);
    for (text, row) in [
        ("boat sail", 0),
        ("SAILED", 0),
        ("cafe", 1),
        ("\"cafe at\"", 1),
        ("“at night”", 1),
        ("café-at", 1),
    ] {
        assert_eq!(found(&table, 2, text), BTreeSet::from([row]), "{text}");
    }
    assert_eq!(found(&table, 2, "\"at cafe\""), BTreeSet::new());
    assert_eq!(found(&table, 2, "near words"), BTreeSet::new());
}

#[test]
fn negations_move_to_the_top() {
    let plan = |text: &str| parse(text).unwrap();
    let some = |text: &str| FtsExpression::Matching(text.to_owned());
    let all_but = |text: &str| FtsExpression::NotMatching(text.to_owned());
    assert_eq!(plan("a b OR c"), some(r#"(("a" AND "b") OR "c")"#));
    assert_eq!(plan("a -b -c"), some(r#"("a" NOT ("b" OR "c"))"#));
    assert_eq!(plan("-a -b"), all_but(r#"("a" OR "b")"#));
    assert_eq!(plan("a OR -b"), all_but(r#"("b" NOT "a")"#));
    assert_eq!(plan("-a OR -b"), all_but(r#"("a" AND "b")"#));
    assert_eq!(plan("-(a -b)"), all_but(r#"("a" NOT "b")"#));
    assert_eq!(plan("x* NEAR:y 5'"), some(r#"("x" AND "near y" AND "5")"#));
}

#[test]
fn syntax_errors_have_a_position_and_a_reason() {
    for (text, at, reason) in [
        ("", 1, "a word is missing here"),
        ("a AND", 6, "a word is missing here"),
        ("OR a", 1, "a word is missing before this"),
        ("a AND OR b", 7, "a word is missing before this"),
        ("a (b", 3, "this parenthesis is never closed"),
        ("ä b)", 4, "this parenthesis was never opened"),
        ("()", 2, "a word is missing before this"),
        ("a \"b c", 3, "this quote is never closed"),
        ("a \"\" b", 3, "no letter or digit to search for"),
        ("rain & snow", 6, "no letter or digit to search for"),
        ("beach - sun", 7, "a minus belongs directly before a word"),
        ("a -", 3, "a minus belongs directly before a word"),
        ("a NOT b", 3, "NOT is written as a minus: -word"),
    ] {
        assert_eq!(parse(text), Err(SyntaxError { at, reason }), "{text}");
    }
    let deep = format!("{}a{}", "(".repeat(17), ")".repeat(17));
    assert_eq!(parse(&deep).unwrap_err().to_string(), "at character 17: more than 16 levels deep");
    assert!(parse(&deep[1..34]).is_ok());
    assert_eq!(parse(&"-".repeat(900)).unwrap_err().at, 900);
    assert_eq!(parse(&"ab ".repeat(65)).unwrap_err().reason, "more than 64 words");
}

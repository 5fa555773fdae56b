//! The full-text query language, evaluated on lists of words.

use proptest::{
    collection::vec,
    prelude::*,
    sample::{Index, select},
};
use tessera_search::text::{
    full_text_query::{self, FullTextQuery, SyntaxError, TextExpression},
    language::Language,
    words::stemmed_text,
};

const WORDS: [&str; 6] = ["boat", "red", "sea", "house", "near", "sun"];

fn parse(text: &str) -> Result<FullTextQuery, SyntaxError> {
    full_text_query::parse(text, Language::English)
}

fn matches(query: &FullTextQuery, caption: &[&str]) -> bool {
    let stems = stemmed_text(&caption.join(" "), Language::English);
    let stems: Vec<&str> = stems.split(' ').collect();
    expression_matches(query, &query.expression, &stems) != query.is_negated
}

fn expression_matches(query: &FullTextQuery, expression: &TextExpression, stems: &[&str]) -> bool {
    let part_matches = |part: &TextExpression| expression_matches(query, part, stems);
    match expression {
        TextExpression::Phrase(number) => {
            let phrase: Vec<&str> = query.phrases[*number].split(' ').collect();
            stems.windows(phrase.len()).any(|part| part == phrase)
        }
        TextExpression::And(parts) => parts.iter().all(part_matches),
        TextExpression::Or(parts) => parts.iter().any(part_matches),
        TextExpression::Without(first, second) => part_matches(first) && !part_matches(second),
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
        wish in queries(), captions in random_captions(),
    ) {
        let text = wish.to_text();
        let query = parse(&text).unwrap();
        for caption in captions {
            prop_assert_eq!(matches(&query, &caption), wish.matches(&caption), "{}", text);
        }
    }
}

/// A query as text, with the operators of full-text indexes.
fn plan(text: &str) -> String {
    let query = parse(text).unwrap();
    let sign = if query.is_negated { "not " } else { "" };
    format!("{sign}{}", expression_text(&query, &query.expression))
}

fn expression_text(query: &FullTextQuery, expression: &TextExpression) -> String {
    let joined = |parts: &[TextExpression], operator: &str| {
        let parts: Vec<_> = parts.iter().map(|part| expression_text(query, part)).collect();
        format!("({})", parts.join(operator))
    };
    match expression {
        TextExpression::Phrase(number) => query.phrases[*number].clone(),
        TextExpression::And(parts) => joined(parts, " AND "),
        TextExpression::Or(parts) => joined(parts, " OR "),
        TextExpression::Without(first, second) => {
            let [first, second] = [first, second].map(|part| expression_text(query, part));
            format!("({first} NOT {second})")
        }
    }
}

#[test]
fn negations_move_to_the_top() {
    assert_eq!(plan("a b OR c"), "((a AND b) OR c)");
    assert_eq!(plan("a -b -c"), "(a NOT (b OR c))");
    assert_eq!(plan("-a -b"), "not (a OR b)");
    assert_eq!(plan("a OR -b"), "not (b NOT a)");
    assert_eq!(plan("-a OR -b"), "not (a AND b)");
    assert_eq!(plan("-(a -b)"), "not (a NOT b)");
    assert_eq!(plan("x* NEAR:y 5'"), "(x AND near y AND 5)");
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

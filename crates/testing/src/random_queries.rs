//! Generates random captions and queries over a few words.

use proptest::{collection::vec, prelude::*, sample::select};
use tessera_search::text::{full_text_query, language::Language};

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

/// Whether a query may have an exclusion inside another one. For such queries, `SQLite` adds the scores of doubly
/// excluded words if they happen to have been read already.
pub fn is_nested_exclusion(text: &str) -> bool {
    text.matches('-').count() > 1
}

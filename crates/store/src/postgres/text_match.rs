//! Decides whether a text matches a full-text expression, and how well.

use tessera_search::text::{
    bm25::{CaptionTotals, PhraseScore},
    full_text_query::{FullTextQuery, TextExpression},
};

/// A query whose phrases are split into words.
pub(crate) struct TextQuery<'a> {
    pub phrases: Vec<Vec<String>>,
    expression: &'a TextExpression,
}

/// The number of occurrences of each phrase in one text, or 0 if the phrase does not contribute to the match.
type PhraseCounts = Vec<u32>;

impl<'a> TextQuery<'a> {
    /// Creates a query. `split` returns the words of a phrase.
    pub fn new(query: &'a FullTextQuery, split: impl Fn(&str) -> Vec<String>) -> Self {
        let phrases = query.phrases.iter().map(|phrase| split(phrase)).collect();
        Self { phrases, expression: &query.expression }
    }

    /// Returns a condition in the syntax of `tsquery` that all matching texts satisfy, or `None` if no text can match.
    pub fn condition(&self) -> Option<String> {
        self.condition_of(self.expression)
    }

    fn condition_of(&self, expression: &TextExpression) -> Option<String> {
        match expression {
            TextExpression::Phrase(number) => all_of(&self.phrases[*number]),
            TextExpression::And(parts) => {
                let parts: Option<Vec<_>> =
                    parts.iter().map(|part| self.condition_of(part)).collect();
                Some(format!("({})", parts?.join(" & ")))
            }
            TextExpression::Or(parts) => {
                let parts: Vec<_> =
                    parts.iter().filter_map(|part| self.condition_of(part)).collect();
                (!parts.is_empty()).then(|| format!("({})", parts.join(" | ")))
            }
            // The second expression cannot be excluded here, because a text may contain the words of a phrase without
            // containing the phrase.
            TextExpression::Without(first, _) => self.condition_of(first),
        }
    }

    /// Matches the words of a text. Returns `None` if the text does not match.
    pub fn matches(&self, words: &[&str]) -> Option<PhraseCounts> {
        let found: PhraseCounts =
            self.phrases.iter().map(|phrase| occurrences(phrase, words)).collect();
        let mut counts = vec![0; found.len()];
        contribute(self.expression, &found, &mut counts).then_some(counts)
    }
}

/// Returns the condition that a text contains all words of a phrase.
pub(crate) fn all_of(words: &[String]) -> Option<String> {
    let quoted = |word: &String| format!("'{}'", word.replace('\\', "\\\\").replace('\'', "''"));
    let quoted: Vec<String> = words.iter().map(quoted).collect();
    (!quoted.is_empty()).then(|| format!("({})", quoted.join(" & ")))
}

/// Returns how often a phrase occurs in a text.
pub fn occurrences(phrase: &[String], words: &[&str]) -> u32 {
    if phrase.is_empty() {
        return 0;
    }
    let found = words.windows(phrase.len()).filter(|part| *part == phrase).count();
    u32::try_from(found).unwrap_or(u32::MAX)
}

/// Returns whether an expression matches. If so, the counts of the phrases that make it match are added to `counts`.
fn contribute(
    expression: &TextExpression,
    found: &PhraseCounts,
    counts: &mut PhraseCounts,
) -> bool {
    let before = counts.clone();
    let matched = match expression {
        TextExpression::Phrase(number) => {
            counts[*number] = found[*number];
            found[*number] > 0
        }
        TextExpression::And(parts) => parts.iter().all(|part| contribute(part, found, counts)),
        // All parts are evaluated, because every matching part counts.
        TextExpression::Or(parts) => {
            let matching = parts.iter().filter(|part| contribute(part, found, counts));
            matching.count() > 0
        }
        TextExpression::Without(first, second) => {
            let mut ignored = before.clone();
            contribute(first, found, counts) && !contribute(second, found, &mut ignored)
        }
    };
    if !matched {
        *counts = before;
    }
    matched
}

/// The statistics of all texts, on which the score of a text depends.
pub(crate) struct TextStatistics(Vec<PhraseScore>);

impl TextStatistics {
    /// Creates the statistics. `containing` says how many texts contain each phrase.
    pub fn new(totals: CaptionTotals, containing: &[u64]) -> Self {
        Self(containing.iter().map(|&containing| PhraseScore::new(totals, containing)).collect())
    }

    /// Returns the BM25 score of a text of this length. Lower is better.
    pub fn score(&self, counts: &PhraseCounts, length: u32) -> f64 {
        let parts = self.0.iter().zip(counts);
        -parts.map(|(phrase, &count)| phrase.of(count, length)).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{TextQuery, TextStatistics, occurrences};
    use tessera_search::text::{
        bm25::CaptionTotals,
        full_text_query::{FullTextQuery, parse},
        language::Language,
        words::{indexed_words, stemmed_text},
    };
    use tessera_testing::full_text::{
        captions, captions_with_excluded_words, full_text_matches as indexed, queries,
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
            let incomparable = captions_with_excluded_words(&captions, &query);
            prop_assert_eq!(found.len(), expected.len(), "{}", text);
            for ((row, score), (expected_row, expected)) in found.into_iter().zip(expected) {
                prop_assert_eq!(row, expected_row, "{}", text);
                let is_close = (score - expected).abs() < 1e-12;
                prop_assert!(is_close || incomparable.contains(&row), "{text}: {score}, {expected}");
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
}

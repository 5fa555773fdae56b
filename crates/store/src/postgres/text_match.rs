//! Which words match a full-text expression, and how well.

use tessera_search::text::{
    bm25::{CaptionTotals, PhraseScore},
    full_text_query::{FullTextQuery, TextExpression},
};

/// A query with the words of its phrases.
pub struct TextQuery<'a> {
    pub phrases: Vec<Vec<String>>,
    expression: &'a TextExpression,
}

/// The number of occurrences of each phrase in one text; 0 where it does not contribute to the match.
type PhraseCounts = Vec<u32>;

impl<'a> TextQuery<'a> {
    /// `split` returns the words of a phrase.
    pub fn new(query: &'a FullTextQuery, split: impl Fn(&str) -> Vec<String>) -> Self {
        let phrases = query.phrases.iter().map(|phrase| split(phrase)).collect();
        Self { phrases, expression: &query.expression }
    }

    /// A condition in the syntax of `tsquery` that all matching texts satisfy; `None` if none can match.
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
            // A phrase is more than its words, so the second cannot be excluded here.
            TextExpression::Without(first, _) => self.condition_of(first),
        }
    }

    /// Matches the words of a text.
    pub fn matches(&self, words: &[&str]) -> Option<PhraseCounts> {
        let found: PhraseCounts =
            self.phrases.iter().map(|phrase| occurrences(phrase, words)).collect();
        let mut counts = vec![0; found.len()];
        contribute(self.expression, &found, &mut counts).then_some(counts)
    }
}

/// The condition that a text contains all words of a phrase.
pub fn all_of(words: &[String]) -> Option<String> {
    let quoted = |word: &String| format!("'{}'", word.replace('\\', "\\\\").replace('\'', "''"));
    let quoted: Vec<String> = words.iter().map(quoted).collect();
    (!quoted.is_empty()).then(|| format!("({})", quoted.join(" & ")))
}

/// How often a phrase is in a text.
pub fn occurrences(phrase: &[String], words: &[&str]) -> u32 {
    if phrase.is_empty() {
        return 0;
    }
    let found = words.windows(phrase.len()).filter(|part| *part == phrase).count();
    u32::try_from(found).unwrap_or(u32::MAX)
}

/// Whether an expression matches. If so, adds the counts of the phrases that make it match.
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
        // Each of them counts.
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

/// What the score of a text depends on besides the text.
pub struct TextStatistics(Vec<PhraseScore>);

impl TextStatistics {
    /// From how many texts contain each phrase.
    pub fn new(totals: CaptionTotals, containing: &[u64]) -> Self {
        Self(containing.iter().map(|&containing| PhraseScore::new(totals, containing)).collect())
    }

    /// The bm25 score of a text of this length; lower is better.
    pub fn score(&self, counts: &PhraseCounts, length: u32) -> f64 {
        let parts = self.0.iter().zip(counts);
        -parts.map(|(phrase, &count)| phrase.of(count, length)).sum::<f64>()
    }
}

#[cfg(test)]
mod tests;

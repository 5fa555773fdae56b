//! Which words match a full-text expression, and how well.

use crate::store::engine::{QueryError, Result};

/// The parameters of bm25 in `SQLite`.
const TERM_SATURATION: f64 = 1.2;
const LENGTH_WEIGHT: f64 = 0.75;
/// What a phrase counts that is in more than half of all captions.
const MIN_PHRASE_WEIGHT: f64 = 1e-6;

/// An expression over phrases, by their number.
enum TextExpression {
    Phrase(usize),
    And(Vec<Self>),
    Or(Vec<Self>),
    /// The first, without any of the others.
    Not(Vec<Self>),
}

/// A parsed expression.
pub(super) struct TextQuery {
    /// The words of each phrase.
    pub phrases: Vec<Vec<String>>,
    expression: TextExpression,
}

/// The number of occurrences of each phrase in one text; 0 where it does not contribute to the match.
type PhraseCounts = Vec<u32>;

impl TextQuery {
    /// Parses an expression of `SQLite`'s full-text index, of quoted phrases, `AND`, `OR`, `NOT` and
    /// parentheses; `split` returns the words of a phrase.
    pub fn parse(raw: &str, split: impl Fn(&str) -> Result<Vec<String>>) -> Result<Self> {
        let mut parser = ExpressionParser { rest: raw, phrases: Vec::new() };
        let expression = parser.operand().filter(|_| parser.rest.is_empty());
        let expression = expression.ok_or_else(|| QueryError::value("not a full-text query"))?;
        let phrases = parser.phrases.iter().map(|phrase| split(phrase)).collect::<Result<_>>()?;
        Ok(Self { phrases, expression })
    }

    /// A condition in the syntax of `tsquery` that all matching texts satisfy; `None` if none can match.
    pub fn condition(&self) -> Option<String> {
        self.condition_of(&self.expression)
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
            // A phrase is more than its words, so the others cannot be excluded here.
            TextExpression::Not(parts) => self.condition_of(parts.first()?),
        }
    }

    /// Matches the words of a text.
    pub fn matches(&self, words: &[&str]) -> Option<PhraseCounts> {
        let found: PhraseCounts =
            self.phrases.iter().map(|phrase| occurrences(phrase, words)).collect();
        let mut counts = vec![0; found.len()];
        contribute(&self.expression, &found, &mut counts).then_some(counts)
    }
}

/// The condition that a text contains all words of a phrase.
pub(super) fn all_of(words: &[String]) -> Option<String> {
    let quoted = |word: &String| format!("'{}'", word.replace('\\', "\\\\").replace('\'', "''"));
    let quoted: Vec<String> = words.iter().map(quoted).collect();
    (!quoted.is_empty()).then(|| format!("({})", quoted.join(" & ")))
}

/// How often a phrase is in a text.
pub(super) fn occurrences(phrase: &[String], words: &[&str]) -> u32 {
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
        TextExpression::Not(parts) => {
            let (first, others) = (&parts[..1], &parts[1..]);
            let mut ignored = before.clone();
            first.iter().all(|part| contribute(part, found, counts))
                && !others.iter().any(|part| contribute(part, found, &mut ignored))
        }
    };
    if !matched {
        *counts = before;
    }
    matched
}

/// What the score of a text depends on besides the text.
pub(super) struct TextStatistics {
    /// Inverse document frequency of each phrase.
    weights: Vec<f64>,
    mean_length: f64,
}

impl TextStatistics {
    /// From the number of texts and of their words, and how many texts contain each phrase.
    #[expect(clippy::cast_precision_loss, reason = "as SQLite computes it")]
    pub fn new(texts: u64, words: u64, containing: &[u64]) -> Self {
        let weight = |&containing: &u64| {
            let (texts, containing) = (texts as f64, containing as f64);
            let weight = ((texts - containing + 0.5) / (containing + 0.5)).ln();
            if weight <= 0.0 { MIN_PHRASE_WEIGHT } else { weight }
        };
        let weights = containing.iter().map(weight).collect();
        Self { weights, mean_length: words as f64 / texts.max(1) as f64 }
    }

    /// The bm25 score of a text of this length; lower is better.
    pub fn score(&self, counts: &PhraseCounts, length: u32) -> f64 {
        let share = f64::from(length) / self.mean_length;
        let norm = TERM_SATURATION * (1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * share);
        let part = |(weight, &count): (&f64, &u32)| {
            let count = f64::from(count);
            weight * (count * (TERM_SATURATION + 1.0) / (count + norm))
        };
        -self.weights.iter().zip(counts).map(part).sum::<f64>()
    }
}

struct ExpressionParser<'a> {
    rest: &'a str,
    phrases: Vec<String>,
}

impl ExpressionParser<'_> {
    fn operand(&mut self) -> Option<TextExpression> {
        if !self.consume("(") {
            return self.phrase();
        }
        let mut parts = vec![self.operand()?];
        let operator =
            [" AND ", " OR ", " NOT "].into_iter().find(|name| self.rest.starts_with(name));
        while operator.is_some_and(|name| self.consume(name)) {
            parts.push(self.operand()?);
        }
        self.consume(")").then_some(match operator {
            Some(" OR ") => TextExpression::Or(parts),
            Some(" NOT ") => TextExpression::Not(parts),
            _ => TextExpression::And(parts),
        })
    }

    /// Phrases contain no quotes: in a query, they end it.
    fn phrase(&mut self) -> Option<TextExpression> {
        let (text, rest) = self.rest.strip_prefix('"')?.split_once('"')?;
        self.phrases.push(text.to_owned());
        self.rest = rest;
        Some(TextExpression::Phrase(self.phrases.len() - 1))
    }

    fn consume(&mut self, expected: &str) -> bool {
        let rest = self.rest.strip_prefix(expected);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
}

#[cfg(test)]
mod tests;

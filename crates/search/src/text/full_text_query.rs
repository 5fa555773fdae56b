//! Parses the boolean full-text query language: words (all required), `AND`, `OR`, `-without`, `"exact phrase"` and
//! parentheses. The result is an expression over the stems of the words, which does not depend on the search engine.
//!
//! Captions that contain the words of a text come before captions that are only similar. A long caption, such as one in
//! dozens of languages, has a vector of all its words, so its distance from a few of them is large.
//!
//! [`PhraseScore`] scores how well captions match (BM25), in the same way as the full-text index of `SQLite`.

use std::fmt;

use super::{
    language::Language,
    words::{content_stems, stemmed_text},
};

/// A parsed query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FullTextQuery {
    /// The stems of each word or phrase, separated by spaces.
    pub phrases: Vec<String>,
    pub expression: TextExpression,
    /// Whether the query is negated as a whole, so that it finds captions that do not match, and media without a
    /// caption.
    pub is_negated: bool,
}

/// An expression over phrases, which are identified by their index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextExpression {
    Phrase(usize),
    /// The parts, at least one.
    And(Vec<Self>),
    /// The parts, at least one.
    Or(Vec<Self>),
    /// The first expression without the second.
    Without(Box<Self>, Box<Self>),
}

const MAX_DEPTH: usize = 16;

/// Parses a query whose words are in `language`.
pub fn parse(text: &str, language: Language) -> Result<FullTextQuery, SyntaxError> {
    let tokens = tokenize(text)?;
    let end = text.chars().count() + 1;
    let mut parser = Parser { tokens: &tokens, end, depth: 0, language, phrases: Vec::new() };
    let Signed { expression, is_negated } = parser.parse_or()?;
    match parser.tokens.first() {
        None => Ok(FullTextQuery { phrases: parser.phrases, expression, is_negated }),
        Some(&(at, _)) => Err(SyntaxError { at, reason: "this parenthesis was never opened" }),
    }
}

/// A recursive descent parser. In order of precedence, it parses `OR`, (implicit) `AND`, and minus. It moves negations
/// to the top, so that no part of the expression matches captions that contain none of its words.
struct Parser<'a> {
    tokens: &'a [PositionedToken],
    /// The position after the last character.
    end: usize,
    depth: usize,
    language: Language,
    /// The stems of the words and phrases that were parsed.
    phrases: Vec<String>,
}

impl Parser<'_> {
    /// p OR q OR -r OR -s = not ((r AND s) without (p OR q))
    fn parse_or(&mut self) -> Result<Signed, SyntaxError> {
        let mut parts = SignedParts::default();
        parts.push(self.parse_and()?);
        while self.consume(&QueryToken::Or) {
            parts.push(self.parse_and()?);
        }
        let SignedParts { positive, negated } = parts;
        if negated.is_empty() {
            return Ok(Signed::positive(joined(positive, TextExpression::Or)));
        }
        Ok(Signed::negative(excluding(joined(negated, TextExpression::And), positive)))
    }

    /// p AND q AND -r AND -s = (p AND q) without (r OR s)
    fn parse_and(&mut self) -> Result<Signed, SyntaxError> {
        let mut parts = SignedParts::default();
        parts.push(self.parse_operand()?);
        while self.consume(&QueryToken::And) || self.at_operand() {
            parts.push(self.parse_operand()?);
        }
        let SignedParts { positive, negated } = parts;
        if positive.is_empty() {
            return Ok(Signed::negative(joined(negated, TextExpression::Or)));
        }
        Ok(Signed::positive(excluding(joined(positive, TextExpression::And), negated)))
    }

    fn parse_operand(&mut self) -> Result<Signed, SyntaxError> {
        let Some(((at, token), rest)) = self.tokens.split_first() else {
            return Err(SyntaxError { at: self.end, reason: "a word is missing here" });
        };
        let at = *at;
        self.tokens = rest;
        match token {
            QueryToken::Term(term) => {
                self.phrases.push(stemmed_text(term, self.language));
                Ok(Signed::positive(TextExpression::Phrase(self.phrases.len() - 1)))
            }
            QueryToken::Minus => {
                let Signed { expression, is_negated } =
                    self.parse_nested(at, Self::parse_operand)?;
                Ok(Signed { expression, is_negated: !is_negated })
            }
            QueryToken::Open => {
                let inner = self.parse_nested(at, Self::parse_or)?;
                if self.consume(&QueryToken::Close) {
                    return Ok(inner);
                }
                Err(SyntaxError { at, reason: "this parenthesis is never closed" })
            }
            QueryToken::And | QueryToken::Or | QueryToken::Close => {
                Err(SyntaxError { at, reason: "a word is missing before this" })
            }
        }
    }

    fn parse_nested(
        &mut self,
        at: usize,
        read: fn(&mut Self) -> Result<Signed, SyntaxError>,
    ) -> Result<Signed, SyntaxError> {
        if self.depth == MAX_DEPTH {
            return Err(SyntaxError { at, reason: "more than 16 levels deep" });
        }
        self.depth += 1;
        let inner = read(self)?;
        self.depth -= 1;
        Ok(inner)
    }

    fn consume(&mut self, expected: &QueryToken) -> bool {
        match self.tokens.split_first() {
            Some(((_, token), rest)) if token == expected => {
                self.tokens = rest;
                true
            }
            _ => false,
        }
    }

    fn at_operand(&self) -> bool {
        let token = self.tokens.first().map(|(_, token)| token);
        matches!(token, Some(QueryToken::Term(_) | QueryToken::Minus | QueryToken::Open))
    }
}

/// An expression, possibly negated as a whole.
struct Signed {
    expression: TextExpression,
    is_negated: bool,
}

impl Signed {
    fn positive(expression: TextExpression) -> Self {
        Self { expression, is_negated: false }
    }

    fn negative(expression: TextExpression) -> Self {
        Self { expression, is_negated: true }
    }
}

/// The parts of an expression, without the negations of the negated ones.
#[derive(Default)]
struct SignedParts {
    positive: Vec<TextExpression>,
    negated: Vec<TextExpression>,
}

impl SignedParts {
    fn push(&mut self, part: Signed) {
        if part.is_negated { &mut self.negated } else { &mut self.positive }.push(part.expression);
    }
}

/// Returns `base` without any of the others.
fn excluding(base: TextExpression, others: Vec<TextExpression>) -> TextExpression {
    if others.is_empty() {
        return base;
    }
    TextExpression::Without(Box::new(base), Box::new(joined(others, TextExpression::Or)))
}

fn joined(
    mut parts: Vec<TextExpression>,
    join: fn(Vec<TextExpression>) -> TextExpression,
) -> TextExpression {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        last => {
            parts.extend(last);
            join(parts)
        }
    }
}

const MAX_TERMS: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Character position, counted from 1.
    pub at: usize,
    pub reason: &'static str,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at character {}: {}", self.at, self.reason)
    }
}

impl std::error::Error for SyntaxError {}

#[derive(Clone, Debug, PartialEq, Eq)]
enum QueryToken {
    /// A word or phrase with at least one letter or digit.
    Term(String),
    And,
    Or,
    /// A minus directly before a word, phrase or parenthesis.
    Minus,
    Open,
    Close,
}

/// A token and its character position, counted from 1.
type PositionedToken = (usize, QueryToken);

/// Splits a query into tokens. Fails if a quote is not closed, a minus stands alone, a term has no letter or digit, or
/// there are too many terms.
fn tokenize(text: &str) -> Result<Vec<PositionedToken>, SyntaxError> {
    let text: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut terms = 0;
    let mut at = 0;
    while let Some(&first) = text.get(at) {
        if is_separator(first) {
            at += 1;
            continue;
        }
        let (token, length) = next_token(&text[at..], first, at + 1)?;
        if let QueryToken::Term(term) = &token {
            terms += 1;
            check_term(term, terms).map_err(|reason| SyntaxError { at: at + 1, reason })?;
        }
        tokens.push((at + 1, token));
        at += length;
    }
    Ok(tokens)
}

/// Returns the token at the start of `rest`, and its length in characters.
fn next_token(rest: &[char], first: char, at: usize) -> Result<(QueryToken, usize), SyntaxError> {
    let refuse = |reason| Err(SyntaxError { at, reason });
    match first {
        '(' => Ok((QueryToken::Open, 1)),
        ')' => Ok((QueryToken::Close, 1)),
        '-' if rest.get(1).is_none_or(|&c| is_separator(c)) => {
            refuse("a minus belongs directly before a word")
        }
        '-' => Ok((QueryToken::Minus, 1)),
        _ if is_quote(first) => match rest[1..].iter().position(|&c| is_quote(c)) {
            Some(length) => Ok((QueryToken::Term(phrase_text(&rest[1..=length])), length + 2)),
            None => refuse("this quote is never closed"),
        },
        _ => {
            let length = rest.iter().position(|&c| ends_word(c)).unwrap_or(rest.len());
            let word: String = rest[..length].iter().collect();
            match word.as_str() {
                "AND" => Ok((QueryToken::And, length)),
                "OR" => Ok((QueryToken::Or, length)),
                "NOT" => refuse("NOT is written as a minus: -word"),
                _ => Ok((QueryToken::Term(word), length)),
            }
        }
    }
}

fn check_term(term: &str, count: usize) -> Result<(), &'static str> {
    if !term.contains(char::is_alphanumeric) {
        return Err("no letter or digit to search for");
    }
    if count > MAX_TERMS { Err("more than 64 words") } else { Ok(()) }
}

fn is_separator(c: char) -> bool {
    c.is_whitespace() || c.is_control()
}

/// Whether a character is a straight quote, or one that phones and word processors insert.
fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„')
}

fn ends_word(c: char) -> bool {
    is_separator(c) || is_quote(c) || c == '(' || c == ')'
}

fn phrase_text(inside: &[char]) -> String {
    inside.iter().map(|&c| if is_separator(c) { ' ' } else { c }).collect()
}

/// The factor of the distance of a caption that contains the text word by word.
const PHRASE_FACTOR: f32 = 0.25;
/// The factor of the distance of a caption that contains all words of the text that describe something.
const WORDS_FACTOR: f32 = 0.75;

/// The searches for the words of a text in captions.
pub struct ExactWords {
    phrase: FullTextQuery,
    words: FullTextQuery,
}

impl ExactWords {
    /// Creates the searches. Returns `None` if the text has no words that describe anything.
    pub fn new(text: &str, language: Language) -> Option<Self> {
        let words = content_stems(text, language);
        if words.is_empty() {
            return None;
        }
        let each = (0..words.len()).map(TextExpression::Phrase).collect();
        let phrase = vec![stemmed_text(text, language)];
        Some(Self {
            phrase: query(phrase, TextExpression::Phrase(0)),
            words: query(words, TextExpression::And(each)),
        })
    }

    /// Returns the factors of the distances of captions, by rows of media items in increasing order. `search` searches
    /// captions.
    pub fn factors<E>(
        &self,
        search: impl Fn(&FullTextQuery) -> Result<Vec<(i64, f32)>, E>,
    ) -> Result<Vec<(i64, f32)>, E> {
        let phrases = search(&self.phrase)?;
        let contains_phrase =
            |row: i64| phrases.binary_search_by_key(&row, |(other, _)| *other).is_ok();
        let factor = |row| if contains_phrase(row) { PHRASE_FACTOR } else { WORDS_FACTOR };
        let found = search(&self.words)?.into_iter();
        Ok(found.map(|(row, _)| (row, factor(row))).collect())
    }
}

fn query(phrases: Vec<String>, expression: TextExpression) -> FullTextQuery {
    FullTextQuery { phrases, expression, is_negated: false }
}

const TERM_SATURATION: f64 = 1.2;
const LENGTH_WEIGHT: f64 = 0.75;
/// The weight of a phrase that is in more than half of all captions.
const MIN_PHRASE_WEIGHT: f64 = 1e-6;

/// The number of captions that are searched, and the number of their words.
#[derive(Clone, Copy, Debug)]
pub struct CaptionTotals {
    pub captions: u64,
    /// The number of words in all captions.
    pub words: u64,
}

/// The part of a score that one phrase contributes. Higher is better.
#[derive(Clone, Copy, Debug)]
pub struct PhraseScore {
    /// Inverse document frequency.
    weight: f64,
    mean_length: f64,
}

impl PhraseScore {
    /// Creates the score of a phrase that occurs in `containing` captions.
    #[expect(clippy::cast_precision_loss, reason = "as SQLite computes it")]
    pub fn new(totals: CaptionTotals, containing: u64) -> Self {
        let (captions, containing) = (totals.captions as f64, containing as f64);
        let weight = ((captions - containing + 0.5) / (containing + 0.5)).ln();
        Self {
            weight: if weight <= 0.0 { MIN_PHRASE_WEIGHT } else { weight },
            mean_length: totals.words as f64 / totals.captions.max(1) as f64,
        }
    }

    /// Returns the score of a caption of `length` words that contains the phrase `count` times.
    pub fn of(self, count: u32, length: u32) -> f64 {
        let (count, length) = (f64::from(count), f64::from(length));
        let norm = 1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * length / self.mean_length;
        self.weight * (count * (TERM_SATURATION + 1.0) / (count + TERM_SATURATION * norm))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::convert::Infallible;

    #[test]
    fn captions_with_the_whole_text_come_before_captions_with_its_words() {
        let exact = ExactWords::new("A dog.", Language::English).unwrap();
        let search = |query: &FullTextQuery| {
            let found: &[i64] = if query.phrases == ["a dog"] { &[3] } else { &[1, 3] };
            Ok::<_, Infallible>(found.iter().map(|row| (*row, -1.0)).collect())
        };
        let Ok(factors) = exact.factors(search);
        assert_eq!(factors, [(1, WORDS_FACTOR), (3, PHRASE_FACTOR)]);
        assert!(ExactWords::new("the", Language::English).is_none());
    }
}

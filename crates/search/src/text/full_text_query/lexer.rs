//! The lexer of full-text queries.

use std::fmt;

const MAX_TERMS: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Character position, from 1.
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
pub enum QueryToken {
    /// A word or phrase with at least one letter or digit.
    Term(String),
    And,
    Or,
    /// A minus directly before a word, phrase or parenthesis.
    Minus,
    Open,
    Close,
}

/// A token and its character position, from 1.
pub type PositionedToken = (usize, QueryToken);

/// Splits a query into tokens. Fails if a quote is not closed, a minus stands alone, a term has no
/// letter or digit, or there are too many terms.
pub fn tokenize(text: &str) -> Result<Vec<PositionedToken>, SyntaxError> {
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

/// The token at the start of `rest`, and its length in characters.
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

/// Straight quotes, and those that phones and word processors insert.
fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„')
}

fn ends_word(c: char) -> bool {
    is_separator(c) || is_quote(c) || c == '(' || c == ')'
}

fn phrase_text(inside: &[char]) -> String {
    inside.iter().map(|&c| if is_separator(c) { ' ' } else { c }).collect()
}

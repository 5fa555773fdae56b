//! Parsing a query into an FTS5 expression.

use super::lexer::{PositionedToken, QueryToken, SyntaxError, tokenize};
use crate::text::{language::Language, words::stemmed_text};

const MAX_DEPTH: usize = 16;

/// An FTS5 expression, possibly negated as a whole, which FTS5 itself cannot express.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FtsExpression {
    Matching(String),
    /// Captions that do not match, including media without a caption.
    NotMatching(String),
}

/// Parses a query whose words are in `language`.
pub fn parse(text: &str, language: Language) -> Result<FtsExpression, SyntaxError> {
    let tokens = tokenize(text)?;
    let mut parser = Parser { tokens: &tokens, end: text.chars().count() + 1, depth: 0 };
    let whole = parser.parse_or()?;
    match parser.tokens.first() {
        None => Ok(whole.to_fts(language)),
        Some(&(at, _)) => Err(SyntaxError { at, reason: "this parenthesis was never opened" }),
    }
}

enum Expression {
    Term(String),
    Not(Box<Expression>),
    /// Not empty.
    And(Vec<Expression>),
    /// Not empty.
    Or(Vec<Expression>),
}

/// Recursive descent, in order of precedence: `OR`, then (implicit) `AND`, then minus.
struct Parser<'a> {
    tokens: &'a [PositionedToken],
    /// The position after the last character.
    end: usize,
    depth: usize,
}

impl Parser<'_> {
    fn parse_or(&mut self) -> Result<Expression, SyntaxError> {
        let mut choices = vec![self.parse_and()?];
        while self.consume(&QueryToken::Or) {
            choices.push(self.parse_and()?);
        }
        Ok(Expression::Or(choices))
    }

    fn parse_and(&mut self) -> Result<Expression, SyntaxError> {
        let mut parts = vec![self.parse_operand()?];
        while self.consume(&QueryToken::And) || self.at_operand() {
            parts.push(self.parse_operand()?);
        }
        Ok(Expression::And(parts))
    }

    fn parse_operand(&mut self) -> Result<Expression, SyntaxError> {
        let Some(((at, token), rest)) = self.tokens.split_first() else {
            return Err(SyntaxError { at: self.end, reason: "a word is missing here" });
        };
        let at = *at;
        self.tokens = rest;
        match token {
            QueryToken::Term(term) => Ok(Expression::Term(term.clone())),
            QueryToken::Minus => {
                Ok(Expression::Not(Box::new(self.parse_nested(at, Self::parse_operand)?)))
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
        read: fn(&mut Self) -> Result<Expression, SyntaxError>,
    ) -> Result<Expression, SyntaxError> {
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

impl Expression {
    /// Moves negations to the top, so that FTS5's binary `NOT` and one outer negation suffice.
    fn to_fts(&self, language: Language) -> FtsExpression {
        match self {
            Self::Term(term) => {
                // Letters, digits and spaces are all that is left of it.
                FtsExpression::Matching(format!("\"{}\"", stemmed_text(term, language)))
            }
            Self::Not(inner) => match inner.to_fts(language) {
                FtsExpression::Matching(inner) => FtsExpression::NotMatching(inner),
                FtsExpression::NotMatching(inner) => FtsExpression::Matching(inner),
            },
            // p AND q AND -r AND -s = (p AND q) NOT (r OR s)
            Self::And(parts) => {
                let (positive, negated) = split_by_sign(parts, language);
                if positive.is_empty() {
                    return FtsExpression::NotMatching(joined(&negated, "OR"));
                }
                FtsExpression::Matching(excluding(joined(&positive, "AND"), &negated))
            }
            // p OR q OR -r OR -s = not ((r AND s) NOT (p OR q))
            Self::Or(parts) => {
                let (positive, negated) = split_by_sign(parts, language);
                if negated.is_empty() {
                    return FtsExpression::Matching(joined(&positive, "OR"));
                }
                FtsExpression::NotMatching(excluding(joined(&negated, "AND"), &positive))
            }
        }
    }
}

fn split_by_sign(parts: &[Expression], language: Language) -> (Vec<String>, Vec<String>) {
    let (mut positive, mut negated) = (Vec::new(), Vec::new());
    for part in parts {
        match part.to_fts(language) {
            FtsExpression::Matching(part) => positive.push(part),
            FtsExpression::NotMatching(part) => negated.push(part),
        }
    }
    (positive, negated)
}

/// `base` without any of the others.
fn excluding(base: String, others: &[String]) -> String {
    if others.is_empty() { base } else { format!("({base} NOT {})", joined(others, "OR")) }
}

fn joined(parts: &[String], operator: &str) -> String {
    match parts {
        [only] => only.clone(),
        _ => format!("({})", parts.join(&format!(" {operator} "))),
    }
}

//! Parsing a query into an expression.

use super::{
    expression::{FullTextQuery, TextExpression},
    lexer::{PositionedToken, QueryToken, SyntaxError, tokenize},
};
use crate::text::{language::Language, words::stemmed_text};

const MAX_DEPTH: usize = 16;

/// Parses a query whose words are in `language`.
pub fn parse(text: &str, language: Language) -> Result<FullTextQuery, SyntaxError> {
    let tokens = tokenize(text)?;
    let mut parser = Parser { tokens: &tokens, end: text.chars().count() + 1, depth: 0 };
    let whole = parser.parse_or()?;
    match parser.tokens.first() {
        None => Ok(whole.into_query(language)),
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
    fn into_query(self, language: Language) -> FullTextQuery {
        let mut phrases = Vec::new();
        let Signed { expression, is_negated } = self.signed(language, &mut phrases);
        FullTextQuery { phrases, expression, is_negated }
    }

    /// Moves negations to the top, so that no part of the expression matches captions without any of its words.
    fn signed(self, language: Language, phrases: &mut Vec<String>) -> Signed {
        match self {
            Self::Term(term) => {
                phrases.push(stemmed_text(&term, language));
                Signed::positive(TextExpression::Phrase(phrases.len() - 1))
            }
            Self::Not(inner) => {
                let Signed { expression, is_negated } = inner.signed(language, phrases);
                Signed { expression, is_negated: !is_negated }
            }
            // p AND q AND -r AND -s = (p AND q) without (r OR s)
            Self::And(parts) => {
                let (positive, negated) = split_by_sign(parts, language, phrases);
                if positive.is_empty() {
                    return Signed::negative(joined(negated, TextExpression::Or));
                }
                Signed::positive(excluding(joined(positive, TextExpression::And), negated))
            }
            // p OR q OR -r OR -s = not ((r AND s) without (p OR q))
            Self::Or(parts) => {
                let (positive, negated) = split_by_sign(parts, language, phrases);
                if negated.is_empty() {
                    return Signed::positive(joined(positive, TextExpression::Or));
                }
                Signed::negative(excluding(joined(negated, TextExpression::And), positive))
            }
        }
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

/// The parts that are not negated, and those that are.
fn split_by_sign(
    parts: Vec<Expression>,
    language: Language,
    phrases: &mut Vec<String>,
) -> (Vec<TextExpression>, Vec<TextExpression>) {
    let (mut positive, mut negated) = (Vec::new(), Vec::new());
    for part in parts {
        let part = part.signed(language, phrases);
        if part.is_negated { &mut negated } else { &mut positive }.push(part.expression);
    }
    (positive, negated)
}

/// `base` without any of the others.
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

//! What a full-text query asks for, independent of what searches.

/// A parsed query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FullTextQuery {
    /// The stems of each word or phrase, separated by spaces.
    pub phrases: Vec<String>,
    pub expression: TextExpression,
    /// Whether the captions are found that do not match, and media without a caption.
    pub is_negated: bool,
}

/// An expression over phrases, by their number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextExpression {
    Phrase(usize),
    /// Not empty.
    And(Vec<Self>),
    /// Not empty.
    Or(Vec<Self>),
    /// The first without the second.
    Without(Box<Self>, Box<Self>),
}

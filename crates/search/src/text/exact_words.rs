//! Lets captions that contain the words of a text come before captions that are only similar. A long caption, such as one
//! in dozens of languages, has a vector of all its words, so its distance from a few of them is large.

use super::{
    full_text_query::{FullTextQuery, TextExpression},
    language::Language,
    words::{content_stems, stemmed_text},
};

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

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

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

//! Searches the index of captions.

use super::{caption_matches::CaptionMatches, columns::CaptionIndex, postings::Postings};
use tessera_search::text::{
    bm25::{CaptionTotals, PhraseScore},
    full_text_query::{FullTextQuery, TextExpression},
    words::indexed_words,
};

impl CaptionIndex {
    /// Returns the rows of the media items whose captions match the expression of a query, in increasing order, with
    /// their scores. A lower score is better.
    pub fn search(&self, query: &FullTextQuery) -> Vec<(i64, f32)> {
        let search = CaptionSearch { index: self, query, totals: self.totals() };
        let found = search.matches(&query.expression).0.into_iter();
        let row = |caption: u32| self.rows.get(caption as usize).copied();
        found.filter_map(|(caption, score)| Some((row(caption)?, single(-score)))).collect()
    }

    /// Returns the captions that contain these words one after the other, with how often they do.
    fn count_occurrences(&self, words: &[String]) -> Vec<(u32, u32)> {
        let [first, others @ ..] = words else { return Vec::new() };
        if others.is_empty() {
            return count_by_caption(self.postings_of(first));
        }
        let mut found: Vec<(u32, u32)> = self.postings_of(first).collect();
        for (distance, word) in (1..).zip(others) {
            let mut postings = self.postings_of(word).peekable();
            found.retain(|&(caption, position)| {
                let wanted = (caption, position.saturating_add(distance));
                while postings.next_if(|posting| *posting < wanted).is_some() {}
                postings.peek() == Some(&wanted)
            });
        }
        count_by_caption(found.into_iter())
    }

    fn postings_of(&self, word: &str) -> Postings<'_> {
        let found = self.words.binary_search(word.as_bytes());
        Postings::new(found.map(|number| self.postings.get(number)).unwrap_or_default())
    }
}

struct CaptionSearch<'a> {
    index: &'a CaptionIndex,
    query: &'a FullTextQuery,
    totals: CaptionTotals,
}

impl CaptionSearch<'_> {
    fn matches(&self, expression: &TextExpression) -> CaptionMatches {
        match expression {
            TextExpression::Phrase(number) => self.phrase_matches(&self.query.phrases[*number]),
            TextExpression::And(parts) => self.joined(parts, |one, other| one.intersection(&other)),
            TextExpression::Or(parts) => self.joined(parts, CaptionMatches::union),
            TextExpression::Without(first, second) => {
                self.matches(first).difference(&self.matches(second))
            }
        }
    }

    fn joined(
        &self,
        parts: &[TextExpression],
        join: impl Fn(CaptionMatches, CaptionMatches) -> CaptionMatches,
    ) -> CaptionMatches {
        let parts = parts.iter().map(|part| self.matches(part));
        parts.reduce(join).unwrap_or_else(|| CaptionMatches(Vec::new()))
    }

    /// Returns the captions that contain a phrase, whose stems are separated by spaces.
    fn phrase_matches(&self, phrase: &str) -> CaptionMatches {
        let counts = self.index.count_occurrences(&indexed_words(phrase));
        let score = PhraseScore::new(self.totals, counts.len() as u64);
        let scored = counts.into_iter().map(|(caption, count)| {
            let length = self.index.lengths.get(caption as usize).copied().unwrap_or_default();
            (caption, score.of(count, length))
        });
        CaptionMatches(scored.collect())
    }
}

fn count_by_caption(occurrences: impl Iterator<Item = (u32, u32)>) -> Vec<(u32, u32)> {
    let mut counts: Vec<(u32, u32)> = Vec::new();
    for (caption, _) in occurrences {
        match counts.last_mut() {
            Some((last, count)) if *last == caption => *count += 1,
            _ => counts.push((caption, 1)),
        }
    }
    counts
}

/// Converts a score to the precision in which scores are returned.
#[expect(clippy::cast_possible_truncation, reason = "a score needs no more")]
fn single(score: f64) -> f32 {
    score as f32
}

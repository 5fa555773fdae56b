//! The full-text index of the captions of a dataset: which captions contain a word, and where. Start at
//! [`CaptionIndex::search`].

use std::{
    cmp::Ordering,
    io::{self, ErrorKind, Read, Write},
};

use tessera_search::text::{
    bm25::{CaptionTotals, PhraseScore},
    full_text_query::{FullTextQuery, TextExpression},
    words::indexed_words,
};

use crate::{
    caption_postings::{ByteLists, Postings},
    checked_file::{read_column, write_column},
};

#[derive(Debug, Default)]
pub struct CaptionIndex {
    /// The rows of the media items with a caption, in increasing order. The number of a caption is its position in this
    /// list.
    pub(crate) rows: Vec<i64>,
    /// The number of words of each caption.
    pub(crate) lengths: Vec<u32>,
    /// All different words, in increasing order.
    pub(crate) words: ByteLists,
    /// The captions that contain each word.
    pub(crate) postings: ByteLists,
}

impl CaptionIndex {
    pub fn totals(&self) -> CaptionTotals {
        let words = self.lengths.iter().map(|&length| u64::from(length)).sum();
        CaptionTotals { captions: self.lengths.len() as u64, words }
    }

    pub fn memory_bytes(&self) -> usize {
        size_of_val(&self.rows[..])
            + size_of_val(&self.lengths[..])
            + self.words.memory_bytes()
            + self.postings.memory_bytes()
    }

    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        write_column(to, &self.rows)?;
        write_column(to, &self.lengths)?;
        self.words.write(to)?;
        self.postings.write(to)
    }

    /// Reads what [`Self::write`] wrote.
    pub fn read(from: &mut impl Read) -> io::Result<Self> {
        let (rows, lengths): (Vec<i64>, Vec<u32>) = (read_column(from)?, read_column(from)?);
        let (words, postings) = (ByteLists::read(from)?, ByteLists::read(from)?);
        if rows.len() != lengths.len() || words.len() != postings.len() {
            return Err(ErrorKind::InvalidData.into());
        }
        Ok(Self { rows, lengths, words, postings })
    }
}

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

/// Captions in increasing order, with their scores. A higher score is better.
pub struct CaptionMatches(pub Vec<(u32, f64)>);

impl CaptionMatches {
    /// Returns the captions that are in both lists, with the sum of the scores.
    pub fn intersection(mut self, other: &Self) -> Self {
        let mut others = Sorted(&other.0);
        self.0.retain_mut(|(caption, score)| match others.find(*caption) {
            Some(more) => {
                *score += more;
                true
            }
            None => false,
        });
        self
    }

    /// Returns the captions that are in at least one of the lists, with the sum of the scores.
    pub fn union(self, other: Self) -> Self {
        let (mut one, mut two) = (self.0.into_iter().peekable(), other.0.into_iter().peekable());
        let mut all = Vec::with_capacity(one.len().max(two.len()));
        while let (Some((first, score)), Some((second, more))) = (one.peek(), two.peek()) {
            match first.cmp(second) {
                Ordering::Less => all.extend(one.next()),
                Ordering::Greater => all.extend(two.next()),
                Ordering::Equal => {
                    all.push((*first, score + more));
                    one.next();
                    two.next();
                }
            }
        }
        all.extend(one.chain(two));
        Self(all)
    }

    /// Returns the captions that the other does not have.
    pub fn difference(mut self, other: &Self) -> Self {
        let mut others = Sorted(&other.0);
        self.0.retain(|(caption, _)| others.find(*caption).is_none());
        self
    }
}

/// Matches that are searched for captions in increasing order.
struct Sorted<'a>(&'a [(u32, f64)]);

impl Sorted<'_> {
    fn find(&mut self, caption: u32) -> Option<f64> {
        let below = self.0.iter().take_while(|(other, _)| *other < caption).count();
        self.0 = &self.0[below..];
        self.0.first().filter(|(other, _)| *other == caption).map(|(_, score)| *score)
    }
}

#[cfg(test)]
mod tests;

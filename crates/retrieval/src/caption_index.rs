//! The full-text index of the captions of a dataset: which captions contain a word, and where. Start at
//! [`CaptionIndex::search`]. [`CaptionIndexBuilder`] builds the index.
//! [`FileNames`] indexes the words of folders and file names in the same way.

use std::{
    cmp::Ordering,
    collections::HashMap,
    io::{self, ErrorKind, Read, Write},
};

use crate::{
    caption_postings::{Postings, write_entry},
    columns::{Column, Lists, read_column},
    member_columns::MemberColumns,
};
use tessera_search::text::{
    full_text_query::{CaptionTotals, FullTextQuery, PhraseScore, TextExpression},
    language::Language,
    name_words::{NameQuery, name_words},
    words::{indexed_words, stem, words},
};

#[derive(Debug, Default)]
pub struct CaptionIndex {
    /// The rows of the media items with a caption, in increasing order. The number of a caption is its position in this
    /// list.
    pub(crate) rows: Vec<i64>,
    /// The number of words of each caption.
    pub(crate) lengths: Vec<u32>,
    /// All different words, in increasing order.
    pub(crate) words: Lists<u8>,
    /// The captions that contain each word.
    pub(crate) postings: Lists<u8>,
}

impl CaptionIndex {
    pub fn totals(&self) -> CaptionTotals {
        let words = self.lengths.iter().map(|&length| u64::from(length)).sum();
        CaptionTotals { captions: self.lengths.len() as u64, words }
    }

    fn columns(&self) -> [&dyn Column; 4] {
        [&self.rows, &self.lengths, &self.words, &self.postings]
    }

    pub fn memory_bytes(&self) -> usize {
        self.columns().into_iter().map(Column::memory_bytes).sum()
    }

    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        self.columns().into_iter().try_for_each(|column| column.write(to))
    }

    /// Reads what [`Self::write`] wrote.
    pub fn read(from: &mut dyn Read) -> io::Result<Self> {
        let (rows, lengths): (Vec<i64>, Vec<u32>) = (read_column(from)?, read_column(from)?);
        let (words, postings): (Lists<u8>, Lists<u8>) = (read_column(from)?, read_column(from)?);
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

/// Maximum number of words whose stems are kept. A million captions rarely have more words.
const MAX_STEMMED: usize = 1 << 18;

/// Builds the index from captions that arrive in the order of their rows.
pub struct CaptionIndexBuilder {
    language: Language,
    rows: Vec<i64>,
    lengths: Vec<u32>,
    /// The numbers of the words of all captions, one after the other. A list per word would leave about as much unused
    /// memory between the growing lists.
    sequence: Vec<u32>,
    /// The number of each indexed word.
    numbers: HashMap<String, u32>,
    /// The numbers of the stems of each word, which are kept because words repeat, and stemming takes longer than
    /// everything else.
    stemmed: HashMap<String, Vec<u32>>,
}

impl CaptionIndexBuilder {
    /// Creates a builder for captions that are searched in `language`.
    pub fn new(language: Language) -> Self {
        Self {
            language,
            rows: Vec::new(),
            lengths: Vec::new(),
            sequence: Vec::new(),
            numbers: HashMap::new(),
            stemmed: HashMap::new(),
        }
    }

    pub fn language(&self) -> Language {
        self.language
    }

    pub fn push(&mut self, row: i64, caption: &str) {
        let first = self.sequence.len();
        for word in words(caption, self.language) {
            if !self.stemmed.contains_key(&word) {
                self.stem(&word);
            }
            self.sequence.extend(self.stemmed.get(&word).into_iter().flatten());
        }
        self.rows.push(row);
        self.lengths.push(u32::try_from(self.sequence.len() - first).unwrap_or(u32::MAX));
    }

    /// Determines the words under which a word of a caption is indexed. There is usually one, but there are several in
    /// scripts that do not separate words.
    fn stem(&mut self, word: &str) {
        let split = indexed_words(&stem(word, self.language));
        if self.stemmed.len() == MAX_STEMMED {
            self.stemmed.clear();
        }
        let numbers = split.into_iter().map(|indexed| self.number(indexed)).collect();
        self.stemmed.insert(word.to_owned(), numbers);
    }

    fn number(&mut self, indexed: String) -> u32 {
        let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        *self.numbers.entry(indexed).or_insert(next)
    }

    pub fn finish(mut self) -> CaptionIndex {
        let mut sorted: Vec<(String, u32)> = self.numbers.drain().collect();
        sorted.sort_unstable();
        let mut sizes = vec![0; sorted.len()];
        self.for_each_entry(sorted.len(), |number, entry| sizes[number] += entry.len());
        let sizes_in_order = sorted.iter().map(|(_, number)| sizes[*number as usize]);
        let mut postings = Lists::filled(sizes_in_order, 0);
        let (mut words, mut positions) = (Lists::default(), vec![0; sorted.len()]);
        for (position, (word, number)) in sorted.into_iter().enumerate() {
            words.push(word.bytes());
            positions[number as usize] = position;
        }
        // From now on, the sizes are those of the entries that are still missing at the end of each list.
        self.for_each_entry(sizes.len(), |number, entry| {
            let list = postings.get_mut(positions[number]);
            let start = list.len() - sizes[number];
            list[start..start + entry.len()].copy_from_slice(entry);
            sizes[number] -= entry.len();
        });
        CaptionIndex { rows: self.rows, lengths: self.lengths, words, postings }
    }

    /// Calls `each` with every entry of the postings of every word, and with the number of the word, in the order of
    /// captions.
    fn for_each_entry(&self, words: usize, mut each: impl FnMut(usize, &[u8])) {
        let mut last_captions = vec![0; words];
        let (mut rest, mut occurrences, mut entry) = (&self.sequence[..], Vec::new(), Vec::new());
        for (caption, &length) in (0..).zip(&self.lengths) {
            let sequence;
            (sequence, rest) = rest.split_at(length as usize);
            occurrences.clear();
            occurrences.extend(sequence.iter().copied().zip(0..));
            occurrences.sort_unstable();
            for word in occurrences.chunk_by(|(one, _): &(u32, u32), (other, _)| one == other) {
                let number = word[0].0 as usize;
                entry.clear();
                let difference = caption - last_captions[number];
                write_entry(&mut entry, difference, word.iter().map(|(_, position)| *position));
                last_captions[number] = caption;
                each(number, &entry);
            }
        }
    }
}

/// The index of captions also indexes names, which are short captions.
#[derive(Debug, Default)]
pub struct FileNames(pub CaptionIndex);

impl FileNames {
    /// Indexes the paths of the pictures that are members or contain members.
    pub fn new(members: &MemberColumns, language: Language) -> Self {
        let mut pictures: Vec<(i64, usize)> =
            members.picture_rows.iter().copied().zip(0..).collect();
        pictures.sort_unstable();
        pictures.dedup_by_key(|(row, _)| *row);
        let mut builder = CaptionIndexBuilder::new(language);
        let mut path = String::new();
        for (row, member) in pictures {
            members.properties.path(member, &mut path);
            builder.push(row, &name_words(&path));
        }
        Self(builder.finish())
    }

    /// Returns the rows of the pictures whose names contain enough words of a query, in increasing order, with their
    /// distances.
    pub fn find(&self, query: &NameQuery) -> Vec<(i64, f32)> {
        let rows_with = |word: &String| {
            let phrases = vec![word.clone()];
            let expression = TextExpression::Phrase(0);
            self.0.search(&FullTextQuery { phrases, expression, is_negated: false })
        };
        let mut rows: Vec<i64> =
            query.words.iter().flat_map(rows_with).map(|(row, _)| row).collect();
        rows.sort_unstable();
        let equal = rows.chunk_by(|one, other| one == other);
        equal.filter_map(|rows| Some((rows[0], query.distance(rows.len())?))).collect()
    }
}

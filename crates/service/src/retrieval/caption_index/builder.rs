//! Makes the index of captions.

use std::collections::HashMap;

use super::{byte_lists::ByteLists, columns::CaptionIndex, postings::PostingWriter};
use crate::{
    store::{self, split_words},
    text::{language::Language, words::words},
};

/// Words whose stems are kept; a million captions rarely have more.
const MAX_STEMMED: usize = 1 << 18;

/// Takes captions in order of row.
pub struct CaptionIndexBuilder {
    language: Language,
    rows: Vec<i64>,
    lengths: Vec<u32>,
    /// The number of each indexed word.
    numbers: HashMap<String, u32>,
    /// By the number of the word.
    postings: Vec<PostingWriter>,
    /// The numbers of what words of captions became: stemming takes longer than everything else, and words repeat.
    stemmed: HashMap<String, Vec<u32>>,
    /// The words of one caption with their positions.
    occurrences: Vec<(u32, u32)>,
}

impl CaptionIndexBuilder {
    /// For captions that are searched in `language`.
    pub fn new(language: Language) -> Self {
        Self {
            language,
            rows: Vec::new(),
            lengths: Vec::new(),
            numbers: HashMap::new(),
            postings: Vec::new(),
            stemmed: HashMap::new(),
            occurrences: Vec::new(),
        }
    }

    pub fn push(&mut self, row: i64, caption: &str) -> store::Result<()> {
        self.occurrences.clear();
        for word in words(caption) {
            if !self.stemmed.contains_key(&word) {
                self.stem(&word)?;
            }
            for &number in self.stemmed.get(&word).into_iter().flatten() {
                let position = u32::try_from(self.occurrences.len()).unwrap_or(u32::MAX);
                self.occurrences.push((number, position));
            }
        }
        let caption = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        self.rows.push(row);
        self.lengths.push(u32::try_from(self.occurrences.len()).unwrap_or(u32::MAX));
        self.occurrences.sort_unstable();
        for word in self.occurrences.chunk_by(|(one, _), (other, _)| one == other) {
            let positions = word.iter().map(|(_, position)| *position);
            self.postings[word[0].0 as usize].push(caption, positions);
        }
        Ok(())
    }

    /// Finds out what a word is indexed as: one word, or several in rare scripts.
    fn stem(&mut self, word: &str) -> store::Result<()> {
        let split = split_words(&self.language.stem(word))?;
        if self.stemmed.len() == MAX_STEMMED {
            self.stemmed.clear();
        }
        let numbers = split.into_iter().map(|indexed| self.number(indexed)).collect();
        self.stemmed.insert(word.to_owned(), numbers);
        Ok(())
    }

    fn number(&mut self, indexed: String) -> u32 {
        let next = self.postings.len();
        *self.numbers.entry(indexed).or_insert_with(|| {
            self.postings.push(PostingWriter::default());
            u32::try_from(next).unwrap_or(u32::MAX)
        })
    }

    pub fn finish(mut self) -> CaptionIndex {
        let mut sorted: Vec<(String, u32)> = self.numbers.into_iter().collect();
        sorted.sort_unstable();
        let (mut words, mut postings) = (ByteLists::default(), ByteLists::default());
        for (word, number) in sorted {
            words.push(word.as_bytes());
            // Freed at once, so that not all of them are in memory twice.
            postings.push(&std::mem::take(&mut self.postings[number as usize].bytes));
        }
        CaptionIndex { rows: self.rows, lengths: self.lengths, words, postings }
    }
}

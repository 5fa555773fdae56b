//! Builds the index of captions.

use std::collections::HashMap;

use tessera_search::text::{
    language::Language,
    words::{indexed_words, words},
};

use crate::{
    caption_index::CaptionIndex,
    caption_postings::{ByteLists, write_entry},
};

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
        for word in words(caption) {
            if !self.stemmed.contains_key(&word) {
                self.stem(&word);
            }
            self.sequence.extend(self.stemmed.get(&word).into_iter().flatten());
        }
        self.rows.push(row);
        self.lengths.push(u32::try_from(self.sequence.len() - first).unwrap_or(u32::MAX));
    }

    /// Determines the words under which a word of a caption is indexed: usually one, but several in rare scripts.
    fn stem(&mut self, word: &str) {
        let split = indexed_words(&self.language.stem(word));
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
        let size = |number: u32| sizes[number as usize];
        let mut postings = ByteLists::zeros(sorted.iter().map(|(_, number)| size(*number)));
        let (mut words, mut positions, mut end) = (ByteLists::default(), vec![0; sizes.len()], 0);
        for (word, number) in sorted {
            words.push(word.as_bytes());
            positions[number as usize] = end;
            end += size(number);
        }
        let bytes = postings.bytes_mut();
        self.for_each_entry(sizes.len(), |number, entry| {
            let position = &mut positions[number];
            bytes[*position..*position + entry.len()].copy_from_slice(entry);
            *position += entry.len();
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

//! The text space (latent semantic analysis): vectors of captions and queries, which are close if the texts have
//! similar content. The space is trained on the captions and labels of one dataset.
//!
//! Every word has a vector, and the vector of a text is the sum of the vectors of its words. A word vector has two
//! parts. The latent part is the position of the word along the strongest directions of the captions, so that words
//! that occur together are close: "boat" and "sails". A hundred directions cannot separate thousands of words, so the
//! second part is a sketch of the residual: every word has its own random signs, whose sums stay nearly orthogonal.
//! Without the sketch, a rare word would match captions that merely use similar words.

#![expect(clippy::cast_precision_loss, reason = "counts of captions and words are small")]

mod svd;

use std::collections::HashMap;

use half::f16;

use super::{
    language::Language,
    words::{content_stems, indexed_words},
};
use svd::{TextMatrix, add, truncated_svd};

/// Share of the squared length that all texts have in common.
///
/// A caption contains a dozen words and a query one or two, so even a good match shares only a part. The common
/// component scales distances by 0.7. Captions with the same words then have distances of 0.2-0.4, captions with
/// related words 0.4-0.6, and all others 0.7, which matches the score bands of the API.
const SHARED_COMPONENT: f32 = 0.3;

/// Header of a stored text space. The number in it is the version of the training.
const MAGIC: &[u8; 16] = b"tessera-words-2\n";

/// A trained text space.
#[derive(Clone, Debug, PartialEq)]
pub struct TextSpace {
    /// The language of the stems.
    pub(super) language: Language,
    /// Known stems, in alphabetical order.
    pub(super) vocabulary: Vec<String>,
    /// One vector per word, multiplied by its weight.
    pub(super) vectors: Vec<f16>,
    pub(super) vector_length: usize,
}

impl TextSpace {
    /// Returns the unit vector of a text, or `None` if the text contains no known word. Cosine distances follow the
    /// score bands of the API: 0.0-0.4 is strong, 0.4-0.6 is partial, and anything above is loose.
    pub fn embed(&self, text: &str) -> Option<Vec<f16>> {
        let known = |stem: String| self.vocabulary.binary_search(&stem).ok();
        let mut words: Vec<usize> = space_words(text, self.language).filter_map(known).collect();
        words.sort_unstable();
        words.dedup();
        let mut sum = vec![0.0_f32; self.vector_length];
        for word in words {
            let row = &self.vectors[word * self.vector_length..][..self.vector_length];
            sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value.to_f32());
        }
        let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
        if length < f32::EPSILON {
            return None;
        }
        let scale = (1.0 - SHARED_COMPONENT).sqrt() / length;
        let scaled = sum.iter().map(|value| f16::from_f32(value * scale));
        Some(scaled.chain([f16::from_f32(SHARED_COMPONENT.sqrt())]).collect())
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let words = self.vocabulary.join("\n");
        let mut bytes = MAGIC.to_vec();
        bytes.extend(self.language.code().as_bytes());
        for count in [self.vocabulary.len(), self.vector_length, words.len()] {
            bytes.extend((count as u64).to_le_bytes());
        }
        bytes.extend(words.as_bytes());
        bytes.extend(self.vectors.iter().flat_map(|value| value.to_le_bytes()));
        bytes.extend(blake3::hash(&bytes).as_bytes());
        bytes
    }

    /// Reads a stored text space. Returns `None` if the bytes are damaged or of another version, in which case the
    /// space must be trained again.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (content, sum) = bytes.split_last_chunk::<{ blake3::OUT_LEN }>()?;
        if blake3::hash(content) != *sum {
            return None;
        }
        let (code, mut rest) = content.strip_prefix(MAGIC)?.split_first_chunk::<2>()?;
        let language = Language::from_code(std::str::from_utf8(code).ok()?)?;
        let mut count = || {
            let (number, after) = rest.split_first_chunk::<8>()?;
            rest = after;
            usize::try_from(u64::from_le_bytes(*number)).ok()
        };
        let (many, width, length) = (count()?, count()?, count()?);
        let (words, rows) = rest.split_at_checked(length)?;
        let words: Vec<String> =
            std::str::from_utf8(words).ok()?.split('\n').map(str::to_owned).collect();
        let (rows, odd) = rows.as_chunks::<2>();
        let rows: Vec<f16> = rows.iter().map(|pair| f16::from_le_bytes(*pair)).collect();
        let whole = words.len() == many && rows.len() == many.checked_mul(width)?;
        (whole && odd.is_empty()).then_some(Self {
            language,
            vocabulary: words,
            vectors: rows,
            vector_length: width,
        })
    }
}

/// Returns the words of a text that the space knows or learns.
fn space_words(text: &str, language: Language) -> impl Iterator<Item = String> {
    content_stems(text, language).into_iter().flat_map(|stem| indexed_words(&stem))
}

const MAX_DIRECTIONS: usize = 128;
/// Number of words per latent direction. With fewer words, every word would have its own direction and no words would
/// be related.
const WORDS_PER_DIRECTION: usize = 4;
const SKETCH_SIZE: usize = 127;
/// Weight of the sketch relative to the weakest latent direction.
const SKETCH_WEIGHT: f32 = 0.7;
/// Maximum size of the vocabulary. The most frequent words are kept.
const MAX_WORDS: usize = 20_000;
/// Maximum number of distinct words while counting, so that garbage does not fill the memory.
const MAX_COUNTED_WORDS: usize = 200_000;
const MAX_WORDS_PER_TEXT: usize = 128;

impl TextSpace {
    /// Trains on these texts, one per media item. Returns `None` if the texts contain no words.
    ///
    /// The result depends only on the texts and not on their order, so that a rebuilt index gives the same scores.
    /// 100,000 captions of a dozen words take a few seconds and less than 100 MiB.
    pub fn train<T: AsRef<str>>(
        language: Language,
        texts: impl IntoIterator<Item = T>,
    ) -> Option<Self> {
        let mut counts = WordCounts::default();
        let mut texts: Vec<T> = texts.into_iter().collect();
        // Words are numbered and sums are rounded in the order of the texts.
        texts.sort_unstable_by(|a, b| a.as_ref().cmp(b.as_ref()));
        for text in texts {
            counts.add(space_words(text.as_ref(), language).collect());
        }
        let (vocabulary, texts) = counts.vocabulary();
        if vocabulary.is_empty() {
            return None;
        }
        let signs: Vec<Vec<f32>> =
            vocabulary.iter().map(|word| random_signs(word, b"start")).collect();
        let limit = (vocabulary.len() / WORDS_PER_DIRECTION).clamp(1, MAX_DIRECTIONS);
        let directions = truncated_svd(&texts, &signs, limit);
        let vectors = word_vectors(&vocabulary, &texts, &directions);
        Some(Self { language, vector_length: directions.len() + SKETCH_SIZE, vocabulary, vectors })
    }
}

/// Word counts of all texts, with words numbered by first occurrence.
#[derive(Default)]
struct WordCounts {
    word_ids: HashMap<String, u32>,
    /// Number of texts that contain each word.
    texts_with: Vec<u32>,
    /// The distinct words of every text, one text after the other.
    words: Vec<u32>,
    /// The end of each text in `words`.
    ends: Vec<usize>,
}

impl WordCounts {
    fn add(&mut self, stems: Vec<String>) {
        let mut words: Vec<u32> = stems
            .into_iter()
            .take(MAX_WORDS_PER_TEXT)
            .filter_map(|stem| self.word_id(stem))
            .collect();
        words.sort_unstable();
        words.dedup();
        for &word in &words {
            self.texts_with[word as usize] += 1;
        }
        self.words.extend(words);
        self.ends.push(self.words.len());
    }

    fn word_id(&mut self, stem: String) -> Option<u32> {
        if let Some(&number) = self.word_ids.get(&stem) {
            return Some(number);
        }
        let number = u32::try_from(self.word_ids.len()).ok()?;
        if self.word_ids.len() >= MAX_COUNTED_WORDS {
            return None;
        }
        self.word_ids.insert(stem, number);
        self.texts_with.push(0);
        Some(number)
    }

    /// Returns the most frequent words in alphabetical order, and the texts as indices of these words.
    fn vocabulary(self) -> (Vec<String>, TextMatrix) {
        let mut words: Vec<(String, u32)> = self.word_ids.into_iter().collect();
        let frequency = |number: u32| self.texts_with[number as usize];
        words.sort_unstable_by(|(a, i), (b, j)| {
            frequency(*j).cmp(&frequency(*i)).then_with(|| a.cmp(b))
        });
        words.truncate(MAX_WORDS);
        words.sort_unstable();
        let mut renumbered = vec![None; self.texts_with.len()];
        for (new, (_, old)) in (0..).zip(&words) {
            renumbered[*old as usize] = Some(new);
        }
        let count = self.ends.len() as f32;
        let weight = |old: u32| (1.0 + count / frequency(old) as f32).ln();
        let weights = words.iter().map(|&(_, old)| weight(old)).collect();
        let mut texts = TextMatrix::new(weights);
        let mut start = 0;
        for end in self.ends {
            texts.push_text(
                self.words[start..end].iter().filter_map(|&old| renumbered[old as usize]),
            );
            start = end;
        }
        (words.into_iter().map(|(word, _)| word).collect(), texts)
    }
}

/// Returns 256 pseudorandom signs, determined by the word.
fn random_signs(word: &str, purpose: &[u8]) -> Vec<f32> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(purpose).update(word.as_bytes());
    let bits = hasher.finalize();
    let of_byte = |byte: &u8| {
        let byte = *byte;
        (0..8).map(move |bit| if byte >> bit & 1 == 1 { 1.0 } else { -1.0 })
    };
    bits.as_bytes().iter().flat_map(of_byte).collect()
}

/// Returns the vectors of all words: weight x (latent part, sketch of the residual).
fn word_vectors(words: &[String], texts: &TextMatrix, directions: &[(f32, Vec<f32>)]) -> Vec<f16> {
    let scale = 1.0 / (SKETCH_SIZE as f32).sqrt();
    let sketch_of = |word: &String| {
        random_signs(word, b"sketch")
            .into_iter()
            .take(SKETCH_SIZE)
            .map(|sign| sign * scale)
            .collect()
    };
    let sketches: Vec<Vec<f32>> = words.iter().map(sketch_of).collect();
    let explained: Vec<Vec<f32>> = directions
        .iter()
        .map(|(_, direction)| {
            let mut sum = vec![0.0; SKETCH_SIZE];
            for (&part, sketch) in direction.iter().zip(&sketches) {
                add(&mut sum, part, sketch);
            }
            sum
        })
        .collect();
    let weakest = directions.last().map_or(1.0, |(strength, _)| *strength);
    let mut rows = Vec::with_capacity(words.len() * (directions.len() + SKETCH_SIZE));
    for (word, mut sketch) in sketches.into_iter().enumerate() {
        let weight = texts.weight(word);
        for ((strength, direction), explained) in directions.iter().zip(&explained) {
            add(&mut sketch, -direction[word], explained);
            let gain = (strength / weakest).sqrt();
            rows.push(f16::from_f32(weight * gain * direction[word]));
        }
        rows.extend(sketch.iter().map(|value| f16::from_f32(weight * SKETCH_WEIGHT * value)));
    }
    rows
}

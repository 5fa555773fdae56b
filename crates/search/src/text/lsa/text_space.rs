//! A trained text space.

use half::f16;

use crate::text::{language::Language, words::content_stems};

/// Share of the squared length that all texts have in common.
///
/// A caption contains a dozen words and a query one or two, so even a good match shares only a
/// part. The common component scales distances by 0.7: captions with the same words get 0.2-0.4,
/// with related words 0.4-0.6, others 0.7, which matches the score bands of the interface.
const SHARED_COMPONENT: f32 = 0.3;

/// Header of a stored text space; the number is the training version.
const MAGIC: &[u8; 16] = b"tessera-words-2\n";

#[derive(Clone, Debug, PartialEq)]
pub struct TextSpace {
    /// Of the stems.
    pub(super) language: Language,
    /// Known stems, in alphabetical order.
    pub(super) vocabulary: Vec<String>,
    /// One vector per word, multiplied by its weight.
    pub(super) vectors: Vec<f16>,
    pub(super) vector_length: usize,
}

impl TextSpace {
    /// Returns the unit vector of a text, or `None` if it contains no known word. Cosine distances
    /// follow the score bands of the interface: 0.0-0.4 strong, 0.4-0.6 partial, above loose.
    pub fn embed(&self, text: &str) -> Option<Vec<f16>> {
        let known = |stem: String| self.vocabulary.binary_search(&stem).ok();
        let mut words: Vec<usize> =
            content_stems(text, self.language).into_iter().filter_map(known).collect();
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
        let own = sum.iter().map(|value| f16::from_f32(value * scale));
        Some(own.chain([f16::from_f32(SHARED_COMPONENT.sqrt())]).collect())
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

    /// `None` if the bytes are damaged or of another version, and the space must be trained again.
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

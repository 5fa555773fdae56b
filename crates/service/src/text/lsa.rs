//! The text space (latent semantic analysis): vectors of captions and queries that are close if the
//! texts have similar content, trained on the captions and labels of one dataset.
//!
//! Every word has a vector, and the vector of a text is the sum of its words. The first part of a
//! word vector is latent (words that occur together are close: "boat" and "sails"), the second part
//! separates words that the first does not (see `lsa/train.rs`).

mod svd;
mod train;

use half::f16;

use super::stemming::stems;

/// Share of the squared length that all texts have in common.
///
/// A caption contains a dozen words and a query one or two, so even a good match shares only a
/// part. The common component scales distances by 0.7: captions with the same words get 0.2-0.4,
/// with related words 0.4-0.6, others 0.7, which matches the score bands of the interface.
const SHARED_COMPONENT: f32 = 0.3;

/// Header of a stored text space; the number is the training version.
const MAGIC: &[u8; 16] = b"tessera-words-1\n";

#[derive(Clone, Debug, PartialEq)]
pub struct TextSpace {
    /// Known stems, in alphabetical order.
    vocabulary: Vec<String>,
    /// One vector per word, multiplied by its weight.
    vectors: Vec<f16>,
    /// Length of a word vector.
    vector_length: usize,
}

impl TextSpace {
    /// Trains on these texts, one per media item. `None` if they contain no words.
    ///
    /// Deterministic. 100,000 captions of a dozen words take a few seconds and less than 100 MiB.
    pub fn train<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Option<Self> {
        train::train(texts)
    }

    /// Length of a text vector, at most 256.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.vector_length + 1
    }

    /// Number of known words.
    #[must_use]
    pub fn vocabulary_size(&self) -> usize {
        self.vocabulary.len()
    }

    /// Returns the unit vector of a text, or `None` if it contains no known word. Cosine distances
    /// follow the score bands of the interface: 0.0-0.4 strong, 0.4-0.6 partial, above loose.
    #[must_use]
    pub fn embed(&self, text: &str) -> Option<Vec<f16>> {
        let known = |stem: String| self.vocabulary.binary_search(&stem).ok();
        let mut words: Vec<usize> = stems(text).into_iter().filter_map(known).collect();
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

    /// Serializes the text space.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let words = self.vocabulary.join("\n");
        let mut bytes = MAGIC.to_vec();
        for count in [self.vocabulary.len(), self.vector_length, words.len()] {
            bytes.extend((count as u64).to_le_bytes());
        }
        bytes.extend(words.as_bytes());
        bytes.extend(self.vectors.iter().flat_map(|value| value.to_le_bytes()));
        bytes.extend(blake3::hash(&bytes).as_bytes());
        bytes
    }

    /// Deserializes a text space. `None` if it is damaged or of another version and must be trained
    /// again.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (content, sum) = bytes.split_last_chunk::<{ blake3::OUT_LEN }>()?;
        if blake3::hash(content) != *sum {
            return None;
        }
        let mut rest = content.strip_prefix(MAGIC)?;
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
            vocabulary: words,
            vectors: rows,
            vector_length: width,
        })
    }

    /// Content hash; vectors of a text space with another fingerprint are stale.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 32] {
        *blake3::hash(&self.to_bytes()).as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use tessera_sample::plan;

    const HARBOUR: [&str; 12] = [
        "a boat with white sails in the harbour",
        "a ship with white sails in the harbour",
        "a boat on the calm sea at the harbour",
        "a ship on the calm sea with sails",
        "a small boat on the waves of the sea",
        "a great ship on the waves of the sea",
        "a car in a narrow street",
        "a red car before a house",
        "a house in a narrow street",
        "a tree before a red house",
        "two cars in the street before a house",
        "a tree in the street",
    ];

    fn distance(space: &TextSpace, a: &str, b: &str) -> f32 {
        let (a, b) = (space.embed(a).unwrap(), space.embed(b).unwrap());
        1.0 - a.iter().zip(&b).map(|(a, b)| a.to_f32() * b.to_f32()).sum::<f32>()
    }

    #[test]
    fn related_words_are_nearer_than_others() {
        let space = TextSpace::train(HARBOUR).unwrap();
        let to = |caption| distance(&space, "boat", caption);
        assert!(to(HARBOUR[0]) < 0.4, "its own word: {}", to(HARBOUR[0]));
        for ship in [HARBOUR[1], HARBOUR[3], HARBOUR[5]] {
            assert!((0.3..0.6).contains(&to(ship)), "{ship}: {}", to(ship));
        }
        for street in &HARBOUR[6..] {
            assert!(to(street) > 0.6, "{street}: {}", to(street));
        }
    }

    #[test]
    fn captions_of_the_sample_are_found_by_their_words() {
        let texts: Vec<String> = plan(300, 7)
            .iter()
            .map(|painting| format!("{}\n{}", painting.caption, painting.labels.join("\n")))
            .collect();
        let space = TextSpace::train(&texts).unwrap();
        for query in ["sailing boats", "a planet", "lighthouse", "camel", "snowman", "tulips"] {
            let words = stems(query);
            let says = |text: &String| words.iter().all(|word| stems(text).contains(word));
            let (with, without): (Vec<_>, Vec<_>) = texts.iter().partition(|text| says(text));
            let far = |text: &&String| distance(&space, query, text);
            let strong = with.iter().filter(|text| far(text) < 0.45).count();
            assert!(strong * 10 >= with.len() * 9, "{query}: {strong} of {}", with.len());
            let loose = without.iter().filter(|text| far(text) > 0.6).count();
            assert!(loose * 10 >= without.len() * 8, "{query}: {loose} of {}", without.len());
        }
    }

    #[test]
    fn only_texts_with_known_words_have_a_place() {
        let space = TextSpace::train(HARBOUR).unwrap();
        assert_eq!(space.embed("submarine"), None);
        assert_eq!(space.embed("in the"), None);
        assert_eq!(space.embed("submarine boats"), space.embed("boat"));
        assert_eq!(TextSpace::train([""; 3]), None);
        assert_eq!(TextSpace::train::<&str>([]), None);
        assert!(TextSpace::train(["one"]).unwrap().embed("one").is_some());
    }

    #[test]
    fn a_stored_space_is_the_same_or_refused() {
        let space = TextSpace::train(HARBOUR).unwrap();
        let bytes = space.to_bytes();
        assert_eq!(TextSpace::from_bytes(&bytes).unwrap(), space);
        assert_eq!(TextSpace::train(HARBOUR).unwrap().fingerprint(), space.fingerprint());
        assert_ne!(TextSpace::train(&HARBOUR[1..]).unwrap().fingerprint(), space.fingerprint());
        for place in (0..bytes.len()).step_by(37) {
            let mut damaged = bytes.clone();
            damaged[place] ^= 4;
            assert_eq!(TextSpace::from_bytes(&damaged), None);
            assert_eq!(TextSpace::from_bytes(&bytes[..place]), None);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn every_place_is_a_unit_vector(texts in prop::collection::vec("[a-f ]{0,20}", 1..20)) {
            if let Some(space) = TextSpace::train(&texts) {
                prop_assert!(space.dimension() <= 256);
                for vector in texts.iter().filter_map(|text| space.embed(text)) {
                    prop_assert_eq!(vector.len(), space.dimension());
                    let squares = vector.iter().map(|value| value.to_f32().powi(2));
                    prop_assert!((squares.sum::<f32>() - 1.0).abs() < 0.005);
                }
            }
        }
    }
}

//! Scores how well captions match a query (BM25), in the same way as the full-text index of `SQLite`.

const TERM_SATURATION: f64 = 1.2;
const LENGTH_WEIGHT: f64 = 0.75;
/// The weight of a phrase that is in more than half of all captions.
const MIN_PHRASE_WEIGHT: f64 = 1e-6;

/// The number of captions that are searched, and the number of their words.
#[derive(Clone, Copy, Debug)]
pub struct CaptionTotals {
    pub captions: u64,
    /// The number of words in all captions.
    pub words: u64,
}

/// The part of a score that one phrase contributes. Higher is better.
#[derive(Clone, Copy, Debug)]
pub struct PhraseScore {
    /// Inverse document frequency.
    weight: f64,
    mean_length: f64,
}

impl PhraseScore {
    /// Creates the score of a phrase that occurs in `containing` captions.
    #[expect(clippy::cast_precision_loss, reason = "as SQLite computes it")]
    pub fn new(totals: CaptionTotals, containing: u64) -> Self {
        let (captions, containing) = (totals.captions as f64, containing as f64);
        let weight = ((captions - containing + 0.5) / (containing + 0.5)).ln();
        Self {
            weight: if weight <= 0.0 { MIN_PHRASE_WEIGHT } else { weight },
            mean_length: totals.words as f64 / totals.captions.max(1) as f64,
        }
    }

    /// Returns the score of a caption of `length` words that contains the phrase `count` times.
    pub fn of(self, count: u32, length: u32) -> f64 {
        let (count, length) = (f64::from(count), f64::from(length));
        let norm = 1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * length / self.mean_length;
        self.weight * (count * (TERM_SATURATION + 1.0) / (count + TERM_SATURATION * norm))
    }
}

//! Reproducible random numbers, words and captions.

/// The number of words in the captions. The frequency of the words decreases quadratically.
pub const WORDS: usize = 3_000;
const WORDS_PER_CAPTION: usize = 12;

pub struct Random(pub u64);

impl Random {
    /// Returns a number from 0.0 to 1.0, exclusive.
    pub fn number(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        f32::from(u16::try_from(self.0 >> 48).unwrap()) / 65_536.0
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (f64::from(self.number()) * bound as f64) as usize
    }

    pub fn byte(&mut self) -> u8 {
        self.number();
        (self.0 >> 56) as u8
    }

    pub fn caption(&mut self) -> String {
        let words: Vec<String> = (0..WORDS_PER_CAPTION)
            .map(|_| {
                let number = self.number();
                word((f64::from(number * number) * WORDS as f64) as usize)
            })
            .collect();
        words.join(" ")
    }
}

pub fn word(number: usize) -> String {
    let syllables = ["ba", "co", "di", "fu", "ga", "he", "jo", "ki", "lu", "me", "no", "pa", "ri"];
    let n = syllables.len();
    [number % n, number / n % n, number / n / n % n].map(|part| syllables[part]).concat()
}

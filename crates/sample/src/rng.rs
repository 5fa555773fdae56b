//! A generator that is small, fast, and the same on every machine.
//!
//! Decoration draws from a `fork`, so a dry run that skips it leaves the scene's sequence as it is.

use tessera_model::pseudorandom::{SPLITMIX64_INCREMENT, mix64, splitmix64};

#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The sequence number `index` of `seed`, unrelated to the others.
    pub fn stream(seed: u64, index: u64) -> Self {
        Self(mix64(mix64(seed) ^ index.wrapping_mul(0xD6E8_FEB8_6659_FD93)))
    }

    /// A new sequence, at the cost of one draw.
    pub fn fork(&mut self) -> Self {
        Self(self.next())
    }

    pub fn next(&mut self) -> u64 {
        let number = splitmix64(self.0);
        self.0 = self.0.wrapping_add(SPLITMIX64_INCREMENT);
        number
    }

    /// From 0 inclusive to 1 exclusive.
    pub fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u32 << 24) as f32
    }

    pub fn range(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    pub fn jitter(&mut self, reach: f32) -> f32 {
        self.range(-reach, reach)
    }

    /// An integer from `low` to `high`, both included.
    pub fn int(&mut self, low: usize, high: usize) -> usize {
        low + (self.next() % (high - low + 1) as u64) as usize
    }

    pub fn chance(&mut self, probability: f32) -> bool {
        self.unit() < probability
    }

    /// One of the choices; there must be at least one.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.int(0, choices.len() - 1)]
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.int(0, last));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_one_sequence_within_its_bounds() {
        let (mut a, mut b) = (Rng::new(7), Rng::new(7));
        for _ in 0..1000 {
            assert_eq!(a.next(), b.next());
            assert!((2..=5).contains(&a.int(2, 5)));
            assert!((-1.0..3.0).contains(&b.range(-1.0, 3.0)));
        }
        assert_ne!(Rng::stream(1, 2).next(), Rng::stream(2, 1).next());
    }
}

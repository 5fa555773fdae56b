//! Chance with a memory: a splitmix64 sequence, so that one seed always paints one picture.
//!
//! Decoration draws from a `fork`, which leaves the sequence of the scene itself alone: a plan
//! that skips the decoration still knows every fact.

/// A sequence of chances fixed by its seed.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The sequence of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The sequence of `seed` and `index`: neighbours have nothing in common.
    pub fn of(seed: u64, index: u64) -> Self {
        Self(mix(mix(seed) ^ index.wrapping_mul(0xD6E8_FEB8_6659_FD93)))
    }

    /// A sequence of its own, at the cost of one draw.
    pub fn fork(&mut self) -> Self {
        Self(self.next())
    }

    /// Any 64 bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// From 0 inclusive to 1 exclusive.
    pub fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u32 << 24) as f32
    }

    /// Evenly from `low` to `high`.
    pub fn range(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    /// Evenly from `-reach` to `reach`.
    pub fn sway(&mut self, reach: f32) -> f32 {
        self.range(-reach, reach)
    }

    /// A whole number from `low` to `high`, both included.
    pub fn count(&mut self, low: usize, high: usize) -> usize {
        low + (self.next() % (high - low + 1) as u64) as usize
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f32) -> bool {
        self.unit() < probability
    }

    /// One of the choices; there must be at least one.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.count(0, choices.len() - 1)]
    }

    /// Brings the items into any order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.count(0, last));
        }
    }
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_is_one_sequence_within_its_bounds() {
        let (mut a, mut b) = (Dice::new(7), Dice::new(7));
        for _ in 0..1000 {
            assert_eq!(a.next(), b.next());
            assert!((2..=5).contains(&a.count(2, 5)));
            assert!((-1.0..3.0).contains(&b.range(-1.0, 3.0)));
        }
        assert_ne!(Dice::of(1, 2).next(), Dice::of(2, 1).next());
    }
}

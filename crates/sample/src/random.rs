//! Random numbers and noise. Both are small and fast, and give the same results on every machine.

use tessera_model::pseudorandom::{SPLITMIX64_INCREMENT, mix64, splitmix64};

/// A generator of random numbers. Decoration draws from a `fork`, so that a dry run, which skips decoration, does not
/// change the sequence of the scene.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the sequence number `index` of `seed`, which is unrelated to the other sequences.
    pub fn stream(seed: u64, index: u64) -> Self {
        Self(mix64(mix64(seed) ^ index.wrapping_mul(0xD6E8_FEB8_6659_FD93)))
    }

    /// Returns a new sequence. This costs one draw.
    pub fn fork(&mut self) -> Self {
        Self(self.next())
    }

    pub fn next(&mut self) -> u64 {
        let number = splitmix64(self.0);
        self.0 = self.0.wrapping_add(SPLITMIX64_INCREMENT);
        number
    }

    /// Returns a number from 0 inclusive to 1 exclusive.
    pub fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u32 << 24) as f32
    }

    pub fn range(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    pub fn jitter(&mut self, reach: f32) -> f32 {
        self.range(-reach, reach)
    }

    /// Returns an integer from `low` to `high`, both included.
    pub fn int(&mut self, low: usize, high: usize) -> usize {
        low + (self.next() % (high - low + 1) as u64) as usize
    }

    pub fn chance(&mut self, probability: f32) -> bool {
        self.unit() < probability
    }

    /// Returns one of the choices. There must be at least one.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.int(0, choices.len() - 1)]
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.int(0, last));
        }
    }
}

/// Value noise on a hashed lattice, without tables: smooth values between 0 and 1, with about one bump per unit of
/// length.
#[derive(Clone, Copy, Debug)]
pub struct Noise(u32);

impl Noise {
    pub fn new(seed: u64) -> Self {
        Self((seed ^ (seed >> 32)) as u32)
    }

    pub fn at(self, x: f32, y: f32) -> f32 {
        let ((column, u), (row, v)) = (cell(x), cell(y));
        let upper = blend(self.corner(column, row), self.corner(column + 1, row), u);
        let lower = blend(self.corner(column, row + 1), self.corner(column + 1, row + 1), u);
        blend(upper, lower, v)
    }

    pub fn at_1d(self, x: f32) -> f32 {
        let (column, u) = cell(x);
        blend(self.corner(column, 0), self.corner(column + 1, 0), u)
    }

    /// Returns fractal Brownian motion: the sum of several octaves, scaled to 0-1, mostly near 0.5.
    pub fn fbm(self, x: f32, y: f32, octaves: u32) -> f32 {
        octave_sum(octaves, |scale, shift| self.at(x * scale + shift, y * scale - shift))
    }

    pub fn fbm_1d(self, x: f32, octaves: u32) -> f32 {
        octave_sum(octaves, |scale, shift| self.at_1d(x * scale + shift))
    }

    /// Returns ridged octaves, which have sharp crests.
    pub fn ridged_1d(self, x: f32, octaves: u32) -> f32 {
        octave_sum(octaves, |scale, shift| {
            let fold = 1.0 - (2.0 * self.at_1d(x * scale + shift) - 1.0).abs();
            fold * fold
        })
    }

    fn corner(self, column: i32, row: i32) -> f32 {
        let mut h = (column as u32).wrapping_mul(0x8DA6_B343)
            ^ (row as u32).wrapping_mul(0xD816_3841)
            ^ self.0;
        h = (h ^ (h >> 15)).wrapping_mul(0x2C1B_3C6D);
        h = (h ^ (h >> 12)).wrapping_mul(0x297A_2D39);
        ((h ^ (h >> 15)) >> 8) as f32 / (1u32 << 24) as f32
    }
}

fn octave_sum(octaves: u32, mut sample: impl FnMut(f32, f32) -> f32) -> f32 {
    let (mut sum, mut weight, mut total, mut scale) = (0.0, 1.0, 0.0, 1.0);
    for octave in 0..octaves {
        sum += weight * sample(scale, octave as f32 * 17.3);
        total += weight;
        weight *= 0.5;
        scale *= 2.03;
    }
    sum / total
}

/// Returns the cell of a coordinate and the eased position in it. The casts are faster than `floor`.
fn cell(x: f32) -> (i32, f32) {
    let toward_zero = x as i32;
    let below = toward_zero - i32::from(x < toward_zero as f32);
    (below, ease(x - below as f32))
}

fn ease(t: f32) -> f32 {
    t * t * t * (t * (t * 6.0 - 15.0) + 10.0)
}

fn blend(a: f32, b: f32, t: f32) -> f32 {
    a + (b - a) * t
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

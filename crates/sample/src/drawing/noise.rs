//! Value noise on a hashed lattice: cheap, without tables, the same on every machine.

/// Smooth noise between 0 and 1, with about one bump per unit of length.
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

    /// Fractal Brownian motion: the sum of several octaves, scaled to 0-1, mostly near 0.5.
    pub fn fbm(self, x: f32, y: f32, octaves: u32) -> f32 {
        octave_sum(octaves, |scale, shift| self.at(x * scale + shift, y * scale - shift))
    }

    pub fn fbm_1d(self, x: f32, octaves: u32) -> f32 {
        octave_sum(octaves, |scale, shift| self.at_1d(x * scale + shift))
    }

    /// Ridged octaves: sharp crests.
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

/// The cell of a coordinate and the eased position in it. Casts are faster than `floor`.
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

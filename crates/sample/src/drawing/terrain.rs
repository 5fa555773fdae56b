//! Terrain: hills, dunes and cliffs below a line across the canvas.

use super::{Canvas, Noise, Rgb, smoothstep};

pub struct Terrain {
    /// From a fraction of the width to a fraction of the height.
    line: Box<dyn Fn(f32) -> f32>,
    /// The line in pixels for every column; empty on a dry run.
    columns: Vec<f32>,
    height: f32,
}

impl Terrain {
    pub fn new(c: &Canvas, line: impl Fn(f32) -> f32 + 'static) -> Self {
        let count = if c.is_dry_run() { 0 } else { c.w as usize };
        let columns = (0..count).map(|x| line(x as f32 / c.w) * c.h).collect();
        Self { line: Box::new(line), columns, height: c.h }
    }

    /// Smooth hills: `base` and `height` are fractions of the canvas.
    pub fn rolling_hills(c: &Canvas, seed: u64, base: f32, height: f32, scale: f32) -> Self {
        let noise = Noise::new(seed);
        let aspect = c.w / c.unit();
        Self::new(c, move |x| base - height * noise.fbm_1d(x * scale * aspect + 3.0, 2))
    }

    /// The row of the line in pixels at a fraction of the width.
    pub fn y_at(&self, across: f32) -> f32 {
        (self.line)(across) * self.height
    }

    /// Fills the terrain with a gradient: `top` at the line, `base` from `depth` pixels below it.
    pub fn fill_gradient(&self, c: &mut Canvas, top: Rgb, base: Rgb, depth: f32) {
        self.fill_with(c, |_, _, below| top.mix(base, smoothstep(0.0, depth, below)));
    }

    /// Fills the terrain by a function of the pixel and its distance below the line.
    pub fn fill_with(&self, c: &mut Canvas, color: impl Fn(f32, f32, f32) -> Rgb) {
        if c.is_dry_run() {
            return;
        }
        let top = self.columns.iter().copied().fold(f32::MAX, f32::min);
        c.map_pixels((0.0, c.w), (top - 1.0, c.h), |x, y, now| {
            let below = y + 1.0 - self.columns[x as usize];
            if below <= 0.0 {
                return now;
            }
            now.mix(color(x, y, below), below.min(1.0))
        });
    }
}
